/** What stands above the plots: the figures, the legend, the filters that hold. */

import {choice, element} from '../elements/dom.js';
import {counted, humanBytes, numberText, shareText, shortened} from '../elements/format.js';
import {goTo} from '../fragment.js';
import {showKeys} from './keys.js';

/** @typedef {import('../plan/parts.js').Part} Part */
/** @typedef {import('./compilation.js').CompilationView} CompilationView */

/**
 * Make the bar: which compilation, the search, what colours and memory space are shown.
 * @param {CompilationView} view
 * @param {Part} overview
 * @param {boolean} isCompared
 * @returns {HTMLElement}
 */
export function bar(view, overview, isCompared) {
  const {plan} = view;
  const {columns, rows} = overview.tables.compilations;
  const carried = [...Array(rows).keys()].filter((row) => columns.carried.flag(row));
  const others = carried.map((row) => {
    const key = columns.compilation.text(row);
    return /** @type {[string, string]} */ ([key, `${shortened(key, 70)} – ${humanBytes(columns.reservedBytes.number(row))}`]);
  });
  const colors = plan.colors().map((color) => /** @type {[string, string]} */ ([String(color), String(color)]));
  return element(
    'header.bar',
    null,
    isCompared ? element('a.back', {href: '#', title: 'back to the comparison'}, '‹ comparison') : null,
    !isCompared && rows > 1 ? element('a.back', {href: '#', title: 'all compilations'}, '‹ all') : null,
    others.length > 1
      ? element('span.title', null, element('h1.offscreen', null, plan.key), choice('compilation', others, plan.key, (key) => goTo({c: key})))
      : element('h1', {title: plan.key}, plan.key),
    element('span.searching', null, view.search, view.searched),
    view.bySelect,
    colors.length > 1 ? choice('memory space', colors, String(view.state.color), (color) => view.changeSpace(Number(color))) : null,
    element('button.icon', {type: 'button', title: 'light or dark (t)', 'aria-label': 'light or dark', onclick: () => view.changeTheme()}, '◐'),
    element('button.icon', {type: 'button', title: 'keys (?)', 'aria-label': 'keys', onclick: showKeys}, '?'),
  );
}

/**
 * Make the figures: what is reserved, the peaks, how much lies idle.
 * @param {CompilationView} view
 * @returns {(HTMLElement | null)[]}
 */
export function figures(view) {
  const {plan, state, step} = view;
  const {space, peak, peakBytes} = view.picture;
  const {printedPeakBytes, printedPeakStep} = plan.facts;
  const cell = (/** @type {string} */ name) => (space.row < 0 ? NaN : plan.spaces.column(name).number(space.row));
  const idle = space.bytes - peakBytes;
  const stepFigure = (/** @type {string} */ label, /** @type {number} */ bytes, /** @type {number | null} */ at) =>
    at === null || Number.isNaN(at)
      ? figure(label, humanBytes(bytes), '')
      : figure(label, humanBytes(bytes), `step ${numberText(at)}`, () => view.set({step: at}));
  return [
    figure('reserved', humanBytes(space.bytes), counted(space.allocations.length, 'allocation')),
    stepFigure('physical peak', peakBytes, peak),
    figure('idle at the peak', humanBytes(idle), shareText(space.bytes ? idle / space.bytes : 0)),
    stepFigure('logical peak', cell('logicalPeakBytes'), cell('logicalPeakStep')),
    printedPeakBytes === null ? null : stepFigure('printed by XLA', printedPeakBytes, printedPeakStep),
    figure('schedule', numberText(plan.steps - 1), `steps, ${numberText(plan.values.rows)} values`),
    step === peak
      ? null
      : figure(
          state.step === null ? 'largest in view' : 'chosen step',
          humanBytes(view.group.curves.total[step]),
          `step ${numberText(step)}`,
          () => view.set({step: state.step === null ? step : null}),
          true,
        ),
  ];
}

/**
 * Make the legend: a click fades all but one group.
 * @param {CompilationView} view
 * @returns {HTMLElement[]}
 */
export function legend(view) {
  const {state} = view;
  return view.group.groups
    .filter((group) => group.values > 0)
    .map((group) => {
      const swatch = element('span.swatch');
      swatch.style.background = group.colour;
      const isChosen = state.group === group.name;
      return element(
        'button.group',
        {
          type: 'button',
          title: `${group.name || group.title}: ${counted(group.values, 'value')}, ${humanBytes(group.bytes)} at the peak`,
          'aria-pressed': isChosen ? 'true' : 'false',
          onclick: () => view.set({group: isChosen ? null : group.name}),
        },
        swatch,
        element('span.name', null, shortened(group.title, 24)),
        element('span.faint', null, humanBytes(group.bytes)),
      );
    });
}

/**
 * Make the filters that hold, each with a way to drop it.
 * @param {CompilationView} view
 * @returns {(HTMLElement | null)[]}
 */
export function chips(view) {
  const {state} = view;
  const shown = state.view;
  const whole = view.whole();
  return [
    shown.from === whole.from && shown.to === whole.to
      ? null
      : chip(`steps ${numberText(Math.floor(shown.from))}–${numberText(Math.ceil(shown.to) - 1)}`, () =>
          view.move({...shown, from: whole.from, to: whole.to}),
        ),
    shown.low === whole.low && shown.high === whole.high
      ? null
      : chip(`bytes ${humanBytes(shown.low)}–${humanBytes(shown.high)}`, () =>
          view.move({...shown, low: whole.low, high: whole.high}),
        ),
    state.step === null ? null : chip(`step ${numberText(state.step)}`, () => view.set({step: null})),
    state.path.length ? chip(shortened(state.path.join('/'), 30), () => view.set({path: []})) : null,
  ];
}

/**
 * @param {string} text
 * @param {() => void} clear
 */
function chip(text, clear) {
  return element('button.chip', {type: 'button', onclick: clear, 'aria-label': `clear ${text}`}, text, ' ×');
}

/**
 * @param {string} label
 * @param {string} number
 * @param {string} detail
 * @param {() => void} [onclick]
 * @param {boolean} [isMarked]
 */
function figure(label, number, detail, onclick, isMarked = false) {
  return element(
    `${onclick ? 'button' : 'div'}.figurecard${isMarked ? '.marked' : ''}`,
    {type: onclick ? 'button' : null, onclick},
    element('span.label', null, label),
    element('span.number', null, number),
    element('span.detail', null, detail),
  );
}
