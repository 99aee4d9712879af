/** The keyboard: what each key does. */

import {element} from '../elements/dom.js';
import {GROUPINGS} from '../plan/grouping.js';

/** @typedef {import('./compilation.js').CompilationView} CompilationView */

const PAN = 0.15;
const ZOOM = 0.8;

/**
 * Keys that do alike: how they are shown, what they do in words, what each does by its name.
 * @typedef {object} Binding
 * @property {string} keys
 * @property {string} does
 * @property {Record<string, (view: CompilationView) => void>} [actions]
 */

/** @type {Binding[]} */
const BINDINGS = [
  {keys: '/', does: 'search; Enter pins the next match', actions: {'/': (view) => view.search.focus()}},
  {keys: 'n N', does: 'next or previous match', actions: {n: (view) => view.nextMatch(1), N: (view) => view.nextMatch(-1)}},
  {
    keys: '← → ↑ ↓  w a s d',
    does: 'move the view',
    actions: {
      ArrowLeft: (view) => pan(view, -1, 0),
      ArrowRight: (view) => pan(view, 1, 0),
      ArrowUp: (view) => pan(view, 0, 1),
      ArrowDown: (view) => pan(view, 0, -1),
      w: (view) => pan(view, 0, 1),
      a: (view) => pan(view, -1, 0),
      s: (view) => pan(view, 0, -1),
      d: (view) => pan(view, 1, 0),
    },
  },
  {
    keys: '+ −',
    does: 'zoom in or out; so do the wheel (with Ctrl where the page scrolls) and a pinch',
    actions: {
      '+': (view) => view.map.zoom(ZOOM, 0.5, 0.5),
      '=': (view) => view.map.zoom(ZOOM, 0.5, 0.5),
      '-': (view) => view.map.zoom(1 / ZOOM, 0.5, 0.5),
    },
  },
  {keys: '0', does: 'show all', actions: {0: (view) => view.move(view.whole())}},
  {
    keys: 'f',
    does: 'centre the pinned value, again: fit it',
    actions: {f: (view) => withPinned(view, (value) => view.centre(value, view.map.boxOf(value) !== null))},
  },
  {keys: 'p', does: 'to the peak', actions: {p: (view) => view.set({step: view.picture.peak})}},
  {keys: ', .', does: 'previous or next step', actions: {',': (view) => toStep(view, Math.max(0, view.step - 1)), '.': (view) => toStep(view, view.step + 1)}},
  {
    keys: '[ ]',
    does: 'pin who had these bytes before, or has them after',
    actions: {
      '[': (view) => withPinned(view, (value) => pinFirst(view, view.plan.takenFrom(value))),
      ']': (view) => withPinned(view, (value) => pinFirst(view, view.plan.takenBy(value))),
    },
  },
  {
    keys: '{ }',
    does: 'to the definition or the end of the live range',
    actions: {
      '{': (view) => withPinned(view, (value) => toStep(view, view.plan.from[value])),
      '}': (view) => withPinned(view, (value) => toStep(view, view.plan.until[value])),
    },
  },
  {
    keys: '1 – 5',
    does: 'panels',
    actions: Object.fromEntries([1, 2, 3, 4, 5].map((key) => [key, (view) => view.set({tab: view.lower.tabs[key - 1][0]})])),
  },
  {keys: 'c', does: 'colour by the next grouping', actions: {c: colourByNext}},
  {keys: 't', does: 'light or dark', actions: {t: (view) => view.changeTheme()}},
  {keys: 'Enter', does: 'in a table or the icicle: open'},
  {keys: 'Esc', does: 'clear the last filter or pin', actions: {Escape: clearLast}},
  {keys: '?', does: 'these keys', actions: {'?': showKeys}},
];
const ACTIONS = new Map(BINDINGS.flatMap(({actions}) => Object.entries(actions ?? {})));

/** Show what each key does. */
export function showKeys() {
  const dialog = /** @type {HTMLDialogElement} */ (
    element(
      'dialog.keys',
      {'aria-label': 'keys', onclose: () => dialog.remove()},
      element('h2', null, 'Keys'),
      element('dl', null, BINDINGS.flatMap(({keys, does}) => [element('dt', null, keys.split(' ').map((key) => [element('kbd', null, key), ' ']).flat()), element('dd', null, does)])),
      element('form', {method: 'dialog'}, element('button', null, 'close')),
    )
  );
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * Do what a key stands for, unless somebody is writing.
 * @param {CompilationView} view
 * @param {KeyboardEvent} event
 */
export function onKey(view, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  if (target.matches('input, textarea, select')) {
    if (event.key === 'Escape') {
      target.blur();
      clearLast(view);
    }
    return;
  }
  const act = ACTIONS.get(event.key);
  if (!act) return;
  act(view);
  event.preventDefault();
}

/**
 * @param {CompilationView} view
 * @param {number} across
 * @param {number} up
 */
function pan(view, across, up) {
  const {from, to, low, high} = view.state.view;
  const [steps, bytes] = [across * PAN * (to - from), up * PAN * (high - low)];
  view.move({from: from + steps, to: to + steps, low: low + bytes, high: high + bytes});
}

/**
 * @param {CompilationView} view
 * @param {number} step -1 where a value has no live range
 */
function toStep(view, step) {
  if (step >= 0) view.set({step: Math.min(step, view.plan.steps - 1)});
}

/**
 * @param {CompilationView} view
 * @param {(value: number) => void} act
 */
function withPinned(view, act) {
  const [pinned] = view.state.pins;
  if (pinned !== undefined) act(pinned);
}

/**
 * @param {CompilationView} view
 * @param {import('../plan/plan.js').Neighbour[]} neighbours
 */
function pinFirst(view, neighbours) {
  if (neighbours.length) view.pinInView(neighbours[0].value);
}

/** @param {CompilationView} view */
function colourByNext(view) {
  const index = GROUPINGS.findIndex(([by]) => by === view.state.by);
  const [by] = GROUPINGS[(index + 1) % GROUPINGS.length];
  /** @type {HTMLSelectElement} */ (view.bySelect.querySelector('select')).value = by;
  view.set({by, group: null});
}

/** @param {CompilationView} view */
function clearLast(view) {
  const {state} = view;
  if (state.words) {
    view.search.value = '';
    view.set({words: ''});
  } else if (state.path.length) view.set({path: []});
  else if (state.group !== null) view.set({group: null});
  else if (state.pins.length) view.set({pins: state.pins.slice(1)});
  else if (state.step !== null) view.set({step: null});
}
