/** One compilation: timeline, address map, details of a value, panels; all follow one state. */

import {announce, choice, element, replace} from '../elements/dom.js';
import {counted, humanBytes, numberText} from '../elements/format.js';
import {readFragment, writeFragment} from '../fragment.js';
import {GROUPINGS, Origins} from '../plan/grouping.js';
import {Plan} from '../plan/plan.js';
import {AddressMap} from '../plots/address_map.js';
import {readInk} from '../plots/axis.js';
import {Timeline, largestStep} from '../plots/timeline.js';
import {toggleTheme} from '../theme.js';
import {drawPlots} from './plot_drawing.js';
import {bar, figures, legend} from './header.js';
import {onKey} from './keys.js';
import {LowerPanels} from './lower_panels.js';
import {GroupPicture, SpacePicture} from './space_picture.js';
import {findValues} from './search.js';
import {settingsOf, stateOf, wholeWindow} from './state.js';
import {largestValues, valueButton, valueDetails} from './value_details.js';
import {Tip, tipOfStep, tipOfValue} from './tips.js';

/** @typedef {import('../plan/parts.js').Part} Part */
/** @typedef {import('../plots/address_map.js').PlanWindow} PlanWindow */
/** @typedef {import('./state.js').State} State */

const SETTLED_MILLISECONDS = 120;
const LEAST_STEPS = 2;
const LEAST_BYTES = 64;

export class CompilationView {
  /**
   * @param {HTMLElement} root
   * @param {Part} part
   * @param {Part} overview
   * @param {boolean} isCompared the page is a comparison
   */
  constructor(root, part, overview, isCompared) {
    this.plan = new Plan(part);
    this.origins = new Origins(this.plan);
    this.state = stateOf(this.plan, readFragment());
    this.ink = readInk();
    this.picture = new SpacePicture(this.plan, this.state.color);
    this.group = this.grouped();
    this.found = this.find();
    /** The step that figures and panels are about. */
    this.step = this.focusStep();
    this.shares = this.plan.sharesAt(this.picture.space, this.step);
    this.hovered = -1;
    /** @type {number | null} */
    this.hoveredStep = null;
    this.matchIndex = -1;
    this.isFramed = false;
    this.drawn = '';
    this.detailsShown = '';
    /** @type {number | undefined} */
    this.settling = undefined;
    this.closing = new AbortController();

    this.tip = new Tip();
    this.timeline = timelineOf(this);
    this.map = mapOf(this);
    this.figures = element('div.figures');
    this.legend = element('div.legend', {role: 'group', 'aria-label': 'groups'});
    this.chips = element('div.chips');
    this.thin = element('span.thin');
    this.side = element('section.side', {'aria-label': 'details', tabindex: -1});
    this.lower = new LowerPanels(this);
    this.search = this.searchField();
    this.searched = element('span.found', {'aria-live': 'polite'});
    this.bySelect = choice('colour by', GROUPINGS, this.state.by, (by) => this.set({by: /** @type {import('../plan/grouping.js').By} */ (by), group: null}));
    replace(root, element('main.compilation', null, bar(this, overview, isCompared), this.figures, this.plots(), this.side));
    this.update();
    this.listen();
    /** For tests and the curious: what the page shows, in numbers. */
    Object.assign(window, {xlagraphView: this});
  }

  plots() {
    return element(
      'div.plots',
      null,
      element('div.legendline', null, this.legend, this.chips),
      this.timeline.canvas,
      element('div.map', null, this.map.canvas, this.map.overlay, this.thin),
      this.lower.node,
    );
  }

  close() {
    this.closing.abort();
    clearTimeout(this.settling);
    this.tip.node.remove();
  }

