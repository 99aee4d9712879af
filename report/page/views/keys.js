/** Keyboard shortcuts of the view of a compilation. */

import {element} from '../elements/dom.js';

/**
 * The actions of the keys.
 * @typedef {object} KeyActions
 * @property {() => void} search
 * @property {(direction: number) => void} nextMatch
 * @property {(across: number, up: number) => void} moveBy shares of the window
 * @property {(factor: number) => void} zoom less than 1 to see less, larger
 * @property {() => void} showAll
 * @property {() => void} centrePinned
 * @property {() => void} toPeak
 * @property {(steps: number) => void} walk
 * @property {(side: 'before' | 'after') => void} pinNeighbour
 * @property {(end: 'from' | 'until') => void} toEndOfPinned
 * @property {(index: number) => void} openPanel
 * @property {() => void} colourByNext
 * @property {() => void} changeTheme
 * @property {() => void} clearOnce
 */

const PAN = 0.15;
const ZOOM = 0.8;

/**
 * Keys with one purpose: their label, the purpose in words, and the action of each key.
 * @typedef {object} Binding
 * @property {string} keys
 * @property {string} does
 * @property {Record<string, (actions: KeyActions) => void>} [actions]
 */

/** @type {Binding[]} */
const BINDINGS = [
  {keys: '/', does: 'search; Enter pins the next match', actions: {'/': (view) => view.search()}},
  {keys: 'n N', does: 'next or previous match', actions: {n: (view) => view.nextMatch(1), N: (view) => view.nextMatch(-1)}},
  {
    keys: '← → ↑ ↓  w a s d',
    does: 'move the view',
    actions: {
      ArrowLeft: (view) => view.moveBy(-PAN, 0),
      ArrowRight: (view) => view.moveBy(PAN, 0),
      ArrowUp: (view) => view.moveBy(0, PAN),
      ArrowDown: (view) => view.moveBy(0, -PAN),
      w: (view) => view.moveBy(0, PAN),
      a: (view) => view.moveBy(-PAN, 0),
      s: (view) => view.moveBy(0, -PAN),
      d: (view) => view.moveBy(PAN, 0),
    },
  },
  {
    keys: '+ −',
    does: 'zoom in or out; also the wheel (with Ctrl if the page scrolls) and a pinch',
    actions: {
      '+': (view) => view.zoom(ZOOM),
      '=': (view) => view.zoom(ZOOM),
      '-': (view) => view.zoom(1 / ZOOM),
    },
  },
  {keys: '0', does: 'show all', actions: {0: (view) => view.showAll()}},
  {keys: 'f', does: 'centre the pinned value; press again to fit it', actions: {f: (view) => view.centrePinned()}},
  {keys: 'p', does: 'go to the peak', actions: {p: (view) => view.toPeak()}},
  {keys: ', .', does: 'previous or next step', actions: {',': (view) => view.walk(-1), '.': (view) => view.walk(1)}},
  {
    keys: '[ ]',
    does: 'pin the value that uses these bytes before or after',
    actions: {'[': (view) => view.pinNeighbour('before'), ']': (view) => view.pinNeighbour('after')},
  },
  {
    keys: '{ }',
    does: 'go to the start or the end of the live range',
    actions: {'{': (view) => view.toEndOfPinned('from'), '}': (view) => view.toEndOfPinned('until')},
  },
  {
    keys: '1 – 5',
    does: 'panels',
    actions: Object.fromEntries([1, 2, 3, 4, 5].map((key) => [key, (view) => view.openPanel(key - 1)])),
  },
  {keys: 'c', does: 'colour by the next grouping', actions: {c: (view) => view.colourByNext()}},
  {keys: 't', does: 'light or dark', actions: {t: (view) => view.changeTheme()}},
  {keys: 'Enter', does: 'in a table or the icicle: open'},
  {keys: 'Esc', does: 'clear the last filter or pin', actions: {Escape: (view) => view.clearOnce()}},
  {keys: '?', does: 'these keys', actions: {'?': showKeys}},
];
const ACTIONS = new Map(BINDINGS.flatMap(({actions}) => Object.entries(actions ?? {})));

/** Show a list of the keys. */
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
 * Run the action of a key, unless a text field has the focus.
 * @param {KeyActions} actions
 * @param {KeyboardEvent} event
 */
export function onKey(actions, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  if (target.matches('input, textarea, select')) {
    if (event.key === 'Escape') {
      target.blur();
      actions.clearOnce();
    }
    return;
  }
  const act = ACTIONS.get(event.key);
  if (!act) return;
  act(actions);
  event.preventDefault();
}
