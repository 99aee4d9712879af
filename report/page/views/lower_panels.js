/** The tabs below the map, each brought up to date when it is in sight. */

import {isServed, loadPart} from '../plan/parts.js';
import {choice, element, replace} from '../elements/dom.js';
import {humanBytes, numberText, shareText, shortened} from '../elements/format.js';
import {Icicle, UNATTRIBUTED, branchAt, branches, pathTo} from '../plots/icicle.js';
import {
  STACKS,
  allocationsGrid,
  atStep,
  pathsBy,
  provenance,
  showAnswers,
  showFindings,
  valuesGrid,
} from './panels.js';

/** @typedef {import('./compilation.js').CompilationView} CompilationView */
/** @typedef {import('./panels.js').StackBy} StackBy */

/** @type {[string, string][]} */
const VALUE_FILTERS = [
  ['live', 'live at this step'],
  ['view', 'live in view'],
  ['all', 'all'],
];

export class LowerPanels {
  /** @param {CompilationView} view */
  constructor(view) {
    this.view = view;
    const {facts} = view.plan;
    /** @type {[string, string][]} */
    this.tabs = [
      ['peak', 'who holds it'],
      ['values', 'values'],
      ['allocations', 'allocations'],
      ['advice', facts.findings ? `advice ${facts.findings.length}` : 'advice'],
      ['queries', 'queries'],
    ];
    this.bar = element('div.tabs', {role: 'tablist'});
    this.panel = element('div.panel', {role: 'tabpanel', id: 'panel'});
    this.node = element('section.lower', null, this.bar, this.panel);
    this.canvas = /** @type {HTMLCanvasElement} */ (element('canvas.icicle', {tabindex: 0, role: 'img', 'aria-label': 'icicle'}));
    this.icicle = new Icicle(this.canvas, {
      open: (branch) => view.set({path: pathTo(branch)}),
      pin: (value) => view.pinInView(value),
      hover: (branch, x, y) => {
        view.highlight(branch && branch.value >= 0 ? branch.value : null);
        view.tip.show(branch ? [element('div', null, this.icicle.sentence(branch))] : null, x, y);
      },
      redraw: () => this.drawIcicle(),
    });
    this.unattributed = element('span.faint');
    /** What the panel shows. */
    this.shown = '';
    /** @type {import('../elements/grid.js').Grid | null} */
    this.values = null;
    this.valueFilter = 'live';
    this.valueSource = element('div');
    /** @type {Map<string, (value: number) => {name: string, title: string}[]>} */
    this.paths = new Map();
    this.rootKey = '';
    /** @type {import('../plots/icicle.js').Branch | null} */
    this.root = null;
    new ResizeObserver(() => this.drawIcicle()).observe(this.panel);
    /** @type {unknown} why advice and answers cannot be loaded; null if they can */
    this.failure = null;
    if (!facts.answers && isServed()) void this.loadAnswers();
  }

  /** Ask for advice and answers beside the picture, which need not wait for them. */
  async loadAnswers() {
    const {facts} = this.view.plan;
    try {
      const loaded = await loadPart(`answers/${facts.key}`);
      Object.assign(facts, loaded.facts);
      this.tabs[3][1] = `advice ${facts.findings.length}`;
    } catch (error) {
      this.failure = error;
    }
    if (!this.view.closing.signal.aborted) this.update();
  }

  /** Show why there are no advice and answers, yet or at all. */
  showMissing() {
    const text = isServed() ? 'asking …' : 'This file carries advice and answers about the largest compilations only: xlagraph advise and xlagraph query ask the graph.';
    replace(this.panel, this.failure ? element('p.error', {role: 'alert'}, String(this.failure)) : element('p.faint', null, text));
  }

  /** Forget what belongs to another memory space. */
  forget() {
    this.shown = '';
    this.values = null;
  }

  /** @returns {(value: number) => {name: string, title: string}[]} */
  pathOf() {
    const {stackBy} = this.view.state;
    let found = this.paths.get(stackBy);
    if (!found) {
      found = pathsBy(this.view.plan, this.view.origins, stackBy);
      this.paths.set(stackBy, found);
    }
    return found;
  }

