/** What a view of a compilation shows, and how a link says it. */

import {GROUPINGS} from '../plan/grouping.js';

/** @typedef {import('../plan/plan.js').Plan} Plan */
/** @typedef {import('../plan/grouping.js').By} By */
/** @typedef {import('../plots/address_map.js').PlanWindow} PlanWindow */

/**
 * @typedef {object} State
 * @property {number} color
 * @property {PlanWindow} view
 * @property {number | null} step the chosen one; null for the largest in view
 * @property {number[]} pins values, the last one first
 * @property {By} by
 * @property {string | null} group the only group that is not faded
 * @property {string} words searched for
 * @property {string} tab
 * @property {import('./panels.js').StackBy} stackBy
 * @property {string[]} path of the icicle
 * @property {string} query
 */

/**
 * Return the part of a plan that shows all of a memory space.
 * @param {Plan} plan
 * @param {number} color
 * @returns {PlanWindow}
 */
export function wholeWindow(plan, color) {
  return {from: 0, to: plan.steps, low: 0, high: Math.max(1, plan.space(color).bytes)};
}

/**
 * Read the state from a fragment; what it does not say is as at the beginning.
 * @param {Plan} plan
 * @param {URLSearchParams} given
 * @returns {State}
 */
export function stateOf(plan, given) {
  const colors = plan.colors();
  const space = Number(given.get('space') ?? NaN);
  const color = colors.includes(space) ? space : (colors[0] ?? 0);
  const step = Number(given.get('step') ?? NaN);
  const stackBy = given.get('icicle');
  return {
    color,
    view: {
      ...wholeWindow(plan, color),
      ...bounds(given.get('steps'), 'from', 'to'),
      ...bounds(given.get('bytes'), 'low', 'high'),
    },
    step: step >= 0 && step < plan.steps ? Math.floor(step) : null,
    pins: lines(given.get('pin')).map((label) => plan.valueOf(label)).filter((value) => value >= 0),
    by: GROUPINGS.find(([by]) => by === given.get('by'))?.[0] ?? 'role',
    group: given.get('group'),
    words: given.get('q') ?? '',
    tab: given.get('tab') ?? 'peak',
    stackBy: stackBy === 'stack' || stackBy === 'line' ? stackBy : 'scope',
    path: lines(given.get('path')),
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
 * Return what a fragment says of a state: what is as at the beginning is left out.
 * @param {Plan} plan
 * @param {State} state
 * @returns {Record<string, string | number | null>}
 */
export function settingsOf(plan, state) {
  const {from, to, low, high} = state.view;
  const whole = wholeWindow(plan, state.color);
  return {
    c: plan.key,
    space: state.color === plan.colors()[0] ? null : state.color,
    steps: from === whole.from && to === whole.to ? null : `${from.toFixed(2)}~${to.toFixed(2)}`,
    bytes: low === whole.low && high === whole.high ? null : `${Math.round(low)}~${Math.round(high)}`,
    step: state.step,
    pin: state.pins.map((value) => plan.values.column('label').text(value)).join('\n'),
    by: state.by === 'role' ? null : state.by,
    group: state.group,
    q: state.words,
    tab: state.tab === 'peak' ? null : state.tab,
    icicle: state.stackBy === 'scope' ? null : state.stackBy,
    path: state.path.join('\n'),
    query: state.query,
  };
}
