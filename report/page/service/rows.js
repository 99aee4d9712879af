/** Rows of an answer as a table, and as lines where they go along steps. */

import {element, svg} from '../elements/dom.js';
import {humanBytes, numberText} from '../elements/format.js';
import {Grid} from '../elements/grid.js';

/** @typedef {import('./api.js').Row} Row */
/** @typedef {import('./api.js').Answer} Answer */

const WIDTH = 1000;
const HEIGHT = 220;
const MOST_NAMES = 10;
const COLORS = ['var(--grew)', 'var(--shrank)', 'var(--accent)', 'var(--faint)'];

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
 * Make a table of rows under their notes.
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
 * Draw the byte columns of rows along their first column.
 * @param {string} label
 * @param {Row[]} rows
 * @returns {Element | null}
 */
export function seriesPlot(label, rows) {
  if (rows.length < 2) return null;
  const [along, ...others] = Object.keys(rows[0]);
  const names = others.filter((name) => kindOf(name, rows) === 'bytes');
  const most = Math.max(...rows.flatMap((row) => names.map((name) => row[name] ?? 0)), 1);
  const isNumber = typeof rows[0][along] === 'number';
  const first = isNumber ? rows[0][along] : 0;
  const last = isNumber ? rows[rows.length - 1][along] : rows.length - 1;
  const x = (/** @type {number} */ index) => (((isNumber ? rows[index][along] : index) - first) / Math.max(1, last - first)) * WIDTH;
  const lines = names.map((name, index) =>
    svg('path', {d: pathOf(rows, name, x, most), fill: 'none', style: null, 'data-color': index, 'vector-effect': 'non-scaling-stroke'}),
  );
  for (const [index, line] of lines.entries()) line.style.stroke = COLORS[index % COLORS.length];
  const plot = svg('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${label}: at most ${humanBytes(most)}`}, lines);
  const legend = names.map((name, index) => {
    const mark = element('span.mark');
    mark.style.background = COLORS[index % COLORS.length];
    return element('span.key', null, mark, name);
  });
  const marks = isNumber ? [`${along} ${numberText(first)}`, numberText(last)] : namesAlong(rows, along);
  return element(
    'figure.series',
    null,
    element('figcaption', null, legend, element('span.faint', null, `up to ${humanBytes(most)}`)),
    plot,
    element('div.ends.faint', null, marks.map((mark) => element('span', null, mark))),
  );
}

/**
 * Return the texts of a column as far as there is room for them: all, or the first and the last.
 * @param {Row[]} rows
 * @param {string} along
 * @returns {string[]}
 */
function namesAlong(rows, along) {
  const names = rows.map((row) => String(row[along]));
  return names.length <= MOST_NAMES ? names : [names[0], names[names.length - 1]];
}

/**
 * Return the path of a column; of rows that share a pixel, the largest counts.
 * @param {Row[]} rows
 * @param {string} name
 * @param {(index: number) => number} x
 * @param {number} most
 * @returns {string}
 */
function pathOf(rows, name, x, most) {
  /** @type {Map<number, number>} */
  const largest = new Map();
  for (const [index, row] of rows.entries()) {
    const cell = row[name];
    if (typeof cell !== 'number') continue;
    const pixel = Math.round(x(index));
    largest.set(pixel, Math.max(largest.get(pixel) ?? 0, cell));
  }
  const points = [...largest].map(([pixel, size]) => `${pixel} ${(HEIGHT - (size / most) * HEIGHT).toFixed(1)}`);
  return points.length ? `M${points.join('L')}` : '';
}
