/** The state of the view of a compilation: its URL fragment, and its changes by keys. */

import {GROUPINGS} from '../data/grouping.js';

/** @typedef {import('../data/compilation.js').Compilation} Compilation */
/** @typedef {import('../data/grouping.js').By} By */
/** @typedef {import('../data/compilation.js').Space} Space */
/** @typedef {import('../plots/address_map.js').MapWindow} MapWindow */

const LEAST_STEPS = 2;
const LEAST_BYTES = 64;

/**
 * @typedef {object} State
 * @property {number} color
 * @property {MapWindow} view
 * @property {number | null} step the chosen one; null for the largest in view
 * @property {number[]} pins values, the last one first
 * @property {By} by
 * @property {string | null} group the only group that is not faded
 * @property {string} words search words
 * @property {string} tab
 * @property {import('../data/origins.js').PathBy} pathBy path of the icicle's sums
 * @property {string[]} path of the icicle
 * @property {boolean} isFolded repeated layers are shown as one
 * @property {string} query
 */

/**
 * Return the window that shows all of a memory space.
 * @param {Compilation} compilation
 * @param {number} color
 * @returns {MapWindow}
 */
export function wholeWindow(compilation, color) {
  return {from: 0, to: compilation.steps, low: 0, high: Math.max(1, compilation.space(color).bytes)};
}

/**
 * Read the state from a fragment; missing settings have their defaults.
 * @param {Compilation} compilation
 * @param {URLSearchParams} given
 * @returns {State}
 */
export function stateOf(compilation, given) {
  const colors = compilation.colors();
  const space = Number(given.get('space') ?? NaN);
  const color = colors.includes(space) ? space : (colors[0] ?? 0);
  const step = Number(given.get('step') ?? NaN);
  const pathBy = given.get('icicle');
  return {
    color,
    view: {
      ...wholeWindow(compilation, color),
      ...bounds(given.get('steps'), 'from', 'to'),
      ...bounds(given.get('bytes'), 'low', 'high'),
    },
    step: step >= 0 && step < compilation.steps ? Math.floor(step) : null,
    pins: lines(given.get('pin')).map((label) => compilation.valueOf(label)).filter((value) => value >= 0),
    by: GROUPINGS.find(([by]) => by === given.get('by'))?.[0] ?? 'role',
    group: given.get('group'),
    words: given.get('q') ?? '',
    tab: given.get('tab') ?? 'peak',
    pathBy: pathBy === 'stack' || pathBy === 'line' ? pathBy : 'scope',
    path: lines(given.get('path')),
    isFolded: given.get('layers') !== 'all',
    query: given.get('query') ?? '',
  };
}

/**
 * @param {string | null} text
 * @param {string} low
 * @param {string} high
 * @returns {Record<string, number>}
 */
function bounds(text, low, high) {
  const [least, most] = (text ?? '').split('~').map(Number);
  return least < most ? {[low]: least, [high]: most} : {};
}

/**
 * @param {string | null} text
 * @returns {string[]}
 */
function lines(text) {
  return text ? text.split('\n') : [];
}

/**
 * Return the settings of a fragment, without defaults.
 * @param {Compilation} compilation
 * @param {State} state
 * @returns {Record<string, string | number | null>}
 */
export function settingsOf(compilation, state) {
  const {from, to, low, high} = state.view;
  const whole = wholeWindow(compilation, state.color);
  return {
    c: compilation.key,
    space: state.color === compilation.colors()[0] ? null : state.color,
    steps: from === whole.from && to === whole.to ? null : `${from.toFixed(2)}~${to.toFixed(2)}`,
    bytes: low === whole.low && high === whole.high ? null : `${Math.round(low)}~${Math.round(high)}`,
    step: state.step,
    pin: state.pins.map((value) => compilation.values.column('label').text(value)).join('\n'),
    by: state.by === 'role' ? null : state.by,
    group: state.group,
    q: state.words,
    tab: state.tab === 'peak' ? null : state.tab,
    icicle: state.pathBy === 'scope' ? null : state.pathBy,
    path: state.path.join('\n'),
    layers: state.isFolded ? null : 'all',
    query: state.query,
  };
}

/**
 * Return the window nearest to a wanted one that is inside the whole and not too small.
 * @param {MapWindow} wanted
 * @param {MapWindow} whole
 * @returns {MapWindow}
 */
export function windowWithin(wanted, whole) {
  const across = Math.min(Math.max(wanted.to - wanted.from, Math.min(LEAST_STEPS, whole.to)), whole.to);
  const up = Math.min(Math.max(wanted.high - wanted.low, Math.min(LEAST_BYTES, whole.high)), whole.high);
  const from = Math.min(Math.max(0, wanted.from), whole.to - across);
  const low = Math.min(Math.max(0, wanted.low), whole.high - up);
  return {from, to: from + across, low, high: low + up};
}

/**
 * Return the window with a value at its centre; null if the value is not in the memory space.
 * @param {Compilation} compilation
 * @param {Space} space
 * @param {number} value
 * @param {MapWindow | null} shown window whose size is kept if the value fits; null to fit the
 *   window to the value
 * @returns {MapWindow | null}
 */
export function windowAround(compilation, space, value, shown) {
  const low = compilation.address(space, value);
  if (Number.isNaN(low) || !compilation.isLive[value]) return null;
  const [from, to] = [compilation.from[value], compilation.until[value] + 1];
  const high = low + compilation.size[value];
  const across = shown ? Math.max(shown.to - shown.from, (to - from) * 1.2) : (to - from) * 2;
  const up = shown ? Math.max(shown.high - shown.low, (high - low) * 1.2) : (high - low) * 3;
  const [middle, height] = [(from + to) / 2, (low + high) / 2];
  return {from: middle - across / 2, to: middle + across / 2, low: height - up / 2, high: height + up / 2};
}

/**
 * Return a window moved by shares of its width and height.
 * @param {MapWindow} shown
 * @param {number} across
 * @param {number} up
 * @returns {MapWindow}
 */
export function movedWindow({from, to, low, high}, across, up) {
  const [steps, bytes] = [across * (to - from), up * (high - low)];
  return {from: from + steps, to: to + steps, low: low + bytes, high: high + bytes};
}

/**
 * Return the pinned values after a value was chosen, the last one first.
 * @param {number[]} pins
 * @param {number} value -1 to unpin all
 * @param {boolean} add true to toggle the value and keep the other pins
 * @returns {number[]}
 */
export function pinsWith(pins, value, add) {
  if (value < 0) return add ? pins : [];
  if (!add) return [value];
  const others = pins.filter((other) => other !== value);
  return others.length < pins.length ? others : [value, ...pins];
}

/**
 * Return the change that clears the first active filter or pin.
 * @param {State} state
 * @returns {Partial<State>}
 */
export function clearedOnce(state) {
  if (state.words) return {words: ''};
  if (state.path.length) return {path: []};
  if (state.group !== null) return {group: null};
  if (state.pins.length) return {pins: state.pins.slice(1)};
  return {step: null};
}

/**
 * Return the next grouping.
 * @param {By} by
 * @returns {By}
 */
export function nextGrouping(by) {
  const index = GROUPINGS.findIndex(([each]) => each === by);
  return GROUPINGS[(index + 1) % GROUPINGS.length][0];
}
