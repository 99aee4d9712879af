/** Groups of values by role, category, scope, opcode, line or type, each with its colour. */

import {sourceLineText, roleTitle} from '../elements/format.js';
import {scopeParts} from './scopes.js';

/** @typedef {import('./origins.js').Origins} Origins */

/** @typedef {'role' | 'category' | 'scope' | 'opcode' | 'line' | 'dtype'} By */

/** @type {[By, string][]} */
export const GROUPINGS = [
  ['role', 'role'],
  ['category', 'category'],
  ['scope', 'op scope'],
  ['opcode', 'opcode'],
  ['line', 'source line'],
  ['dtype', 'element type'],
];

/** Okabe and Ito's palette, which colour-blind people can distinguish. */
export const PALETTE = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#F0E442'];
export const OTHER = {light: '#8a8f98', dark: '#8b919b'};
export const UNKNOWN = {light: '#c6cad1', dark: '#5a606b'};

const ROLE_COLOURS = new Map([
  ['parameter', '#0072B2'],
  ['temp', '#E69F00'],
  ['output', '#009E73'],
  ['constant', '#CC79A7'],
  ['liveOut', '#56B4E9'],
  ['threadLocal', '#F0E442'],
]);

/** Colours of categories: inputs in full tones, temporaries in light ones. */
const CATEGORY_COLOURS = new Map([
  ['weight', '#0072B2'],
  ['optimizerState', '#E69F00'],
  ['gradient', '#D55E00'],
  ['activation', '#009E73'],
  ['recomputed', '#F0E442'],
  ['batch', '#CC79A7'],
  ['state', '#56B4E9'],
  ['gathered', '#7B4FA3'],
  ['collective', '#B79AD1'],
  ['offloaded', '#8C6D31'],
  ['scratch', '#5F9EA0'],
  ['output', '#A6761D'],
  ['constant', '#E7C6DA'],
  ['forward', '#8FD3BF'],
  ['backward', '#F0A77C'],
  ['update', '#F7D58C'],
]);

/**
 * @typedef {object} Group
 * @property {string} name empty if it is unknown
 * @property {string} title
 * @property {number} repeats number of scopes in the group that differ only in numbers
 * @property {string} colour
 * @property {number} bytes at the peak
 * @property {number} values
 */

/**
 * The seven largest groups of values, the rest and the unknown; `of` is the group of each value.
 * @typedef {{by: By, groups: Group[], of: Uint8Array}} Grouping
 */

/**
 * Group a compilation's values, and keep the groups with the largest weights.
 * @param {Origins} origins
 * @param {By} by
 * @param {Float64Array} weight share of the peak of each value
 * @param {'light' | 'dark'} theme
 * @returns {Grouping}
 */
export function groupValues(origins, by, weight, theme) {
  const {compilation} = origins;
  const {names, repeats} = by === 'scope' ? scopeNames(origins, weight) : {names: valueNames(origins, by), repeats: null};
  /** @type {Map<string, {bytes: number, values: number, size: number}>} */
  const totals = new Map();
  for (let row = 0; row < names.length; row += 1) {
    let total = totals.get(names[row]);
    if (!total) {
      total = {bytes: 0, values: 0, size: 0};
      totals.set(names[row], total);
    }
    total.bytes += weight[row];
    total.size += compilation.size[row];
    total.values += 1;
  }
  const ranked = [...totals].filter(([name]) => name !== '');
  ranked.sort(([a, x], [b, y]) => y.bytes - x.bytes || y.size - x.size || (a < b ? -1 : 1));
  const most = by === 'category' ? CATEGORY_COLOURS.size : PALETTE.length;
  const shown = ranked.slice(0, most);
  const rest = ranked.slice(most);
  /** @type {Group[]} */
  const groups = shown.map(([name, total], index) => ({
    name,
    title: titleOf(by, name),
    repeats: repeats?.get(name) ?? 1,
    colour: fixedColour(by, name, theme) ?? PALETTE[index % PALETTE.length],
    bytes: total.bytes,
    values: total.values,
  }));
  groups.push({
    name: '…',
    title: rest.length ? `${rest.length} others` : 'others',
    repeats: 1,
    colour: OTHER[theme],
    bytes: rest.reduce((sum, [, total]) => sum + total.bytes, 0),
    values: rest.reduce((sum, [, total]) => sum + total.values, 0),
  });
  const unknown = totals.get('');
  groups.push({
    name: '',
    title: by === 'role' ? 'role unknown' : 'unattributed',
    repeats: 1,
    colour: UNKNOWN[theme],
    bytes: unknown?.bytes ?? 0,
    values: unknown?.values ?? 0,
  });
  const indexByName = new Map(shown.map(([name], index) => [name, index]));
  const of = new Uint8Array(names.length);
  for (let row = 0; row < names.length; row += 1) {
    of[row] = names[row] === '' ? shown.length + 1 : (indexByName.get(names[row]) ?? shown.length);
  }
  return {by, groups, of};
}

