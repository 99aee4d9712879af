/** List of the values with most bytes at a step; values of repeated layers share an entry. */

import {element} from '../elements/dom.js';
import {counted, humanBytes, shortened} from '../elements/format.js';
import {valueButton} from './value_details.js';

/** @typedef {import('../data/origins.js').Origins} Origins */
/** @typedef {import('./value_details.js').DetailsActions} DetailsActions */
/** @typedef {import('../data/compilation.js').Shares} Shares */

/** Values with one op, line, opcode and shape, the largest first, and the sum of their bytes. */
/** @typedef {{values: number[], bytes: number}} Entry */

const SHOWN = 14;

/**
 * Return the entries with most bytes, the largest first.
 *
 * Values of repeated layers share an entry if they have the same op, source line, opcode and shape.
 * Every other value has a separate entry. The bytes of an entry are the sum over its values.
 * @param {Origins} origins
 * @param {Shares} shares
 * @param {boolean} isFolded
 * @returns {Entry[]}
 */
export function largestEntries(origins, {values, bytes}, isFolded) {
  const keyOf = isFolded ? foldedKeys(origins) : () => null;
  /** @type {Map<string | number, Entry>} */
  const entries = new Map();
  for (const value of values) {
    const key = keyOf(value) ?? value;
    const entry = entries.get(key);
    if (entry) {
      entry.values.push(value);
      entry.bytes += bytes[value];
    } else entries.set(key, {values: [value], bytes: bytes[value]});
  }
  const largest = [...entries.values()].sort((a, b) => b.bytes - a.bytes || a.values[0] - b.values[0]).slice(0, SHOWN);
  for (const entry of largest) entry.values.sort((a, b) => bytes[b] - bytes[a] || a - b);
  return largest;
}

/**
 * Return a function that returns the entry key of a value; null if its op is in no repeated layer.
 * @param {Origins} origins
 * @returns {(value: number) => string | null}
 */
function foldedKeys(origins) {
  const {opcode, shape} = origins.compilation.values.columns;
  const {file, line} = origins;
  return (value) => {
    const scope = origins.foldedScope(value);
    // cells instead of texts: each change of the step makes thousands of keys
    return scope?.isRepeated ? `${scope.name}\n${file.cells[value]} ${line.cells[value]} ${opcode.cells[value]} ${shape.cells[value]}` : null;
  };
}

/**
 * Make the list of the values with most bytes at a step.
 * @param {Origins} origins
 * @param {{title: string, shares: Shares, isFolded: boolean, colourOf: (value: number) => string}} picture
 * @param {DetailsActions} actions
 * @returns {HTMLElement[]}
 */
export function largestValues(origins, {title, shares, isFolded, colourOf}, actions) {
  const entries = largestEntries(origins, shares, isFolded);
  const most = entries[0]?.bytes || 1;
  const items = entries.map(({values, bytes}) => {
    const bar = element('span.bar');
    bar.style.width = `${(bytes / most) * 100}%`;
    bar.style.background = colourOf(values[0]);
    return element(
      'li',
      null,
      values.length > 1 ? members(origins, {values, bytes}, shares.bytes, actions) : oneValue(origins, values[0], bytes, actions),
      bar,
      ...originLines(origins, values),
    );
  });
  return [
    element('h2', null, title),
    element('ul.largest', null, items),
    element(
      'p.faint',
      null,
      'Click a box of the map for its details. Drag in the timeline to zoom, in the map to move; the wheel zooms. Press ? for all keys.',
    ),
  ];
}

/**
 * Make the lines with the op, the source line and the shape of an entry.
 * @param {Origins} origins
 * @param {number[]} values
 * @returns {HTMLElement[]}
 */
function originLines(origins, values) {
  const [value] = values;
  const {opcode, shape} = origins.compilation.values.columns;
  const op = values.length > 1 ? origins.foldedScope(value)?.name : origins.op.text(value);
  const opText = op || `${opcode.text(value)}, unattributed`;
  const source = origins.sourceLine(value);
  return [
    element('span.faint', {title: opText}, shortened(opText, 46)),
    element('span.faint.line', {title: source || null}, [origins.userSourceLine(value) || 'no source line', shape.text(value)].join(' · ')),
  ];
}

/**
 * @param {Origins} origins
 * @param {number} value
 * @param {number} bytes
 * @param {DetailsActions} actions
 * @returns {HTMLElement}
 */
function oneValue({compilation}, value, bytes, actions) {
  return element('div.entry', null, valueButton(compilation, value, actions), element('span.figure', null, humanBytes(bytes)));
}

/**
 * Make the values of an entry: their count and bytes, and a list of all that unfolds.
 * @param {Origins} origins
 * @param {Entry} entry
 * @param {Float64Array} bytesOf by value
 * @param {DetailsActions} actions
 * @returns {HTMLElement}
 */
function members(origins, {values, bytes}, bytesOf, actions) {
  const label = origins.compilation.values.column('label').text(values[0]);
  const list = element('ul');
  const fill = () => {
    if (!list.childElementCount) list.append(...values.map((value) => element('li', null, oneValue(origins, value, bytesOf[value], actions))));
  };
  return element(
    'details',
    {ontoggle: fill},
    element(
      'summary.entry',
      {title: `${label} and ${counted(values.length - 1, 'other value')}`},
      element('span.value', null, `${label} …`),
      element('span.figure', null, element('span.repeats', null, `×${values.length} `), humanBytes(bytes)),
    ),
    list,
  );
}
