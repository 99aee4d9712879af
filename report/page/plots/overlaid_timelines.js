/** Two timelines over each other: each schedule over the whole width, or a part of both. */

import {fitted} from '../elements/dom.js';
import {humanBytes, numberText} from '../elements/format.js';
import {GUTTER, drawByteAxis} from './axis.js';
import {columnSteps, drawCurve, largestStep} from './timeline.js';

/** @typedef {{curve: Float64Array, reserved: number}} Side */
/** @typedef {{from: number, to: number}} Shares of the schedules, 0 to 1 */

const TOP = 16;
const BOTTOM = 20;

export const SIDE_COLOURS = /** @type {const} */ (['#56B4E9', '#D55E00']);

/**
 * Return the step that a share of a schedule stands for.
 * @param {Side} side
 * @param {number} share
 * @returns {number}
 */
export function stepOfShare(side, share) {
  return Math.max(0, Math.min(side.curve.length - 1, Math.floor(share * side.curve.length)));
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{sides: [Side, Side], view: Shares, hovered: number | null}} picture
 * @param {import('./axis.js').Ink} ink
 * @param {(context: CanvasRenderingContext2D, top: number, bottom: number) => void} drawOver
 */
export function drawOverlaidTimelines(canvas, picture, ink, drawOver) {
  const {view, hovered} = picture;
  const {context, width, height} = fitted(canvas);
  const [right, bottom] = [width, height - BOTTOM];
  const columns = Math.max(1, Math.floor(right - GUTTER));
  const sides = picture.sides.map((side, index) => ({
    ...side,
    colour: SIDE_COLOURS[index],
    steps: columnSteps(side.curve, view.from * side.curve.length, view.to * side.curve.length, columns),
    peak: largestStep(side.curve, stepOfShare(side, view.from), stepOfShare(side, view.to - 1e-9)),
  }));
  const x = (/** @type {number} */ share) => GUTTER + ((share - view.from) / (view.to - view.from)) * columns;
  const highest = Math.max(...sides.map((side) => Math.max(side.reserved, side.curve[side.peak] ?? 0)));
  const high = Math.max(1, highest * 1.08);
  const y = (/** @type {number} */ bytes) => bottom - (bytes / high) * (bottom - TOP);
  context.fillStyle = ink.plot;
  context.fillRect(GUTTER, TOP - 8, right - GUTTER, bottom - TOP + 8);
  drawByteAxis(context, ink, {low: 0, high, top: TOP - 8, bottom, right});
  for (const side of sides) {
    drawArea(context, side.steps, side.curve, y, side.colour);
    drawCurve(context, side.steps, side.curve, y, side.colour, []);
  }
  context.font = '11px system-ui, sans-serif';
  for (const [index, side] of sides.entries()) {
    const line = Math.round(y(side.reserved)) + 0.5;
    context.strokeStyle = side.colour;
    context.lineWidth = 1.5;
    context.setLineDash([7, 4]);
    context.beginPath();
    context.moveTo(GUTTER, line);
    context.lineTo(right, line);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = ink.text;
    context.textAlign = index ? 'right' : 'left';
    context.textBaseline = 'middle';
    context.fillText(`${index ? 'after' : 'before'}: reserved ${humanBytes(side.reserved)}`, index ? right - 6 : GUTTER + 6, line - 8);
    const at = x((side.peak + 0.5) / side.curve.length);
    const top = y(side.curve[side.peak] ?? 0);
    context.fillStyle = side.colour;
    context.beginPath();
    context.arc(at, top, 4, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = ink.plot;
    context.stroke();
    context.fillStyle = ink.text;
    context.textBaseline = 'top';
    // beside its dot: that of the one before on the left, of the other on the right
    const text = `peak ${humanBytes(side.curve[side.peak])} at step ${numberText(side.peak)}`;
    const room = context.measureText(text).width + 12;
    const isLeft = index ? at + room > right : at - room > GUTTER;
    context.textAlign = isLeft ? 'right' : 'left';
    const left = at + (isLeft ? -9 : 9);
    context.strokeStyle = ink.plot;
    context.lineWidth = 4;
    context.strokeText(text, left, top + 4);
    context.fillText(text, left, top + 4);
  }
  if (hovered !== null) {
    context.fillStyle = ink.text;
    context.fillRect(Math.round(x(hovered)), TOP - 8, 1, bottom - TOP + 8);
  }
  drawOver(context, TOP - 8, bottom);
  context.textBaseline = 'top';
  context.fillStyle = ink.faint;
  const ends = (/** @type {number} */ share) => sides.map((side) => numberText(stepOfShare(side, share))).join(' and ');
  context.textAlign = 'left';
  context.fillText(view.from ? `steps ${ends(view.from)}` : 'first step', GUTTER, bottom + 5);
  context.textAlign = 'right';
  context.fillText(`${view.to < 1 ? 'steps' : 'last step:'} ${ends(view.to - 1e-9)}`, right - 2, bottom + 5);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Int32Array} steps
 * @param {Float64Array} curve
 * @param {(bytes: number) => number} y
 * @param {string} colour
 */
function drawArea(context, steps, curve, y, colour) {
  context.beginPath();
  context.moveTo(GUTTER, y(0));
  for (let column = 0; column < steps.length; column += 1) {
    context.lineTo(GUTTER + column, y(curve[steps[column]]));
    context.lineTo(GUTTER + column + 1, y(curve[steps[column]]));
  }
  context.lineTo(GUTTER + steps.length, y(0));
  context.globalAlpha = 0.2;
  context.fillStyle = colour;
  context.fill();
  context.globalAlpha = 1;
}