  update() {
    const {view} = this;
    const {tab, query} = view.state;
    const {findings, notes, answers} = view.plan.facts;
    replace(
      this.bar,
      this.tabs.map(([name, title], index) =>
        element(
          'button',
          {
            type: 'button',
            role: 'tab',
            id: `tab-${name}`,
            'aria-selected': name === tab ? 'true' : 'false',
            'aria-controls': 'panel',
            title: `key ${index + 1}`,
            onclick: () => view.set({tab: name}),
          },
          title,
        ),
      ),
      element('span.about', null, this.about()),
    );
    const pin = (/** @type {string} */ label) => this.pinLabel(label);
    if (tab === 'values') this.showValues();
    else if (tab === 'allocations') this.showAllocations();
    else if ((tab === 'advice' || tab === 'queries') && !answers) this.showOnce(`missing ${this.failure}`, () => this.showMissing());
    else if (tab === 'advice') this.showOnce('advice', () => showFindings(this.panel, findings, notes, pin));
    else if (tab === 'queries') this.showOnce(`queries ${query}`, () => showAnswers(this.panel, answers, query, (id) => view.set({query: id}), pin));
    else this.showPeak();
  }

  about() {
    const {plan, step, picture, group} = this.view;
    const row = plan.instructionAt[step];
    const name = row < 0 ? '' : `, ${shortened(plan.instructions.column('name').text(row), 40)}`;
    return `${step === picture.peak ? 'at the peak, ' : ''}step ${numberText(step)}${name}: ${humanBytes(group.curves.total[step])}`;
  }

  /** @param {string} label */
  pinLabel(label) {
    const value = this.view.plan.valueOf(label);
    if (value >= 0) this.view.pinInView(value);
  }

  /**
   * @param {string} what
   * @param {() => void} show
   */
  showOnce(what, show) {
    if (this.shown === what) return;
    this.shown = what;
    show();
  }

  showValues() {
    const {view} = this;
    const {plan, step, shares} = view;
    this.showOnce('values', () => {
      this.values = valuesGrid(plan, view.origins, () => view.shares.bytes, {
        open: (value) => view.pinInView(value),
        hover: (value) => view.highlight(value),
      });
      const filters = choice('show', VALUE_FILTERS, this.valueFilter, (chosen) => {
        this.valueFilter = chosen;
        this.update();
      });
      this.values.tools.append(filters, this.valueSource);
      replace(this.panel, this.values.node);
    });
    const {matches} = view.found;
    const live = new Uint8Array(plan.values.rows);
    for (const value of shares.values) live[value] = 1;
    const {from, to} = view.state.view;
    const {valueFilter} = this;
    this.values?.filter((row) => {
      if (matches && !matches[row]) return false;
      if (valueFilter === 'live') return live[row] === 1;
      return valueFilter === 'all' || (plan.isLive[row] === 1 && plan.from[row] < to && plan.until[row] + 1 > from);
    });
    const {values, liveAt} = plan.facts.provenance;
    replace(this.valueSource, provenance(valueFilter === 'live' ? atStep(liveAt, step) : values));
  }

  showAllocations() {
    const {plan, picture} = this.view;
    this.showOnce('allocations', () => {
      const grid = allocationsGrid(plan, picture.space, (allocation) => this.view.showAllocation(allocation));
      grid.tools.append(provenance(plan.facts.provenance.allocations));
      replace(this.panel, grid.node);
    });
  }

  showPeak() {
    const {view} = this;
    this.showOnce(`peak ${view.state.stackBy}`, () => {
      const by = choice('by', STACKS, view.state.stackBy, (chosen) => view.set({stackBy: /** @type {StackBy} */ (chosen), path: []}));
      replace(this.panel, element('div.tools', null, by, this.unattributed), this.canvas);
    });
    this.drawIcicle();
  }

  drawIcicle() {
    const {plan, state, step, shares, group, ink} = this.view;
    if (state.tab !== 'peak' || !this.canvas.isConnected) return;
    const key = [step, state.by, state.stackBy, state.color].join();
    if (key !== this.rootKey || !this.root) {
      this.rootKey = key;
      const label = plan.values.column('label');
      this.root = branches(shares, this.pathOf(), (value) => label.text(value), group.grouping.of, group.groups.length);
    }
    const {root} = this;
    const unknown = root.children.get(UNATTRIBUTED)?.bytes ?? 0;
    const share = shareText(unknown / (root.bytes || 1));
    this.unattributed.textContent = unknown ? `${humanBytes(unknown)}, ${share}, is unattributed` : 'everything is attributed';
    this.icicle.draw(root, branchAt(root, state.path), group.colours, ink);
    this.canvas.setAttribute('aria-label', `who holds ${this.icicle.sentence(root)}; arrow keys walk`);
  }
}
