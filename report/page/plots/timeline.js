/** The timeline: bytes along the schedule, stacked by group, with the peak and the reserved bytes. */

import {GUTTER, drawByteAxis, drawStepAxis} from './axis.js';
import {Brush} from './brush.js';
import {fitted} from '../elements/dom.js';
import {humanBytes, numberText} from '../elements/format.js';

/** @typedef {import('./axis.js').Ink} Ink */
/** @typedef {{physical: Float64Array[], total: Float64Array, logical: Float64Array}} Curves */

/**
 * The scales of a plot: the step of each column of pixels, and the height of bytes.
 * @typedef {{context: CanvasRenderingContext2D, steps: Int32Array, y: (bytes: number) => number}} Plot
 */

const TOP = 16;
const BOTTOM = 20;
const FADED = 0.15;

/**
 * Return the first step with the largest number between two steps, both included.
 * @param {Float64Array} curve
 * @param {number} from
 * @param {number} to
 * @returns {number}
 */
export function largestStep(curve, from, to) {
  let largest = Math.max(0, from);
  for (let step = largest; step <= Math.min(to, curve.length - 1); step += 1) {
    if (curve[step] > curve[largest]) largest = step;
  }
  return largest;
}

/**
 * Return the step of each column of pixels: the one with the largest total, so that no peak is
 * lost if many steps share a column.
 * @param {Float64Array} total
 * @param {number} from
 * @param {number} to
 * @param {number} columns
 * @returns {Int32Array}
 */
export function columnSteps(total, from, to, columns) {
  const found = new Int32Array(columns);
  for (let column = 0; column < columns; column += 1) {
    const first = Math.floor(from + ((to - from) * column) / columns);
    const last = Math.ceil(from + ((to - from) * (column + 1)) / columns) - 1;
    found[column] = largestStep(total, first, Math.max(first, last));
  }
  return found;
}

export class Timeline {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{zoom: (from: number, to: number) => void, choose: (step: number) => void,
   *   hover: (step: number | null, x: number, y: number) => void, all: () => void,
   *   redraw: () => void}} actions
   */
  constructor(canvas, actions) {
    this.canvas = canvas;
    this.from = 0;
    this.to = 1;
    const position = (/** @type {number} */ share) => this.from + share * (this.to - this.from);
    const step = (/** @type {number} */ share) => Math.floor(Math.min(position(share), this.to - 1e-6));
    this.brush = new Brush(canvas, {
      zoom: (from, to) => actions.zoom(position(from), position(to)),
      choose: (share) => actions.choose(step(share)),
      hover: (share, x, y) => actions.hover(share === null ? null : step(share), x, y),
      all: actions.all,
      redraw: actions.redraw,
    });
  }

  /**
   * @param {{curves: Curves, colours: string[], shown: boolean[], reserved: number, other: Float64Array,
   *   from: number, to: number, peak: number, step: number | null, hovered: number | null,
   *   readers: number[]}} picture
   * @param {Ink} ink
   */
  draw(picture, ink) {
    const {curves, colours, shown, reserved, other, from, to} = picture;
    [this.from, this.to] = [from, to];
    const {context, width, height} = fitted(this.canvas);
    const [right, bottom] = [width, height - BOTTOM];
    const columns = Math.max(1, Math.floor(right - GUTTER));
    const steps = columnSteps(curves.total, from, to, columns);
    let highest = reserved;
    for (const step of steps) highest = Math.max(highest, curves.logical[step]);
    const otherSteps = columnSteps(other, from, to, other.length ? columns : 0);
    for (const step of otherSteps) highest = Math.max(highest, other[step]);
    const high = Math.max(1, highest * 1.04);
    const y = (/** @type {number} */ bytes) => bottom - (bytes / high) * (bottom - TOP);
    context.fillStyle = ink.plot;
    context.fillRect(GUTTER, TOP - 6, right - GUTTER, bottom - TOP + 6);
    drawByteAxis(context, ink, {low: 0, high, top: TOP - 6, bottom, right});
    const plot = {context, steps, y};
    const base = new Float64Array(columns);
    for (const [group, curve] of curves.physical.entries()) {
      context.globalAlpha = shown[group] ? 1 : FADED;
      drawBand(plot, base, curve, colours[group]);
    }
    context.globalAlpha = 1;
    drawCurve(plot, curves.logical, ink.text, [1.5, 2.5]);
    const otherPlot = {context, steps: otherSteps, y};
    drawCurve(otherPlot, other, ink.plot, [], 4); // so that it is visible on every colour
    drawCurve(otherPlot, other, ink.after, [], 2);
    drawStepAxis(context, ink, {from, to, bottom, right});
    const label = this.drawPeak(context, ink, picture, y, right, bottom);
    drawReserved(context, ink, reserved, y(reserved), right, label);
    if (picture.step !== null) this.drawCursor(context, picture.step, ink.accent, bottom, 2);
    if (picture.hovered !== null) this.drawCursor(context, picture.hovered, ink.text, bottom, 1);
    context.fillStyle = ink.accent;
    for (const step of picture.readers) context.fillRect(this.x(step) - 1, bottom - 5, 2, 9);
    this.brush.draw(context, ink.accent, TOP - 6, bottom);
  }

  /** @param {number} step */
  x(step) {
    const width = this.canvas.clientWidth - GUTTER;
    return GUTTER + ((step + 0.5 - this.from) / (this.to - this.from)) * width;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} step
   * @param {string} colour
   * @param {number} bottom
   * @param {number} thickness
   */
  drawCursor(context, step, colour, bottom, thickness) {
    if (step < this.from - 1 || step > this.to) return;
    context.strokeStyle = colour;
    context.lineWidth = thickness;
    context.beginPath();
    context.moveTo(Math.round(this.x(step)), TOP - 6);
    context.lineTo(Math.round(this.x(step)), bottom);
    context.stroke();
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Ink} ink
   * @param {{curves: Curves, peak: number, reserved: number}} picture
   * @param {(bytes: number) => number} y
   * @param {number} right
   * @param {number} bottom
   * @returns {[number, number]} the left and right ends of its label
   */
  drawPeak(context, ink, picture, y, right, bottom) {
    const {curves, peak} = picture;
    const x = this.x(peak);
    if (x < GUTTER || x > right) return [0, 0];
    const top = y(curves.total[peak] ?? 0);
    context.strokeStyle = ink.text;
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, top);
    context.lineTo(Math.round(x) + 0.5, bottom);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = ink.text;
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x - 5, top - 7);
    context.lineTo(x + 5, top - 7);
    context.fill();
    const text = `peak ${humanBytes(curves.total[peak])} at step ${numberText(peak)}`;
    context.font = '600 11px system-ui, sans-serif';
    const width = context.measureText(text).width;
    const left = x + 10 + width > right ? x - 10 - width : x + 10;
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    // above the line of reserved bytes, unless there is room below it
    const middle = top - y(picture.reserved) > 22 ? top - 3 : y(picture.reserved) - 8;
    context.strokeStyle = ink.plot;
    context.lineWidth = 4;
    context.lineJoin = 'round';
    context.strokeText(text, left, middle);
    context.fillStyle = ink.text;
    context.fillText(text, left, middle);
    return [left - 8, left + width + 8];
  }
}

