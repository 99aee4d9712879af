/** Show rows of an answer as a table, and as lines over steps or runs. */

import {element} from '../elements/dom.js';
import {Grid} from '../elements/grid.js';
import {seriesFigure} from '../plots/series.js';

/** @typedef {import('./api.js').Row} Row */
/** @typedef {import('./api.js').Answer} Answer */

/**
 * @param {string} name
 * @returns {boolean}
 */
function countsBytes(name) {
  return name.startsWith('bytes') || name.includes('Bytes');
}

/**
 * @param {string} name
 * @param {Row[]} rows
 * @returns {'bytes' | 'growth' | 'number' | 'text' | 'share'}
 */
function kindOf(name, rows) {
  const isNumber = rows.some((row) => typeof row[name] === 'number');
  if (!isNumber) return 'text';
  if (countsBytes(name)) return name.startsWith('growth') ? 'growth' : 'bytes';
  return /share$/i.test(name) ? 'share' : 'number';
}

/**
 * @param {any} cell
 * @returns {string | number | boolean | null}
 */
function shown(cell) {
  return cell !== null && typeof cell === 'object' ? JSON.stringify(cell) : cell;
}

/**
 * Make a table of rows below their notes.
 * @param {string} label
 * @param {Answer} answer
 * @param {{open?: (row: Row) => void, sortBy?: string, most?: number}} [options]
 * @returns {HTMLElement[]}
 */
export function answerTable(label, answer, options = {}) {
  const {rows, notes} = answer;
  const said = notes.map((note) => element('p.faint', null, note));
  if (!rows.length) return [...said, element('p', null, 'No rows.')];
  const {open} = options;
  const grid = new Grid({
    label,
    rows: rows.length,
    sortBy: options.sortBy,
    most: options.most ?? 24,
    open: open && ((row) => open(rows[row])),
    columns: Object.keys(rows[0]).map((name) => ({
      name,
      kind: kindOf(name, rows),
      cell: (/** @type {number} */ row) => shown(rows[row][name]),
    })),
  });
  return [...said, grid.node];
}

/**
 * Draw the byte columns of rows against their first column; null if there is no line to draw.
 * @param {string} label
 * @param {Row[]} rows
 * @returns {HTMLElement | null}
 */
export function seriesPlot(label, rows) {
  if (rows.length < 2) return null;
  const [along, ...others] = Object.keys(rows[0]);
  const names = others.filter((name) => kindOf(name, rows) === 'bytes');
  return names.length ? seriesFigure(label, rows, along, names) : null;
}
