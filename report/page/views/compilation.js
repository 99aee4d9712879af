/** The view of a compilation: keep its state, and update each part of the view. */

import {Compilation} from '../data/compilation.js';
import {GROUPINGS} from '../data/grouping.js';
import {Origins} from '../data/origins.js';
import {announce, choice, element, replace} from '../elements/dom.js';
import {humanBytes, numberText, shortened} from '../elements/format.js';
import {beginStep, readFragment, writeFragment} from '../fragment.js';
import {readInk} from '../plots/axis.js';
import {toggleTheme} from '../theme.js';
import {chips, figures, legend, orderLegend, searchField, spaceChoice, titleWithOthers} from './header.js';
import {onKey, showKeys} from './keys.js';
import {largestValues} from './largest_values.js';
import {AllocationsPanel} from '../panels/allocations.js';
import {AdvicePanel, Answers, QueriesPanel} from '../panels/answers.js';
import {HoldersPanel} from '../panels/holders.js';
import {Tabs} from '../panels/tabs.js';
import {ValuesPanel} from '../panels/values.js';
import {Plots} from './plots.js';
import {Scene} from './scene.js';
import {searchedText} from './search.js';
import {clearedOnce, movedWindow, nextGrouping, pinsWith, settingsOf, stateOf, wholeWindow, windowAround, windowWithin} from './state.js';
import {Tip, tipOfStep, tipOfValue} from './tips.js';
import {pinnedValues} from './value_details.js';

/** @typedef {import('../data/parts.js').Part} Part */
/** @typedef {import('../data/grouping.js').By} By */
/** @typedef {import('../plots/address_map.js').MapWindow} MapWindow */
/** @typedef {import('./state.js').State} State */

const SETTLED_MILLISECONDS = 120;

export class CompilationView {
  /**
   * @param {HTMLElement} root
   * @param {Part} part
   * @param {Part} overview
   * @param {boolean} isCompared the page is a comparison
   */
  constructor(root, part, overview, isCompared) {
    this.compilation = new Compilation(part);
    this.origins = new Origins(this.compilation);
    this.state = stateOf(this.compilation, readFragment());
    this.ink = readInk();
    this.scene = new Scene(this.origins, this.state, this.ink.theme, null);
    this.matchIndex = -1;
    /** Identity of the shown details. */
    this.detailsShown = '';
    /** @type {number | undefined} */
    this.settling = undefined;
    this.closing = new AbortController();
    this.answers = new Answers(this.compilation);

    this.tip = new Tip();
    this.plots = this.newPlots();
    this.holders = this.newHolders();
    this.tabs = new Tabs(this.panels(), (tab) => this.openTab(tab));
    this.figures = element('div.figures', {tabindex: 0, role: 'group', 'aria-label': 'figures'});
    this.legend = element('div.legend', {role: 'group', 'aria-label': 'groups'});
    this.chips = element('div.chips');
    this.side = element('section.side', {'aria-label': 'details', tabindex: 0});
    this.search = searchField(this.state.words, {search: (words) => this.set({words}), next: (direction) => this.nextMatch(direction)});
    this.searched = element('span.found', {'aria-live': 'polite'});
    const by = choice('colour by', GROUPINGS, this.state.by, (chosen) => this.colourBy(/** @type {By} */ (chosen)));
    this.bySelect = /** @type {HTMLSelectElement} */ (by.querySelector('select'));
    replace(
      root,
      element(
        'main.compilation',
        null,
        element(
          'header.bar',
          null,
          titleWithOthers(this.compilation.key, overview, isCompared),
          element('span.searching', null, this.search, this.searched),
          by,
          spaceChoice(this.compilation, this.state.color, (color) => this.set({color, step: null, view: wholeWindow(this.compilation, color)})),
          element('button.icon', {type: 'button', title: 'light or dark (t)', 'aria-label': 'light or dark', onclick: () => this.changeTheme()}, '◐'),
          element('button.icon', {type: 'button', title: 'keys (?)', 'aria-label': 'keys', onclick: showKeys}, '?'),
        ),
        this.figures,
        element('div.plots', null, element('div.legendline', null, this.legend, this.chips), this.plots.nodes, this.tabs.node),
        this.side,
      ),
    );
    this.update();
    this.listen();
    void this.answers.load().then(() => {
      if (!this.closing.signal.aborted) this.update();
    });
    /** State of the page in numbers, for tests. */
    Object.assign(window, {xlagraphView: this});
  }

