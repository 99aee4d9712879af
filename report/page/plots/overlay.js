/** Two timelines over each other, each schedule over the whole width. */

import {fitted} from '../elements/dom.js';
import {humanBytes, numberText} from '../elements/format.js';
import {GUTTER, drawByteAxis} from './axis.js';
import {columnSteps, drawCurve, largestStep} from './timeline.js';

/** @typedef {{curve: Float64Array, reserved: number}} Side */

const TOP = 16;
const BOTTOM = 20;

export const SIDE_COLOURS = /** @type {const} */ (['#56B4E9', '#D55E00']);

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Side} a
 * @param {Side} b
 * @param {import('./axis.js').Ink} ink
 */
export function drawOverlay(canvas, a, b, ink) {
  const {context, width, height} = fitted(canvas);
  const [right, bottom] = [width, height - BOTTOM];
  const columns = Math.max(1, Math.floor(right - GUTTER));
  const sides = [a, b].map((side, place) => ({
    ...side,
    colour: SIDE_COLOURS[place],
    steps: columnSteps(side.curve, 0, side.curve.length, columns),
    peak: largestStep(side.curve, 0, side.curve.length - 1),
  }));
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
  for (const [place, side] of sides.entries()) {
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
    context.textAlign = place ? 'right' : 'left';
    context.textBaseline = 'middle';
    context.fillText(`${place ? 'after' : 'before'}: reserved ${humanBytes(side.reserved)}`, place ? right - 6 : GUTTER + 6, line - 8);
    const x = GUTTER + ((side.peak + 0.5) / side.curve.length) * columns;
    const top = y(side.curve[side.peak] ?? 0);
    context.fillStyle = side.colour;
    context.beginPath();
    context.arc(x, top, 4, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = ink.plot;
    context.stroke();
    context.fillStyle = ink.text;
    context.textBaseline = 'top';
    context.textAlign = x > right - 200 ? 'right' : 'left';
    const text = `peak ${humanBytes(side.curve[side.peak])} at step ${numberText(side.peak)}`;
    const left = x + (x > right - 200 ? -9 : 9);
    context.strokeStyle = ink.plot;
    context.lineWidth = 4;
    context.strokeText(text, left, top + 4);
    context.fillText(text, left, top + 4);
  }
  context.textBaseline = 'top';
  context.fillStyle = ink.faint;
  context.textAlign = 'left';
  context.fillText('first step', GUTTER, bottom + 5);
  context.textAlign = 'right';
  context.fillText(`last step: ${sides.map((side) => numberText(side.curve.length - 1)).join(' and ')}`, right - 2, bottom + 5);
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