/**
 * @param {By} by
 * @param {string} name
 * @param {'light' | 'dark'} theme
 * @returns {string | undefined}
 */
function fixedColour(by, name, theme) {
  if (by === 'category') return name === 'other' ? OTHER[theme] : CATEGORY_COLOURS.get(name);
  return by === 'role' ? ROLE_COLOURS.get(name) : undefined;
}

/**
 * @param {By} by
 * @param {string} name
 */
function titleOf(by, name) {
  if (by === 'role') return roleTitle(name);
  if (by !== 'line') return name;
  const cut = name.lastIndexOf(':');
  return cut > 0 ? sourceLineText(name.slice(0, cut), Number(name.slice(cut + 1))) : sourceLineText(name, null);
}

/**
 * Return the name of the group of each value; empty if it is unknown.
 * @param {Origins} origins
 * @param {Exclude<By, 'scope'>} by
 * @returns {string[]}
 */
function valueNames(origins, by) {
  const {compilation} = origins;
  const rows = [...Array(compilation.values.rows).keys()];
  switch (by) {
    case 'role': {
      const roles = compilation.allocations.column('role');
      return rows.map((row) => (compilation.holder[row] < 0 ? '' : roles.text(compilation.holder[row])));
    }
    case 'category':
    case 'opcode':
    case 'dtype':
      return rows.map((row) => compilation.values.column(by).text(row));
    case 'line':
      return rows.map((row) => origins.sourceLine(row));
  }
}

/**
 * Return the scope that each value is shown under.
 *
 * Scopes that differ only in numbers are merged into `layer_#`, for the layers of a model. A scope
 * with more than its share of the bytes, one colour's worth, is split into its inner scopes.
 * @param {Origins} origins
 * @param {Float64Array} weight
 * @returns {{names: string[], repeats: Map<string, number>}} `repeats` is the number of merged scopes
 */
function scopeNames(origins, weight) {
  const {rows} = origins.compilation.values;
  /** @type {Map<string, string>} op names without their numbers */
  const uncounted = new Map();
  /** @type {Map<string, {parts: string[], bytes: number}>} by op name without its numbers */
  const weights = new Map();
  for (let row = 0; row < rows; row += 1) {
    const op = origins.op.text(row);
    if (!op) continue;
    let name = uncounted.get(op);
    if (name === undefined) {
      name = op.replace(/\d+/g, '#');
      uncounted.set(op, name);
    }
    const total = weights.get(name);
    if (total) total.bytes += weight[row];
    else weights.set(name, {parts: scopeParts(name), bytes: weight[row]});
  }
  const depths = shownDepths(weights);
  /** @type {Map<string, string>} by op name */
  const shown = new Map([['', '']]);
  /** @type {Map<string, Set<string>>} */
  const members = new Map();
  for (const [op, name] of uncounted) {
    const depth = depths.get(name) ?? 0;
    const scope = (weights.get(name)?.parts ?? []).slice(0, depth).join('/');
    shown.set(op, scope);
    const repeated = members.get(scope) ?? new Set();
    members.set(scope, repeated.add(scopeParts(op).slice(0, depth).join('/')));
  }
  return {
    names: Array.from({length: rows}, (_, row) => shown.get(origins.op.text(row)) ?? ''),
    repeats: new Map(Array.from(members, ([name, {size}]) => [name, size])),
  };
}

/**
 * Return the number of parts of each op name that are shown.
 * @param {Map<string, {parts: string[], bytes: number}>} weights by op name
 * @returns {Map<string, number>}
 */
function shownDepths(weights) {
  /** @type {Map<string, number>} by scope */
  const bytes = new Map();
  let all = 0;
  for (const {parts, bytes: weight} of weights.values()) {
    let name = '';
    all += weight;
    for (const part of parts) {
      name = name ? `${name}/${part}` : part;
      bytes.set(name, (bytes.get(name) ?? 0) + weight);
    }
  }
  /** @type {Map<string, number>} */
  const depths = new Map();
  for (const [op, {parts}] of weights) {
    let name = parts[0];
    let depth = 1;
    while (depth < parts.length && (bytes.get(name) ?? 0) * PALETTE.length > all) {
      name = `${name}/${parts[depth]}`;
      depth += 1;
    }
    depths.set(op, depth);
  }
  return depths;
}
