/** The lines above the plots: title bar, figures, legend and active filters. */

import {choice, element} from '../elements/dom.js';
import {counted, humanBytes, numberText, shareText, shortened} from '../elements/format.js';
import {goTo} from '../fragment.js';

/** @typedef {import('../data/parts.js').Part} Part */
/** @typedef {import('../data/compilation.js').Compilation} Compilation */
/** @typedef {import('../plots/address_map.js').MapWindow} MapWindow */

/**
 * Make the back link and a compilation's title, which is a select field if there are others.
 * @param {string} key of the compilation
 * @param {Part} overview
 * @param {boolean} isCompared the page is a comparison
 * @returns {(HTMLElement | null)[]}
 */
export function titleWithOthers(key, overview, isCompared) {
  const {columns, rows} = overview.tables.compilations;
  const carried = [...Array(rows).keys()].filter((row) => columns.carried.flag(row));
  const others = carried.map((row) => {
    const other = columns.compilation.text(row);
    return /** @type {[string, string]} */ ([other, `${shortened(other, 70)} – ${humanBytes(columns.reservedBytes.number(row))}`]);
  });
  return [
    isCompared ? element('a.back', {href: '#', title: 'back to the comparison'}, '‹ comparison') : null,
    !isCompared && rows > 1 ? element('a.back', {href: '#', title: 'all compilations'}, '‹ all') : null,
    others.length > 1
      ? element('span.title', null, element('h1.offscreen', null, key), choice('compilation', others, key, (other) => goTo({c: other})))
      : element('h1', {title: key}, key),
  ];
}

/**
 * Make the search field for values.
 * @param {string} words
 * @param {{search: (words: string) => void, next: (direction: number) => void}} actions
 * @returns {HTMLInputElement}
 */
export function searchField(words, {search, next}) {
  const field = /** @type {HTMLInputElement} */ (
    element('input', {
      type: 'search',
      placeholder: 'name, op or line  ( / )',
      'aria-label': 'search values by name, op or line',
      value: words,
      oninput: () => search(field.value),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === 'Enter') next(event.shiftKey ? -1 : 1);
      },
    })
  );
  return field;
}

/**
 * Make the select field for memory spaces; null if there is only one.
 * @param {Compilation} compilation
 * @param {number} color
 * @param {(color: number) => void} choose
 * @returns {HTMLElement | null}
 */
export function spaceChoice(compilation, color, choose) {
  const colors = compilation.colors().map((each) => /** @type {[string, string]} */ ([String(each), String(each)]));
  return colors.length > 1 ? choice('memory space', colors, String(color), (chosen) => choose(Number(chosen))) : null;
}

/**
 * Make the figures: reserved bytes, peaks and idle bytes.
 * @param {Compilation} compilation
 * @param {import('./scene.js').SpacePicture} picture
 * @param {{step: number, isChosen: boolean, bytes: number}} focus the step that the panels show
 * @param {(step: number | null) => void} choose
 * @returns {(HTMLElement | null)[]}
 */
export function figures(compilation, {space, peak, peakBytes}, {step, isChosen, bytes}, choose) {
  const {printedPeakBytes, printedPeakStep} = compilation.facts;
  const cell = (/** @type {string} */ name) => (space.row < 0 ? NaN : compilation.spaces.column(name).number(space.row));
  const idle = space.bytes - peakBytes;
  const stepFigure = (/** @type {string} */ label, /** @type {number} */ size, /** @type {number | null} */ at) =>
    at === null || Number.isNaN(at)
      ? figure(label, humanBytes(size), '')
      : figure(label, humanBytes(size), `step ${numberText(at)}`, () => choose(at));
  return [
    figure('reserved', humanBytes(space.bytes), counted(space.allocations.length, 'allocation')),
    stepFigure('physical peak', peakBytes, peak),
    figure('idle at the peak', humanBytes(idle), shareText(space.bytes ? idle / space.bytes : 0)),
    stepFigure('logical peak', cell('logicalPeakBytes'), cell('logicalPeakStep')),
    printedPeakBytes === null ? null : stepFigure('printed by XLA', printedPeakBytes, printedPeakStep),
    figure('schedule', numberText(compilation.steps - 1), `steps, ${numberText(compilation.values.rows)} values`),
    step === peak
      ? null
      : figure(isChosen ? 'chosen step' : 'largest in view', humanBytes(bytes), `step ${numberText(step)}`, () => choose(isChosen ? null : step), true),
  ];
}

/**
 * Make the legend; a click fades all other groups.
 * @param {import('../data/grouping.js').Group[]} groups
 * @param {number} chosen index of the group that is not faded; -1 if there is none
 * @param {(group: string | null) => void} choose
 * @returns {HTMLElement[]}
 */
export function legend(groups, chosen, choose) {
  return groups.flatMap((group, index) => {
    if (!group.values) return [];
    const swatch = element('span.swatch');
    swatch.style.background = group.colour;
    const repeats = group.repeats > 1 ? ` ×${numberText(group.repeats)}` : '';
    return element(
      'button.group',
      {
        type: 'button',
        title: `${group.name || group.title}${repeats}: ${counted(group.values, 'value')}, ${humanBytes(group.bytes)} at the peak`,
        'aria-pressed': index === chosen ? 'true' : 'false',
        onclick: () => choose(index === chosen ? null : group.name),
      },
      swatch,
      element('span.name', null, `${shortened(group.title, 24)}${repeats}`),
      element('span.faint', null, humanBytes(group.bytes)),
    );
  });
}

/**
 * Make the legend of the curve of another order of instructions, or the word that there is none.
 * @param {import('../panels/answers.js').OtherOrder | null} order
 * @returns {HTMLElement | null}
 */
export function orderLegend(order) {
  if (!order) return null;
  const {name, note, bytes} = order;
  if (!bytes.length) return element('span.order.faint', {title: note}, name ? `in the ${name} already` : 'other order unknown');
  const most = humanBytes(bytes.reduce((a, b) => Math.max(a, b)));
  const title = `live bytes if the instructions run in the ${name}: at most ${most}${note ? `; compile with ${note}` : ''}`;
  return element('span.order', {title}, element('span.stroke'), `in the ${name}`, element('span.faint', null, most));
}

/**
 * Make the active filters, each with a button that clears it.
 * @param {{view: MapWindow, whole: MapWindow, step: number | null, path: string[]}} filters
 * @param {{move: (view: MapWindow) => void, clearStep: () => void, clearPath: () => void}} actions
 * @returns {(HTMLElement | null)[]}
 */
export function chips({view, whole, step, path}, {move, clearStep, clearPath}) {
  const {from, to, low, high} = view;
  return [
    from === whole.from && to === whole.to
      ? null
      : chip(`steps ${numberText(Math.floor(from))}–${numberText(Math.ceil(to) - 1)}`, () => move({...view, from: whole.from, to: whole.to})),
    low === whole.low && high === whole.high
      ? null
      : chip(`bytes ${humanBytes(low)}–${humanBytes(high)}`, () => move({...view, low: whole.low, high: whole.high})),
    step === null ? null : chip(`step ${numberText(step)}`, clearStep),
    path.length ? chip(shortened(path.join('/'), 30), clearPath) : null,
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
