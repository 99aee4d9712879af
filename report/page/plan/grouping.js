/** Groups values by role, scope, opcode, line or type, and gives each group its colour. */

import {sourceLineText, roleTitle} from '../elements/format.js';

/** @typedef {import('./plan.js').Plan} Plan */

/** @typedef {'role' | 'scope' | 'opcode' | 'line' | 'dtype'} By */

/** @type {[By, string][]} */
export const GROUPINGS = [
  ['role', 'role'],
  ['scope', 'op scope'],
  ['opcode', 'opcode'],
  ['line', 'source line'],
  ['dtype', 'element type'],
];

/** Okabe and Ito's palette, which colour-blind people can tell apart. */
export const PALETTE = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#F0E442'];
const OTHER = {light: '#8a8f98', dark: '#8b919b'};
const UNKNOWN = {light: '#c6cad1', dark: '#5a606b'};

const ROLE_COLOURS = new Map([
  ['parameter', '#0072B2'],
  ['temp', '#E69F00'],
  ['output', '#009E73'],
  ['constant', '#CC79A7'],
  ['liveOut', '#56B4E9'],
  ['threadLocal', '#F0E442'],
]);

/** @typedef {{name: string, title: string, colour: string, bytes: number, values: number}} Group */

/**
 * Which group each value belongs to: at most seven by bytes, the rest, and the unknown.
 * @typedef {{by: By, groups: Group[], of: Uint8Array}} Grouping
 */

/**
 * Split an op name at `/` outside brackets.
 * @param {string} name
 * @returns {string[]}
 */
