/** The keyboard: what each key does. */

import {element} from '../elements/dom.js';
import {GROUPINGS} from '../plan/grouping.js';

/** @typedef {import('./compilation.js').CompilationView} CompilationView */

/** @type {[string, string][]} */
const KEYS = [
  ['/', 'search; Enter pins the next match'],
  ['n N', 'next or previous match'],
  ['← → ↑ ↓  w a s d', 'move the view'],
  ['+ −', 'zoom in or out; so do the wheel (with Ctrl where the page scrolls) and a pinch'],
  ['0', 'show all'],
  ['f', 'centre the pinned value, again: fit it'],
  ['p', 'to the peak'],
  [', .', 'previous or next step'],
  ['[ ]', 'pin who had these bytes before, or has them after'],
  ['{ }', 'to the definition or the end of the live range'],
  ['1 – 5', 'panels'],
  ['c', 'colour by the next grouping'],
  ['t', 'light or dark'],
  ['Enter', 'in a table or the icicle: open'],
  ['Esc', 'clear the last filter or pin'],
  ['?', 'these keys'],
];
const PAN = 0.15;
const ZOOM = 0.8;

/** Show what each key does. */
export function showKeys() {
  const dialog = /** @type {HTMLDialogElement} */ (
    element(
      'dialog.keys',
      {'aria-label': 'keys', onclose: () => dialog.remove()},
      element('h2', null, 'Keys'),
      element('dl', null, KEYS.flatMap(([keys, does]) => [element('dt', null, keys.split(' ').map((key) => [element('kbd', null, key), ' ']).flat()), element('dd', null, does)])),
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
  if (event.key === 'Enter' || event.key === ' ' || event.key === 'Tab') return;
  const act = actionOf(view, event.key);
  if (!act) return;
  act();
  event.preventDefault();
}

/**
 * @param {CompilationView} view
 * @param {string} key
 * @returns {(() => void) | null}
 */
function actionOf(view, key) {
  const {state, plan} = view;
  const pinned = state.pins[0] ?? -1;
  const pan = (/** @type {number} */ across, /** @type {number} */ up) => () => {
    const {from, to, low, high} = state.view;
    const [steps, bytes] = [across * PAN * (to - from), up * PAN * (high - low)];
    view.move({from: from + steps, to: to + steps, low: low + bytes, high: high + bytes});
  };
  const toNeighbour = (/** @type {import('../plan/plan.js').Neighbour[]} */ found) => () => {
    if (found.length) view.pinInView(found[0].value);
  };
  switch (key) {
    case '/':
      return () => view.search.focus();
    case 'n':
      return () => view.nextMatch(1);
    case 'N':
      return () => view.nextMatch(-1);
    case 'a':
    case 'ArrowLeft':
      return pan(-1, 0);
    case 'd':
    case 'ArrowRight':
      return pan(1, 0);
    case 'w':
    case 'ArrowUp':
      return pan(0, 1);
    case 's':
    case 'ArrowDown':
      return pan(0, -1);
    case '+':
    case '=':
      return () => view.map.zoom(ZOOM, 0.5, 0.5);
    case '-':
      return () => view.map.zoom(1 / ZOOM, 0.5, 0.5);
    case '0':
      return () => view.move(view.whole());
    case 'f':
      return () => {
        if (pinned >= 0) view.centre(pinned, view.map.boxOf(pinned) !== null);
      };
    case 'p':
      return () => view.set({step: view.picture.peak});
    case ',':
      return () => view.set({step: Math.max(0, view.step - 1)});
    case '.':
      return () => view.set({step: Math.min(plan.steps - 1, view.step + 1)});
    case '[':
      return pinned < 0 ? null : toNeighbour(plan.takenFrom(pinned));
    case ']':
      return pinned < 0 ? null : toNeighbour(plan.takenBy(pinned));
    case '{':
      return pinned < 0 ? null : () => view.set({step: plan.from[pinned]});
    case '}':
      return pinned < 0 ? null : () => view.set({step: Math.min(plan.until[pinned], plan.steps - 1)});
    case 'c':
      return () => {
        const index = GROUPINGS.findIndex(([by]) => by === state.by);
        const [by] = GROUPINGS[(index + 1) % GROUPINGS.length];
        /** @type {HTMLSelectElement} */ (view.bySelect.querySelector('select')).value = by;
        view.set({by, group: null});
      };
    case 't':
      return () => view.changeTheme();
    case '?':
      return showKeys;
    case 'Escape':
      return () => clearLast(view);
    default: {
      const tab = view.lower.tabs[Number(key) - 1];
      return tab ? () => view.set({tab: tab[0]}) : null;
    }
  }
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
