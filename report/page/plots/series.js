/** Lines of bytes over steps or runs, with an axis of bytes. */

import {element, svg} from '../elements/dom.js';
import {humanBytes, numberText} from '../elements/format.js';
import {byteTicks} from './axis.js';

/** @typedef {Record<string, any>} Row */
/** A point of a line, as shares of the width (from the left) and height (from below) of the plot. */
/** @typedef {{x: number, y: number}} Point */
/** @typedef {{name: string, points: Point[]}} Line */

const WIDTH = 1000;
const HEIGHT = 220;
const TICKS = 5;
const ROOM_ABOVE = 1.06;
const MOST_NAMES = 10;
const MOST_DOTS = 60;
/** Colour of the style sheet and dash of each line; both identify the line. */
const STROKES = [
  {colour: 'var(--series-1)', dash: null},
  {colour: 'var(--series-2)', dash: '8 4'},
  {colour: 'var(--series-3)', dash: '2 4'},
  {colour: 'var(--series-4)', dash: '12 4 2 4'},
  {colour: 'var(--series-5)', dash: '5 3'},
];

/**
 * Return the lines of byte columns along another column, and the bytes at the top of the plot.
 *
 * Numbers are placed to scale; other cells have equal distances. If several rows have one place,
 * the largest is used. A row with an unknown cell has no point.
 * @param {Row[]} rows
 * @param {string} along
 * @param {string[]} names of the byte columns
 * @returns {{lines: Line[], top: number, most: number}}
 */
export function seriesLines(rows, along, names) {
  const most = rows.reduce((largest, row) => names.reduce((sum, name) => Math.max(sum, row[name] ?? 0), largest), 1);
  const top = most * ROOM_ABOVE;
  const isNumber = typeof rows[0]?.[along] === 'number';
  const places = rows.map((row, index) => (isNumber ? row[along] : index));
  const [first, last] = [places[0], places[places.length - 1]];
  const lines = names.map((name) => {
    /** @type {Map<number, number>} */
    const largest = new Map();
    for (const [index, row] of rows.entries()) {
      const bytes = row[name];
      if (typeof bytes !== 'number') continue;
      const x = Math.round(((places[index] - first) / Math.max(1, last - first)) * WIDTH) / WIDTH;
      largest.set(x, Math.max(largest.get(x) ?? 0, bytes));
    }
    return {name, points: Array.from(largest, ([x, bytes]) => ({x, y: bytes / top}))};
  });
  return {lines, top, most};
}

/**
 * Draw byte columns of rows along another column.
 * @param {string} label
 * @param {Row[]} rows at least two
 * @param {string} along
 * @param {string[]} names of the byte columns
 * @returns {HTMLElement}
 */
export function seriesFigure(label, rows, along, names) {
  const {lines, top, most} = seriesLines(rows, along, names);
  const ticks = byteTicks(0, top, TICKS);
  const picture = svg(
    'svg',
    {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${label}: at most ${humanBytes(most)}`},
    ticks.map((tick) => svg('path', {class: 'tick', d: `M0 ${height(tick / top)}H${WIDTH}`, 'vector-effect': 'non-scaling-stroke'})),
    lines.flatMap(({points}, index) => drawnLine(points, index)),
  );
  const axis = ticks.map((tick) => {
    const mark = element('span', null, tick === 0 ? '0' : humanBytes(tick).replace('.0 ', ' '));
    mark.style.bottom = `${(tick / top) * 100}%`;
    return mark;
  });
  return element(
    'figure.series',
    null,
    element('figcaption', null, names.map(key)),
    element('div.axis.faint', {'aria-hidden': true}, axis),
    picture,
    element('div.ends.faint', null, marksAlong(rows, along).map((mark) => element('span', null, mark))),
  );
}

/** @param {number} share of the height, from below */
function height(share) {
  return ((1 - share) * HEIGHT).toFixed(1);
}

/**
 * @param {Point[]} points
 * @param {number} index of the line
 */
function drawnLine(points, index) {
  const {colour, dash} = STROKES[index % STROKES.length];
  const places = points.map(({x, y}) => `${(x * WIDTH).toFixed(0)} ${height(y)}`);
  if (!places.length) return [];
  const line = svg('path', {d: `M${places.join('L')}`, fill: 'none', 'stroke-dasharray': dash, 'vector-effect': 'non-scaling-stroke'});
  line.style.stroke = colour;
  if (places.length > MOST_DOTS) return [line];
  // a line without length is drawn as a dot, for any size of the plot
  const dots = svg('path', {class: 'dots', d: places.map((place) => `M${place}h0`).join(''), 'vector-effect': 'non-scaling-stroke'});
  dots.style.stroke = colour;
  return [line, dots];
}

/**
 * @param {string} name
 * @param {number} index of the line
 */
function key(name, index) {
  const {colour, dash} = STROKES[index % STROKES.length];
  const line = svg('path', {d: 'M0 5H26', 'stroke-dasharray': dash});
  line.style.stroke = colour;
  return element('span.key', null, svg('svg', {viewBox: '0 0 26 10', 'aria-hidden': true}, line), name);
}

/**
 * Return the texts below the plot: all names if they fit, else the first and the last.
 * @param {Row[]} rows
 * @param {string} along
 * @returns {string[]}
 */
function marksAlong(rows, along) {
  const [first, last] = [rows[0][along], rows[rows.length - 1][along]];
  if (typeof first === 'number') return [`${along} ${numberText(first)}`, numberText(last)];
  return rows.length <= MOST_NAMES ? rows.map((row) => String(row[along])) : [String(first), String(last)];
}