  searchField() {
    const field = /** @type {HTMLInputElement} */ (
      element('input', {
        type: 'search',
        placeholder: 'name, op or line  ( / )',
        'aria-label': 'search values by name, op or line',
        value: this.state.words,
        oninput: () => this.set({words: field.value}),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key === 'Enter') this.nextMatch(event.shiftKey ? -1 : 1);
        },
      })
    );
    return field;
  }

  listen() {
    const {signal} = this.closing;
    const observer = new ResizeObserver(() => this.frame());
    for (const {canvas} of [this.timeline, this.map]) observer.observe(canvas);
    signal.addEventListener('abort', () => observer.disconnect());
    window.addEventListener('keydown', (event) => onKey(this, event), {signal});
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.refreshInk(), {signal});
  }

  /** @returns {PlanWindow} */
  whole() {
    return wholeWindow(this.plan, this.state.color);
  }

  grouped() {
    const group = new GroupPicture(this.picture, this.origins, this.state.by, this.ink.theme);
    if (!group.groups.some((each) => each.name === this.state.group)) this.state.group = null;
    return group;
  }

  /** @param {number} color */
  changeSpace(color) {
    Object.assign(this.state, {color, step: null, view: wholeWindow(this.plan, color)});
    this.picture = new SpacePicture(this.plan, color);
    this.group = this.grouped();
    this.lower.forget();
    this.update();
  }

  changeTheme() {
    toggleTheme();
    this.refreshInk();
  }

  refreshInk() {
    this.ink = readInk();
    this.group = this.grouped();
    this.update();
  }

  /** @param {Partial<State>} changes */
  set(changes) {
    const isRegrouped = changes.by !== undefined && changes.by !== this.state.by;
    Object.assign(this.state, changes);
    if (isRegrouped) this.group = this.grouped();
    this.update();
  }

  /**
   * Show another part of the plan, as much as there is; the rest follows when the move has ended.
   * @param {PlanWindow} wanted
   */
  move(wanted) {
    const whole = this.whole();
    const across = Math.min(Math.max(wanted.to - wanted.from, Math.min(LEAST_STEPS, whole.to)), whole.to);
    const up = Math.min(Math.max(wanted.high - wanted.low, Math.min(LEAST_BYTES, whole.high)), whole.high);
    const from = Math.min(Math.max(0, wanted.from), whole.to - across);
    const low = Math.min(Math.max(0, wanted.low), whole.high - up);
    this.state.view = {from, to: from + across, low, high: low + up};
    this.frame();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.update(), SETTLED_MILLISECONDS);
  }

  /** Return the chosen step, or the one with the most bytes in view. */
  focusStep() {
    const {step, view} = this.state;
    return step ?? largestStep(this.group.curves.total, Math.floor(view.from), Math.ceil(view.to) - 1);
  }

  find() {
    const {state, group} = this;
    const wanted = {words: state.words, group: group.groups.findIndex((each) => each.name === state.group), path: state.path};
    return findValues(this.origins, wanted, group.grouping.of, (value) => this.lower.pathOf()(value));
  }

  /** Bring everything up to date with the state. */
  update() {
    const {state, found} = this;
    this.found = this.find();
    this.searched.textContent = state.words.trim() ? `${counted(this.found.count, 'value')}, ${humanBytes(this.found.bytes)}` : '';
    if (this.found.count !== found.count) this.matchIndex = -1;
    this.step = this.focusStep();
    this.shares = this.plan.sharesAt(this.picture.space, this.step);
    replace(this.figures, figures(this));
    replace(this.legend, legend(this));
    this.drawn = '';
    this.showDetails();
    this.lower.update();
    writeFragment(settingsOf(this.plan, state));
    this.frame();
  }

  /**
   * Pin the next value that is searched for, the largest first.
   * @param {number} direction
   */
  nextMatch(direction) {
    const {plan} = this;
    const {matches} = this.found;
    if (!matches) return;
    const rows = [...matches.keys()].filter((row) => matches[row]);
    if (!rows.length) return;
    rows.sort((a, b) => plan.size[b] - plan.size[a] || a - b);
    const index = this.matchIndex + direction;
    this.matchIndex = index < 0 ? rows.length - 1 : index % rows.length;
    this.pin(rows[this.matchIndex], false);
    this.centre(rows[this.matchIndex], false);
  }

  /**
   * Pin a value, or drop it if it is pinned and `add`; -1 drops all.
   * @param {number} value
   * @param {boolean} add to those that are pinned
   */
  pin(value, add) {
    const {pins} = this.state;
    if (value < 0) {
      if (!add) this.set({pins: []});
      return;
    }
    const others = pins.filter((other) => other !== value);
    if (!add) this.set({pins: [value]});
    else this.set({pins: others.length < pins.length ? others : [value, ...pins]});
    const {label, shape} = this.plan.values.columns;
    announce(`pinned ${label.text(value)}, ${humanBytes(this.plan.size[value])}, ${shape.text(value)}, steps ${this.plan.from[value]} to ${this.plan.until[value]}`);
  }

  /**
   * Pin a value, and move the view so that it is seen.
   * @param {number} value
   */
  pinInView(value) {
    this.pin(value, false);
    if (!this.map.boxOf(value)) this.centre(value, false);
  }

  /**
   * Move the view to a value; make it fill the view if `fit`.
   * @param {number} value
   * @param {boolean} fit
   */
  centre(value, fit) {
    const {plan} = this;
    const low = plan.address(this.picture.space, value);
    if (Number.isNaN(low) || !plan.isLive[value]) return;
    const {view} = this.state;
    const [from, to] = [plan.from[value], plan.until[value] + 1];
    const high = low + plan.size[value];
    const across = fit ? (to - from) * 2 : Math.max(view.to - view.from, (to - from) * 1.2);
    const up = fit ? (high - low) * 3 : Math.max(view.high - view.low, (high - low) * 1.2);
    const [middle, height] = [(from + to) / 2, (low + high) / 2];
    this.move({from: middle - across / 2, to: middle + across / 2, low: height - up / 2, high: height + up / 2});
  }

  /** @param {number} allocation */
  showAllocation(allocation) {
    const low = this.picture.space.bases[allocation];
    const high = low + this.plan.allocations.column('sizeBytes').number(allocation);
    this.move({...this.state.view, low, high});
  }

  /**
   * @param {number} value -1 of none
   * @param {number | null} step
   * @param {number} x
   * @param {number} y
   */
  hover(value, step, x, y) {
    this.hovered = value;
    this.hoveredStep = step;
    this.map.overlay.style.cursor = value >= 0 ? 'pointer' : 'grab';
    this.tip.show(value >= 0 ? tipOfValue(this.origins, value) : null, x, y);
    this.frame();
  }

  /**
   * @param {number | null} step
   * @param {number} x
   * @param {number} y
   */
  hoverStep(step, x, y) {
    this.hoveredStep = step;
    const lines = step === null ? null : tipOfStep(this.plan, step, this.group.curves, this.picture.space.bytes);
    this.tip.show(lines, x, y);
    this.frame();
  }

  /**
   * Outline a value that is pointed at elsewhere.
   * @param {number | null} value
   */
  highlight(value) {
    this.hovered = value ?? -1;
    this.frame();
  }

  /** Draw the canvases with the next frame. */
  frame() {
    if (this.isFramed) return;
    this.isFramed = true;
    requestAnimationFrame(() => {
      this.isFramed = false;
      if (!this.closing.signal.aborted) drawPlots(this);
    });
  }

  /** Show the details of what is pinned, else the largest values of the step. */
  showDetails() {
    const {state, plan, origins} = this;
    const [first, ...others] = state.pins;
    const shown = first === undefined ? [this.step, state.color, state.by, this.ink.theme].join() : state.pins.join('+');
    if (shown === this.detailsShown) return;
    this.detailsShown = shown;
    const actions = {
      pin: (/** @type {number} */ value) => this.pinInView(value),
      choose: (/** @type {number} */ step) => this.set({step}),
      hover: (/** @type {number | null} */ value) => this.highlight(value),
      centre: (/** @type {number} */ value) => this.centre(value, true),
    };
    if (first === undefined) {
      const colourOf = (/** @type {number} */ value) => this.group.colours[this.group.grouping.of[value]];
      const title = this.step === this.picture.peak ? 'Largest at the peak' : `Largest at step ${numberText(this.step)}`;
      replace(this.side, largestValues(origins, title, this.shares, colourOf, actions));
      return;
    }
    replace(
      this.side,
      element('button.close', {type: 'button', 'aria-label': 'unpin', title: 'unpin (Esc)', onclick: () => this.set({pins: others})}, '×'),
      valueDetails(plan, origins, first, actions),
      others.length ? element('section', null, element('h3', null, 'also pinned'), element('ul', null, others.map((value) => element('li', null, valueButton(plan, value, actions))))) : null,
    );
  }
}

/** @param {CompilationView} view */
function timelineOf(view) {
  return new Timeline(newCanvas('canvas.timeline', true), {
    zoom: (from, to) => view.move({...view.state.view, from, to}),
    choose: (step) => view.set({step: view.state.step === step ? null : step}),
    hover: (step, x, y) => view.hoverStep(step, x, y),
    all: () => view.move(view.whole()),
    redraw: () => view.frame(),
  });
}

/** @param {CompilationView} view */
function mapOf(view) {
  return new AddressMap(newCanvas('canvas', false), newCanvas('canvas.overlay', true), {
    hover: (value, step, x, y) => view.hover(value, step, x, y),
    pin: (value, add) => view.pin(value, add),
    move: (wanted) => view.move(wanted),
    all: () => view.move(view.whole()),
  });
}

/**
 * @param {string} tag
 * @param {boolean} hasFocus
 */
function newCanvas(tag, hasFocus) {
  return /** @type {HTMLCanvasElement} */ (element(tag, hasFocus ? {tabindex: 0, role: 'img'} : {'aria-hidden': true}));
}