/**
 * @param {Plot} plot
 * @param {Float64Array} base the bytes below; those of the band are added
 * @param {Float64Array} curve
 * @param {string} colour
 */
function drawBand({context, steps, y}, base, curve, colour) {
  if (!steps.some((step) => curve[step] > 0)) return;
  context.beginPath();
  context.moveTo(GUTTER, y(base[0]));
  for (let column = 0; column < steps.length; column += 1) {
    const top = y(base[column] + curve[steps[column]]);
    context.lineTo(GUTTER + column, top);
    context.lineTo(GUTTER + column + 1, top);
  }
  for (let column = steps.length - 1; column >= 0; column -= 1) {
    const bottom = y(base[column]);
    context.lineTo(GUTTER + column + 1, bottom);
    context.lineTo(GUTTER + column, bottom);
    base[column] += curve[steps[column]];
  }
  context.fillStyle = colour;
  context.fill();
}

/**
 * @param {Plot} plot
 * @param {Float64Array} curve
 * @param {string} colour
 * @param {number[]} dash
 * @param {number} thickness
 */
export function drawCurve({context, steps, y}, curve, colour, dash, thickness = 1.25) {
  context.strokeStyle = colour;
  context.lineWidth = thickness;
  context.setLineDash(dash);
  context.beginPath();
  for (let column = 0; column < steps.length; column += 1) {
    const top = y(curve[steps[column]]);
    context.lineTo(GUTTER + column, top);
    context.lineTo(GUTTER + column + 1, top);
  }
  context.stroke();
  context.setLineDash([]);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Ink} ink
 * @param {number} reserved
 * @param {number} y
 * @param {number} right
 * @param {[number, number]} taken left and right ends of the label of the peak
 */
function drawReserved(context, ink, reserved, y, right, taken) {
  context.strokeStyle = ink.text;
  context.lineWidth = 1.5;
  context.setLineDash([7, 4]);
  context.beginPath();
  context.moveTo(GUTTER, Math.round(y) + 0.5);
  context.lineTo(right, Math.round(y) + 0.5);
  context.stroke();
  context.setLineDash([]);
  context.font = '11px system-ui, sans-serif';
  const text = `reserved ${humanBytes(reserved)}`;
  const {width} = context.measureText(text);
  const start = [right - 4 - width, GUTTER + 6].find((left) => left > taken[1] || left + width < taken[0]);
  if (start === undefined) return;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillStyle = ink.text;
  context.fillText(text, start, y - 8);
}
