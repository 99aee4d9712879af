/** Axis ticks, and the colours of the style sheet for canvases. */

import {element} from '../elements/dom.js';
import {humanBytes, numberText} from '../elements/format.js';
import {shownTheme} from '../theme.js';
import {hexOf} from './colours.js';

/** Width of the space left of every plot, in CSS pixels: the plots share one step axis. */
export const GUTTER = 76;

const FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';

/**
 * @typedef {object} Ink
 * @property {string} text
 * @property {string} faint
 * @property {string} line
 * @property {string} plot
 * @property {string} idle
 * @property {string} accent
 * @property {string} before
 * @property {string} after
 * @property {'light' | 'dark'} theme
 */

const INKS = /** @type {const} */ (['text', 'faint', 'line', 'plot', 'idle', 'accent', 'before', 'after']);

/** @returns {Ink} the colours of the theme, or those of a forced colour scheme */
export function readInk() {
  const probes = INKS.map((name) => {
    const probe = element('span');
    probe.style.color = `var(--${name})`;
    return probe;
  });
  const parent = element('span.offscreen', null, probes);
  parent.style.setProperty('forced-color-adjust', 'none');
  document.body.append(parent);
  const colours = probes.map((probe) => hexOf(getComputedStyle(probe).color));
  parent.remove();
  const ink = /** @type {Record<typeof INKS[number], string>} */ (Object.fromEntries(INKS.map((name, index) => [name, colours[index]])));
  return {...ink, theme: shownTheme()};
}

/**
 * Return round numbers between two bounds.
 * @param {number} low
 * @param {number} high
 * @param {number} most maximum number of ticks
 * @param {number} least smallest distance
 * @returns {number[]}
 */
export function ticks(low, high, most, least = 0) {
  const rough = Math.max((high - low) / Math.max(1, most), least, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(rough));
  const distance = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough;
  const found = [];
  for (let multiple = Math.ceil(low / distance); multiple * distance <= high; multiple += 1) {
    found.push(multiple * distance);
  }
  return found;
}

/**
 * Return round byte counts between two bounds: whole and half units, as they are written.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 * @returns {number[]}
 */
export function byteTicks(low, high, most) {
  const power = Math.max(0, Math.floor(Math.log2(Math.max(1, high - low)) / 10));
  const unit = 1024 ** power;
  return ticks(low / unit, high / unit, most, power ? 0.5 : 1).map((tick) => tick * unit);
}

/**
 * Draw byte ticks into the gutter, and faint lines across the plot.
 * @param {CanvasRenderingContext2D} context
 * @param {Ink} ink
 * @param {{low: number, high: number, top: number, bottom: number, right: number}} plot
 */
export function drawByteAxis(context, ink, {low, high, top, bottom, right}) {
  context.font = FONT;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const tick of byteTicks(low, high, Math.max(2, Math.floor((bottom - top) / 34)))) {
    const y = Math.round(bottom - ((tick - low) / (high - low)) * (bottom - top)) + 0.5;
    context.strokeStyle = ink.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(GUTTER, y);
    context.lineTo(right, y);
    context.stroke();
    context.fillStyle = ink.faint;
    const inside = Math.min(bottom - 5, Math.max(top + 5, y));
    context.fillText(tick === 0 ? '0' : humanBytes(tick).replace('.0 ', ' '), GUTTER - 8, inside);
  }
}

/**
 * Draw step ticks below the plot.
 * @param {CanvasRenderingContext2D} context
 * @param {Ink} ink
 * @param {{from: number, to: number, bottom: number, right: number}} plot
 */
export function drawStepAxis(context, ink, {from, to, bottom, right}) {
  context.font = FONT;
  context.textBaseline = 'top';
  context.fillStyle = ink.faint;
  context.strokeStyle = ink.line;
  const width = right - GUTTER;
  const found = ticks(from, to, Math.max(2, Math.floor(width / 90)), 1);
  for (const tick of found) {
    const x = GUTTER + ((tick + 0.5 - from) / (to - from)) * width;
    if (x > right) continue;
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, bottom);
    context.lineTo(Math.round(x) + 0.5, bottom + 4);
    context.stroke();
    context.textAlign = x > right - 30 ? 'right' : 'center';
    context.fillText(tick === found[0] ? `step ${numberText(tick)}` : numberText(tick), x, bottom + 6);
  }
}

/**
 * Return a text that fits a width: whole, or its beginning and an ellipsis; empty if neither fits.
 * @param {{measureText: (text: string) => {width: number}}} context with its font set
 * @param {string} text
 * @param {number} width in pixels
 */
export function fittingText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let [fits, exceeds] = [0, text.length];
  while (exceeds - fits > 1) {
    const middle = (fits + exceeds) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) fits = middle;
    else exceeds = middle;
  }
  return fits ? `${text.slice(0, fits)}…` : '';
}