export function scopeParts(name) {
  const parts = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < name.length; index += 1) {
    const character = name[index];
    if (character === '(' || character === '[' || character === '{') depth += 1;
    else if (character === ')' || character === ']' || character === '}') depth -= 1;
    else if (character === '/' && depth <= 0) {
      parts.push(name.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(name.slice(start));
  return parts;
}

/** Which op and line each value belongs to, as the graph attributes it. */
export class Origins {
  /** @param {Plan} plan */
  constructor(plan) {
    this.plan = plan;
    const {columns} = plan.values;
    this.op = columns.attributedOpName;
    this.file = columns.attributedFile;
    this.line = columns.attributedLine;
    /** By which rule: own, inside, operand or reader. */
    this.rule = columns.attribution;
    /** @type {Map<string, string[]>} */
    this.parts = new Map();
  }

  /**
   * @param {number} value
   * @returns {string[]} none where nobody knows the op
   */
  scope(value) {
    const name = this.op.text(value);
    if (!name) return [];
    let parts = this.parts.get(name);
    if (!parts) {
      parts = scopeParts(name);
      this.parts.set(name, parts);
    }
    return parts;
  }

  /**
   * @param {number} value
   * @returns {string} empty where nobody knows it
   */
  sourceLine(value) {
    const file = this.file.text(value);
    const line = this.line.integer(value);
    return file ? (line >= 0 ? `${file}:${line}` : file) : '';
  }
}

/**
 * Group the values of a plan; the groups are those with most bytes by weight.
 * @param {Origins} origins
 * @param {By} by
 * @param {Float64Array} weight by value: its share of the peak
 * @param {'light' | 'dark'} theme
 * @returns {Grouping}
 */
export function groupValues(origins, by, weight, theme) {
  const {plan} = origins;
  const names = valueNames(origins, by, weight);
  /** @type {Map<string, {bytes: number, values: number, size: number}>} */
  const totals = new Map();
  for (let row = 0; row < names.length; row += 1) {
    let total = totals.get(names[row]);
    if (!total) {
      total = {bytes: 0, values: 0, size: 0};
      totals.set(names[row], total);
    }
    total.bytes += weight[row];
    total.size += plan.size[row];
    total.values += 1;
  }
  const ranked = [...totals].filter(([name]) => name !== '');
  ranked.sort(([a, x], [b, y]) => y.bytes - x.bytes || y.size - x.size || (a < b ? -1 : 1));
  const shown = ranked.slice(0, PALETTE.length);
  const rest = ranked.slice(PALETTE.length);
  /** @type {Group[]} */
  const groups = shown.map(([name, total], index) => ({
    name,
    title: titleOf(by, name),
    colour: (by === 'role' && ROLE_COLOURS.get(name)) || PALETTE[index],
    bytes: total.bytes,
    values: total.values,
  }));
  groups.push({
    name: '…',
    title: rest.length ? `${rest.length} others` : 'others',
    colour: OTHER[theme],
    bytes: rest.reduce((sum, [, total]) => sum + total.bytes, 0),
    values: rest.reduce((sum, [, total]) => sum + total.values, 0),
  });
  const unknown = totals.get('');
  groups.push({
    name: '',
    title: by === 'role' ? 'role unknown' : 'unattributed',
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
 */
function titleOf(by, name) {
  if (by === 'role') return roleTitle(name);
  if (by !== 'line') return name;
  const cut = name.lastIndexOf(':');
  return cut > 0 ? sourceLineText(name.slice(0, cut), Number(name.slice(cut + 1))) : sourceLineText(name, null);
}

/**
 * @param {Origins} origins
 * @param {By} by
 * @param {Float64Array} weight
 * @returns {string[]}
 */
function valueNames(origins, by, weight) {
  const {plan} = origins;
  const rows = [...Array(plan.values.rows).keys()];
  switch (by) {
    case 'role': {
      const roles = plan.allocations.column('role');
      return rows.map((row) => (plan.holder[row] < 0 ? '' : roles.text(plan.holder[row])));
    }
    case 'opcode':
    case 'dtype':
      return rows.map((row) => plan.values.column(by).text(row));
    case 'line':
      return rows.map((row) => origins.sourceLine(row));
    case 'scope':
      return scopeNames(origins, weight);
  }
}

/**
 * Return for each value the scope that it is shown under. Scopes that differ in numbers only are
 * one, `layer_#`: the layers of a model look alike. As long as the scope with most bytes has more
 * than its share, as many as there are colours, those inside it take its place.
 * @param {Origins} origins
 * @param {Float64Array} weight
 * @returns {string[]}
 */
function scopeNames(origins, weight) {
  const {rows} = origins.plan.values;
  /** @type {Map<string, string>} op names without their numbers */
  const uncounted = new Map();
  const nameOf = (/** @type {number} */ row) => {
    const op = origins.op.text(row);
    const name = uncounted.get(op) ?? op.replace(/\d+/g, '#');
    uncounted.set(op, name);
    return name;
  };
  /** @type {Map<string, number>} */
  const weights = new Map();
  for (let row = 0; row < rows; row += 1) {
    const name = nameOf(row);
    if (name) weights.set(name, (weights.get(name) ?? 0) + weight[row]);
  }
  const shown = openedScopes(weights);
  return Array.from({length: rows}, (_, row) => shown.get(nameOf(row)) ?? '');
}

/**
 * @param {Map<string, number>} weights by op name
 * @returns {Map<string, string>} the scope of each op name
 */
function openedScopes(weights) {
  const parts = new Map([...weights.keys()].map((name) => [name, scopeParts(name)]));
  /** @type {Map<string, number>} */
  const bytes = new Map();
  /** @type {Map<string, Set<string>>} */
  const inner = new Map([['', new Set()]]);
  let all = 0;
  for (const [op, weight] of weights) {
    let name = '';
    all += weight;
    for (const part of parts.get(op) ?? []) {
      const child = name ? `${name}/${part}` : part;
      const siblings = inner.get(name);
      if (siblings) siblings.add(child);
      else inner.set(name, new Set([child]));
      name = child;
      bytes.set(name, (bytes.get(name) ?? 0) + weight);
    }
  }
  const open = new Set(['']);
  const waiting = [...(inner.get('') ?? [])];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const children = inner.get(name);
    if (!children || (bytes.get(name) ?? 0) * PALETTE.length <= all) continue;
    open.add(name);
    waiting.push(...children);
  }
  /** @type {Map<string, string>} */
  const shown = new Map();
  for (const op of weights.keys()) {
    let name = '';
    for (const part of parts.get(op) ?? []) {
      if (!open.has(name)) break;
      name = name ? `${name}/${part}` : part;
    }
    shown.set(op, name);
  }
  return shown;
}
