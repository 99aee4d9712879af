/** Two timelines on one scale of bytes, each schedule stretched to the width of the plot. */

import {fitted} from '../elements/dom.js';
import {humanBytes, numberText} from '../elements/format.js';
import {GUTTER, drawByteAxis} from './axis.js';
import {columnSteps, drawCurve, largestStep} from './timeline.js';

/** @typedef {{curve: Float64Array, reserved: number}} Side */
/** @typedef {{from: number, to: number}} Shares of the schedules, 0 to 1 */

/**
 * A side with the step of each column of pixels, and the step of its peak in view.
 * @typedef {Side & {isAfter: boolean, colour: string, steps: Int32Array, peak: number}} DrawnSide
 */

/**
 * The scales of the plot and its ends.
 * @typedef {{context: CanvasRenderingContext2D, ink: import('./axis.js').Ink, right: number,
 *   bottom: number, x: (share: number) => number, y: (bytes: number) => number}} OverlaidPlot
 */

const TOP = 16;
const BOTTOM = 20;

/**
 * Return the step at a share of a schedule.
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
  const sides = picture.sides.map((side, index) => drawnSide(side, index === 1, view, columns, ink));
  const highest = Math.max(...sides.map((side) => Math.max(side.reserved, side.curve[side.peak] ?? 0)));
  const high = Math.max(1, highest * 1.08);
  const x = (/** @type {number} */ share) => GUTTER + ((share - view.from) / (view.to - view.from)) * columns;
  const y = (/** @type {number} */ bytes) => bottom - (bytes / high) * (bottom - TOP);
  const plot = {context, ink, right, bottom, x, y};
  context.fillStyle = ink.plot;
  context.fillRect(GUTTER, TOP - 8, right - GUTTER, bottom - TOP + 8);
  drawByteAxis(context, ink, {low: 0, high, top: TOP - 8, bottom, right});
  for (const {steps, curve, colour} of sides) {
    drawArea({context, steps, y}, curve, colour);
    drawCurve({context, steps, y}, curve, colour, []);
  }
  context.font = '11px system-ui, sans-serif';
  const [before, after] = sides;
  const isBeforeFirst = peakShare(before) <= peakShare(after);
  for (const side of sides) {
    drawReserved(plot, side, side === before ? after : before);
    drawPeak(plot, side, (side === before) === isBeforeFirst);
  }
  if (hovered !== null) {
    context.fillStyle = ink.text;
    context.fillRect(Math.round(x(hovered)), TOP - 8, 1, bottom - TOP + 8);
  }
  drawOver(context, TOP - 8, bottom);
  drawEnds(plot, sides, view);
}

/**
 * @param {Side} side
 * @param {boolean} isAfter
 * @param {Shares} view
 * @param {number} columns of pixels
 * @param {import('./axis.js').Ink} ink
 * @returns {DrawnSide}
 */
function drawnSide(side, isAfter, view, columns, ink) {
  const {curve} = side;
  return {
    ...side,
    isAfter,
    colour: isAfter ? ink.after : ink.before,
    steps: columnSteps(curve, view.from * curve.length, view.to * curve.length, columns),
    peak: largestStep(curve, stepOfShare(side, view.from), stepOfShare(side, view.to - 1e-9)),
  };
}

/**
 * @param {import('./timeline.js').Plot} plot
 * @param {Float64Array} curve
 * @param {string} colour
 */
function drawArea({context, steps, y}, curve, colour) {
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

/**
 * Return where the peak of a side is, as a share of its schedule.
 * @param {DrawnSide} side
 */
function peakShare({curve, peak}) {
  return (peak + 0.5) / curve.length;
}

/**
 * Draw the line of the reserved bytes of a side, with its label: on the left for "before". It is above the line, or
 * below if the line of the other side would cross it there.
 * @param {OverlaidPlot} plot
 * @param {DrawnSide} side
 * @param {DrawnSide} other
 */
function drawReserved({context, ink, right, y}, {reserved, colour, isAfter}, other) {
  const line = Math.round(y(reserved)) + 0.5;
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.setLineDash([7, 4]);
  context.beginPath();
  context.moveTo(GUTTER, line);
  context.lineTo(right, line);
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = ink.text;
  context.textAlign = isAfter ? 'right' : 'left';
  context.textBaseline = 'middle';
  const text = `${isAfter ? 'after' : 'before'}: reserved ${humanBytes(reserved)}`;
  const distance = line - y(other.reserved);
  const isCrossed = distance > 1 && distance < 16;
  context.fillText(text, isAfter ? right - 6 : GUTTER + 6, isCrossed ? line + 9 : line - 8);
}

/**
 * Draw the dot of a peak, with its label: on the left for the earlier peak, else on the right.
 * @param {OverlaidPlot} plot
 * @param {DrawnSide} side
 * @param {boolean} isFirst
 */
function drawPeak({context, ink, right, x, y}, side, isFirst) {
  const {curve, peak, colour} = side;
  const at = x(peakShare(side));
  const top = y(curve[peak] ?? 0);
  context.fillStyle = colour;
  context.beginPath();
  context.arc(at, top, 4, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = ink.plot;
  context.stroke();
  context.fillStyle = ink.text;
  context.textBaseline = 'top';
  const text = `peak ${humanBytes(curve[peak])} at step ${numberText(peak)}`;
  const {width} = context.measureText(text);
  const isLeft = isFirst ? at - width - 12 > GUTTER : at + width + 12 > right;
  context.textAlign = 'left';
  const left = Math.max(GUTTER + 4, Math.min(isLeft ? at - 9 - width : at + 9, right - width - 2));
  context.strokeStyle = ink.plot;
  context.lineWidth = 4;
  context.strokeText(text, left, top + 4);
  context.fillText(text, left, top + 4);
}

/**
 * Write the visible steps of both sides below the plot.
 * @param {OverlaidPlot} plot
 * @param {DrawnSide[]} sides
 * @param {Shares} view
 */
function drawEnds({context, ink, right, bottom}, sides, view) {
  const ends = (/** @type {number} */ share) => sides.map((side) => numberText(stepOfShare(side, share))).join(' and ');
  context.textBaseline = 'top';
  context.fillStyle = ink.faint;
  context.textAlign = 'left';
  context.fillText(view.from ? `steps ${ends(view.from)}` : 'first step', GUTTER, bottom + 5);
  context.textAlign = 'right';
  context.fillText(`${view.to < 1 ? 'steps' : 'last step:'} ${ends(view.to - 1e-9)}`, right - 2, bottom + 5);
}