  close() {
    this.closing.abort();
    clearTimeout(this.settling);
    this.plots.close();
    this.holders.close();
    this.tip.node.remove();
  }

  newPlots() {
    return new Plots((value) => this.labelOf(value), {
      hoverValue: (value, x, y) => this.tip.show(value >= 0 ? tipOfValue(this.origins, value) : null, x, y),
      hoverStep: (step, x, y) => {
        const {group, picture} = this.scene;
        this.tip.show(step === null ? null : tipOfStep(this.compilation, step, group.curves, picture.space.bytes, this.otherOrder()), x, y);
      },
      pin: (value, add) => this.pin(value, add),
      choose: (step) => this.set({step: this.state.step === step ? null : step}),
      move: (view) => this.move(view),
      showAll: () => this.move(this.whole()),
    });
  }

  newHolders() {
    return new HoldersPanel((value) => this.labelOf(value), {
      sumUpBy: (pathBy) => this.set({pathBy, path: []}),
      fold: (isFolded) => this.set({isFolded, path: []}),
      open: (path) => this.set({path}),
      pin: (value) => this.pinInView(value),
      hover: (value, text, x, y) => {
        this.highlight(value);
        this.tip.show(text === null ? null : [element('div', null, text)], x, y);
      },
    });
  }

  /** @returns {import('../panels/tabs.js').Panel[]} */
  panels() {
    const {compilation, answers, holders} = this;
    const pin = (/** @type {string} */ label) => this.pinLabel(label);
    const values = new ValuesPanel(this.origins, {open: (value) => this.pinInView(value), hover: (value) => this.highlight(value)});
    const allocations = new AllocationsPanel(compilation, (allocation) => this.showAllocation(allocation));
    const advice = new AdvicePanel(answers, pin);
    const queries = new QueriesPanel(answers, {pin, choose: (query) => this.set({query})});
    return [
      {name: 'peak', title: () => 'who holds it', node: holders.node, update: () => this.showHolders()},
      {
        name: 'values',
        title: () => 'values',
        node: values.node,
        update: () => values.update({step: this.scene.step, shares: this.scene.shares, matches: this.scene.found.matches, view: this.state.view}),
      },
      {name: 'allocations', title: () => 'allocations', node: allocations.node, update: () => allocations.update(this.scene.picture.space)},
      {name: 'advice', title: () => (answers.facts ? `advice ${answers.facts.findings.length}` : 'advice'), node: advice.node, update: () => advice.update()},
      {name: 'queries', title: () => 'queries', node: queries.node, update: () => queries.update(this.state.query)},
    ];
  }

  listen() {
    const {signal} = this.closing;
    const actions = this.keyActions();
    window.addEventListener('keydown', (event) => onKey(actions, event), {signal});
    window.addEventListener('popstate', () => this.returnToFragment(), {signal});
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.refreshInk(), {signal});
  }

  /** @returns {import('./keys.js').KeyActions} */
  keyActions() {
    const withPinned = (/** @type {(value: number) => void} */ act) => {
      const [pinned] = this.state.pins;
      if (pinned !== undefined) act(pinned);
    };
    return {
      search: () => this.search.focus(),
      nextMatch: (direction) => this.nextMatch(direction),
      moveBy: (across, up) => this.move(movedWindow(this.state.view, across, up)),
      zoom: (factor) => this.plots.map.zoom(factor, 0.5, 0.5),
      showAll: () => this.move(this.whole()),
      centrePinned: () => withPinned((value) => this.centre(value, this.plots.map.boxOf(value) !== null)),
      toPeak: () => this.set({step: this.scene.picture.peak}),
      walk: (steps) => this.toStep(Math.max(0, this.scene.step + steps)),
      pinNeighbour: (side) =>
        withPinned((value) => {
          const [neighbour] = side === 'before' ? this.compilation.takenFrom(value) : this.compilation.takenBy(value);
          if (neighbour) this.pinInView(neighbour.value);
        }),
      toEndOfPinned: (end) => withPinned((value) => this.toStep(this.compilation[end][value])),
      openPanel: (index) => this.openTab(this.tabs.panels[index].name),
      colourByNext: () => this.colourBy(nextGrouping(this.state.by)),
      changeTheme: () => this.changeTheme(),
      clearOnce: () => this.set(clearedOnce(this.state)),
    };
  }

  /** Return the order that saves memory, which is known for memory space 0 only. */
  otherOrder() {
    return this.state.color === 0 ? this.answers.otherOrder : null;
  }

  /** @returns {MapWindow} */
  whole() {
    return wholeWindow(this.compilation, this.state.color);
  }

  /** @param {number} value */
  labelOf(value) {
    return this.compilation.values.column('label').text(value);
  }

  changeTheme() {
    toggleTheme();
    this.refreshInk();
  }

  refreshInk() {
    this.ink = readInk();
    this.update();
  }

  /** @param {By} by */
  colourBy(by) {
    this.set({by, group: null});
  }

  /** @param {string} tab */
  openTab(tab) {
    if (tab !== this.state.tab) beginStep();
    this.set({tab});
  }

  /** Show the settings of an earlier step, unless it is another view. */
  returnToFragment() {
    const settings = readFragment();
    if (settings.get('c') === settingsOf(this.compilation, this.state).c) this.set(stateOf(this.compilation, settings));
  }

  /** @param {Partial<State>} changes */
  set(changes) {
    Object.assign(this.state, changes);
    this.update();
  }

  /**
   * Show another window of the map; the panels follow at the end of the move.
   * @param {MapWindow} wanted
   */
  move(wanted) {
    this.state.view = windowWithin(wanted, this.whole());
    this.plots.scroll(this.state.view);
    this.showChips();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.update(), SETTLED_MILLISECONDS);
  }

  /** Update all parts from the state. */
  update() {
    const {state, ink, compilation} = this;
    const {count} = this.scene.found;
    const scene = new Scene(this.origins, state, ink.theme, this.scene);
    this.scene = scene;
    if (scene.chosenGroup < 0) state.group = null;
    if (scene.found.count !== count) this.matchIndex = -1;
    if (this.search.value !== state.words) this.search.value = state.words;
    this.bySelect.value = state.by;
    this.searched.textContent = searchedText(state.words, scene.found);
    const focus = {step: scene.step, isChosen: state.step !== null, bytes: scene.group.curves.total[scene.step]};
    replace(this.figures, figures(compilation, scene.picture, focus, (step) => this.set({step})));
    const order = this.otherOrder();
    const groups = legend(scene.group.groups, scene.chosenGroup, (group) => this.set({group}));
    replace(this.legend, groups, orderLegend(order));
    this.showChips();
    this.showDetails();
    this.showPanel();
    writeFragment(settingsOf(compilation, state));
    const [pinned] = state.pins;
    const {view, step, pins} = state;
    const readers = pinned === undefined ? [] : scene.readerSteps(pinned);
    const other = order?.bytes ?? new Float64Array();
    this.plots.show({space: scene.picture, group: scene.group, chosenGroup: scene.chosenGroup, matches: scene.found.matches, view, step, pins, readers, other}, ink);
  }

  showChips() {
    const {view, step, path} = this.state;
    const actions = {
      move: (/** @type {MapWindow} */ wanted) => this.move(wanted),
      clearStep: () => this.set({step: null}),
      clearPath: () => this.set({path: []}),
    };
    replace(this.chips, chips({view, whole: this.whole(), step, path}, actions));
  }

  showPanel() {
    const {step, picture, group} = this.scene;
    const {instructions, instructionAt} = this.compilation;
    const row = instructionAt[step];
    const name = row < 0 ? '' : `, ${shortened(instructions.column('name').text(row), 40)}`;
    const about = `${step === picture.peak ? 'at the peak, ' : ''}step ${numberText(step)}${name}: ${humanBytes(group.curves.total[step])}`;
    this.tabs.show(this.state.tab, about);
  }

  showHolders() {
    const {scene, ink} = this;
    const {pathBy, isFolded, path} = this.state;
    this.holders.update({shares: scene.shares, pathOf: scene.pathOf, by: pathBy, isFolded, path, group: scene.group, ink});
  }

  /** Show the details of the pinned value, else the largest values at the step. */
  showDetails() {
    const {state, scene, origins} = this;
    const {pins, color, by, isFolded} = state;
    const shown = pins.length ? pins.join('+') : [scene.step, color, by, isFolded, this.ink.theme].join();
    if (shown === this.detailsShown) return;
    this.detailsShown = shown;
    const actions = {
      pin: (/** @type {number} */ value) => this.pinInView(value),
      choose: (/** @type {number} */ step) => this.set({step}),
      hover: (/** @type {number | null} */ value) => this.highlight(value),
      centre: (/** @type {number} */ value) => this.centre(value, true),
    };
    if (pins.length) {
      replace(this.side, pinnedValues(origins, pins, () => this.set({pins: pins.slice(1)}), actions));
      return;
    }
    const {colours, of} = scene.group;
    const title = scene.step === scene.picture.peak ? 'Largest at the peak' : `Largest at step ${numberText(scene.step)}`;
    replace(this.side, largestValues(origins, {title, shares: scene.shares, isFolded, colourOf: (value) => colours[of[value]]}, actions));
  }

  /**
   * Pin the next search match, the largest first.
   * @param {number} direction
   */
  nextMatch(direction) {
    const rows = this.scene.matches();
    if (!rows.length) return;
    const index = this.matchIndex + direction;
    this.matchIndex = index < 0 ? rows.length - 1 : index % rows.length;
    this.pin(rows[this.matchIndex], false);
    this.centre(rows[this.matchIndex], false);
  }

  /**
   * Pin a value, or unpin it if it is pinned and `add` is set; -1 unpins all.
   * @param {number} value
   * @param {boolean} add true to keep the other pins
   */
  pin(value, add) {
    this.set({pins: pinsWith(this.state.pins, value, add)});
    if (value < 0) return;
    const {size, from, until, values} = this.compilation;
    announce(`pinned ${this.labelOf(value)}, ${humanBytes(size[value])}, ${values.column('shape').text(value)}, steps ${from[value]} to ${until[value]}`);
  }

  /**
   * Pin a value, and move the view to it if it is not visible.
   * @param {number} value
   */
  pinInView(value) {
    this.pin(value, false);
    if (!this.plots.map.boxOf(value)) this.centre(value, false);
  }

  /** @param {string} label */
  pinLabel(label) {
    const value = this.compilation.valueOf(label);
    if (value >= 0) this.pinInView(value);
  }

  /**
   * Move the view to a value, and fit the view to it if `fit` is set.
   * @param {number} value
   * @param {boolean} fit
   */
  centre(value, fit) {
    const wanted = windowAround(this.compilation, this.scene.picture.space, value, fit ? null : this.state.view);
    if (wanted) this.move(wanted);
  }

  /** @param {number} allocation */
  showAllocation(allocation) {
    const low = this.scene.picture.space.bases[allocation];
    const high = low + this.compilation.allocations.column('sizeBytes').number(allocation);
    this.move({...this.state.view, low, high});
  }

  /** @param {number} step -1 where a value has no live range */
  toStep(step) {
    if (step >= 0) this.set({step: Math.min(step, this.compilation.steps - 1)});
  }

  /**
   * Outline a value that is hovered in another part.
   * @param {number | null} value
   */
  highlight(value) {
    this.plots.mark(value ?? -1, null);
  }
}
