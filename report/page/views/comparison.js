/** View of a comparison: groups that grew or shrank, and the values behind them. */

import {choice, copyButton, element, replace} from '../elements/dom.js';
import {growthText, humanBytes, shareText, shellQuoted, shortened} from '../elements/format.js';
import {Grid} from '../elements/grid.js';
import {goTo, readFragment, writeFragment} from '../fragment.js';
import {readInk} from '../plots/axis.js';
import {showWaterfall} from '../plots/waterfall.js';
import {toggleTheme} from '../theme.js';
import {provenance} from '../panels/provenance.js';
import {GROWTH_GROUPINGS, Growth, canFold} from './growth.js';
import {PairTimelines} from './pair_timelines.js';

/** @typedef {import('../data/parts.js').Part} Part */
/** @typedef {import('../plots/waterfall.js').Bar} Bar */
/** @typedef {import('./growth.js').GrowthBy} GrowthBy */

const CHANGES = ['new', 'gone', 'grown', 'shrunk', 'reshaped'];
/** Measure that the bars of a grouping add up to, if it is not the peaks. @type {Record<string, string>} */
const MEASURE_OF = {role: 'bytes of all allocations', cause: 'reserved bytes'};
const MEASURES = [
  ['reserved', 'reserved'],
  ['physicalPeak', 'physical peak'],
  ['logicalPeak', 'logical peak'],
  ['allocation', 'all allocations'],
];

export class ComparisonView {
  /**
   * @param {HTMLElement} root
   * @param {Part} part
   * @param {Set<string>} carried
   */
  constructor(root, part, carried) {
    this.part = part;
    this.facts = part.facts;
    this.carried = carried;
    this.ink = readInk();
    const given = readFragment();
    /** @type {GrowthBy} */
    this.by = GROWTH_GROUPINGS.find(([by]) => by === given.get('by'))?.[0] ?? 'role';
    this.isFolded = given.get('layers') !== 'all';
    this.growth = this.newGrowth();
    this.bar = given.get('bar') ?? '';
    const timelines = /** @type {number[]} */ (this.facts.timelines);
    const pair = Number(given.get('pair') ?? timelines[0] ?? -1);
    this.pair = timelines.includes(pair) ? pair : (timelines[0] ?? -1);
    /** @type {string | null} */
    this.change = given.get('change');
    /** @type {any[][]} changed values */
    this.changeRows = this.facts.groups.value.rows;
    this.closing = new AbortController();
    this.timelines = new PairTimelines(this.ink);
    this.canvas = this.timelines.canvas;
    this.waterfall = element('div.waterfall');
    this.behind = element('div.behind');
    this.source = element('div.source');
    this.pairLine = element('p.pairline');
    this.build(root);
    this.update();
    Object.assign(window, {xlagraphView: this});
  }

  close() {
    this.closing.abort();
    this.timelines.close();
  }

  /** @param {HTMLElement} root */
  build(root) {
    const {facts} = this;
    const command = `xlagraph compare ${shellQuoted(facts.a)} ${shellQuoted(facts.b)}`;
    const {signal} = this.closing;
    replace(
      root,
      element(
        'main.comparison',
        null,
        element(
          'header.bar',
          null,
          element('h1', null, element('span.sideA', {title: facts.a}, shortened(facts.a, 60)), ' → ', element('span.sideB', {title: facts.b}, shortened(facts.b, 60))),
          copyButton('copy command', () => command),
          element('button.icon', {type: 'button', title: 'light or dark (t)', 'aria-label': 'light or dark', onclick: () => this.changeTheme()}, '◐'),
        ),
        element('div.figures', {tabindex: 0, role: 'group', 'aria-label': 'figures'}, MEASURES.map(([measure, title]) => this.total(measure, title))),
        this.why(),
        element('section.card', null, element('h2', null, 'Timelines'), this.pairChoice(), this.pairLine, this.canvas),
        element('section.card', null, element('h2', null, 'What grew, by'), this.groupingButtons(), this.waterfall, this.source, this.behind),
        element('section.card', null, element('h2', null, 'Values that changed'), this.changeButtons(), this.changesGrid().node),
        element('section.card', null, element('h2', null, 'Compilations'), this.pairsGrid().node),
      ),
    );
    const observer = new ResizeObserver(() => this.drawTimelines());
    observer.observe(this.canvas);
    signal.addEventListener('abort', () => observer.disconnect());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.refreshInk(), {signal});
    window.addEventListener(
      'keydown',
      (event) => {
        if (/** @type {HTMLElement} */ (event.target).matches('input, select, textarea') || event.ctrlKey || event.metaKey) return;
        if (event.key === 't') this.changeTheme();
        if (event.key === 'Escape') this.set({bar: '', change: null});
        if (event.key === 'c') {
          const index = GROWTH_GROUPINGS.findIndex(([by]) => by === this.by);
          this.group({by: GROWTH_GROUPINGS[(index + 1) % GROWTH_GROUPINGS.length][0]});
        }
      },
      {signal},
    );
  }

  changeTheme() {
    toggleTheme();
    this.refreshInk();
  }

  refreshInk() {
    this.ink = this.timelines.ink = readInk();
    this.drawTimelines();
  }

  newGrowth() {
    return new Growth(this.by, this.facts.groups[this.by].rows, {before: this.facts.a, after: this.facts.b}, this.isFolded);
  }

  /**
   * Show other groups.
   * @param {Partial<{by: GrowthBy, isFolded: boolean}>} changes
   */
  group(changes) {
    Object.assign(this, changes);
    this.growth = this.newGrowth();
    this.set({bar: ''});
  }

  /** @param {Partial<{bar: string, pair: number, change: string | null}>} changes */
  set(changes) {
    Object.assign(this, changes);
    this.update();
  }

  update() {
    const {by, bar, pair, change, isFolded} = this;
    const {bars} = this.growth;
    replace(this.source, provenance(this.facts.groups[by]));
    showWaterfall(this.waterfall, bars, bar, (name) => this.set({bar: this.bar === name ? '' : name}));
    this.showBehind(bars.find((each) => each.name === bar) ?? null);
    this.drawTimelines();
    this.changes?.filter(change === null ? null : (row) => this.changeRows[row][0] === change);
    for (const button of this.changeLine?.querySelectorAll('button') ?? []) {
      button.setAttribute('aria-pressed', button.dataset.change === change ? 'true' : 'false');
    }
    for (const button of this.groupingLine?.querySelectorAll('button') ?? []) {
      button.setAttribute('aria-pressed', button.dataset.by === by ? 'true' : 'false');
    }
    if (this.measure) this.measure.textContent = MEASURE_OF[by] ?? 'shares of the physical peaks';
    if (this.foldLine) this.foldLine.hidden = !canFold(by);
    writeFragment({layers: isFolded ? null : 'all', by: by === 'role' ? null : by, bar, pair: pair === this.facts.timelines[0] ? null : pair, change});
  }

  /**
   * @param {string} measure
   * @param {string} title
   */
  total(measure, title) {
    const [a, b] = this.facts.totals[measure];
    if (a === null && b === null) return null;
    const growth = (b ?? 0) - (a ?? 0);
    return element(
      'div.figurecard',
      null,
      element('span.label', null, title),
      element('span.number', null, growth ? growthText(growth) : 'same'),
      element('span.detail', null, `${humanBytes(a)} → ${humanBytes(b)}${a && growth ? `, ${growth > 0 ? '+' : ''}${shareText(growth / a)}` : ''}`),
    );
  }

  /** Return the reasons in words, each with the command that shows the details. */
  why() {
    const sentences = /** @type {{text: string, growthBytes: number, command: string}[]} */ (this.facts.sentences ?? []);
    if (!sentences.length) return null;
    const line = (/** @type {{text: string, growthBytes: number, command: string}} */ {text, growthBytes, command}) =>
      element('li', null, element('b', null, growthText(growthBytes)), ` ${text} `, command ? copyButton('copy command', () => command) : null);
    return element('section.card', null, element('h2', null, 'Why'), element('ul.why', null, sentences.map(line)));
  }

  pairChoice() {
    const {facts} = this;
    /** @type {[string, string][]} */
    const choices = facts.timelines.map((/** @type {number} */ number) => {
      const {module, a, b} = facts.pairs[number];
      return [String(number), `${module ?? a.key} ${growthText((b?.reservedBytes ?? 0) - (a?.reservedBytes ?? 0))}`];
    });
    return choices.length > 1 ? choice('compilations', choices, String(this.pair), (number) => this.set({pair: Number(number)})) : null;
  }

  drawTimelines() {
    const {pair, part, facts} = this;
    if (pair < 0) {
      replace(this.pairLine, facts.haveLiveRanges ? 'No timelines: the schedules are too long for this page.' : 'No timelines: no pair of compilations has live ranges.');
      this.canvas.hidden = true;
      return;
    }
    const {a, b} = facts.pairs[pair];
    const open = (/** @type {any} */ side, /** @type {string} */ name) =>
      this.carried.has(side.key)
        ? element(`button.link.${name}`, {type: 'button', onclick: () => goTo({c: side.key})}, side.key)
        : element(`span.${name}`, null, side.key);
    replace(this.pairLine, open(a, 'sideA'), ' and ', open(b, 'sideB'), '; each schedule over the whole width');
    const [tableA, tableB] = [part.tables[`${pair}/a`], part.tables[`${pair}/b`]];
    const side = (/** @type {import('../data/parts.js').Table} */ table, /** @type {any} */ totals) => ({
      curve: /** @type {Float64Array} */ (table.column('physicalBytes').cells),
      reserved: totals.reservedBytes ?? 0,
    });
    this.timelines.show(side(tableA, a), side(tableB, b));
    this.canvas.setAttribute('aria-label', `physical bytes of both along their schedules: peaks ${humanBytes(a.physicalPeakBytes)} and ${humanBytes(b.physicalPeakBytes)}`);
  }

  /** @param {Bar | null} bar */
  showBehind(bar) {
    if (!bar || bar.kind === 'total') {
      replace(this.behind, element('p.faint', null, 'Click a bar to see the values behind it.'));
      return;
    }
    const heading = `Behind ${bar.title}: ${humanBytes(bar.a)} → ${humanBytes(bar.b)}`;
    replace(this.behind, element('h3', null, heading), this.behindGrid(bar).node);
  }

  /** Return the table with the rows behind the bars: allocations or values. */
  summed() {
    return this.part.tables[this.by === 'role' || this.by === 'cause' ? 'allocations' : 'peak'];
  }

  /** @param {Bar} bar */
  behindGrid(bar) {
    const table = this.summed();
    const {columns} = table;
    const rows = this.growth.rowsBehind(bar, table);
    const cell = (/** @type {string} */ name) => (/** @type {number} */ row) => columns[name].at(rows[row]);
    const sides = /** @type {Record<string, string>} */ ({a: this.facts.a, b: this.facts.b});
    return new Grid({
      label: `values behind ${bar.title}`,
      rows: rows.length,
      sortBy: 'bytes',
      most: 12,
      open: (row) => {
        const key = columns.compilation.text(rows[row]);
        if (this.carried.has(key)) goTo({c: key, pin: columns.value?.text(rows[row])});
      },
      columns: [
        {name: 'side', kind: 'text', width: 0.8, cell: (row) => shortened(sides[columns.side.text(rows[row])], 24)},
        columns.value
          ? {name: 'value', kind: 'text', width: 1.6, cell: cell('value')}
          : {name: 'number', title: 'allocation', kind: 'number', cell: cell('number')},
        {name: 'bytes', kind: 'bytes', cell: cell('bytes')},
        {name: 'shape', kind: 'text', width: 1.4, cell: cell('shape')},
        columns.value
          ? {name: 'op', kind: 'text', width: 2.4, cell: cell('opName')}
          : {name: 'parameterNumber', title: 'parameter', kind: 'number', cell: cell('parameterNumber')},
        {name: 'compilation', kind: 'text', width: 2, cell: cell('compilation')},
      ],
    });
  }

  groupingButtons() {
    this.measure = element('span.faint');
    const fold = /** @type {HTMLInputElement} */ (
      element('input', {type: 'checkbox', checked: this.isFolded, onchange: () => this.group({isFolded: fold.checked})})
    );
    this.foldLine = element('label.choice', null, fold, element('span', null, 'fold repeated layers'));
    this.groupingLine = element(
      'div.changes',
      {role: 'group', 'aria-label': 'grouping'},
      GROWTH_GROUPINGS.map(([by, title]) => element('button.chip', {type: 'button', 'data-by': by, onclick: () => this.group({by})}, title)),
      this.foldLine,
      this.measure,
    );
    return this.groupingLine;
  }

  changeButtons() {
    this.changeLine = element(
      'div.changes',
      {role: 'group', 'aria-label': 'changes'},
      CHANGES.map((change) =>
        element('button.chip', {type: 'button', 'data-change': change, onclick: () => this.set({change: this.change === change ? null : change})}, change),
      ),
    );
    return this.changeLine;
  }

  changesGrid() {
    const {changeRows} = this;
    const {columns} = this.facts.groups.value;
    const cell = (/** @type {string} */ name) => {
      const index = columns.indexOf(name);
      return (/** @type {number} */ row) => changeRows[row][index];
    };
    const [before, after, opcode, shapeIndex] = ['bytesA', 'bytesB', 'opcode', 'shapeIndex'].map(cell);
    this.changes = new Grid({
      label: 'values that changed',
      rows: changeRows.length,
      sortBy: 'growth',
      most: 14,
      columns: [
        {name: 'change', kind: 'text', width: 0.7, cell: cell('change')},
        {name: 'growth', kind: 'growth', cell: (row) => after(row) - before(row)},
        {name: 'before', kind: 'bytes', cell: before},
        {name: 'after', kind: 'bytes', cell: after},
        {name: 'op', kind: 'text', width: 3, cell: cell('opName')},
        {name: 'opcode', kind: 'text', cell: (row) => `${opcode(row) ?? ''}${shapeIndex(row) ?? ''}` || null},
        {name: 'shapeA', title: 'shape before', kind: 'text', width: 1.4, cell: cell('shapeA')},
        {name: 'shapeB', title: 'shape after', kind: 'text', width: 1.4, cell: cell('shapeB')},
      ],
    });
    this.changes.tools.append(provenance(this.facts.groups.value));
    return this.changes;
  }

  pairsGrid() {
    const pairs = /** @type {any[]} */ (this.facts.pairs);
    const open = (/** @type {number} */ row) => {
      if (this.facts.timelines.includes(row)) this.set({pair: row});
      this.canvas.scrollIntoView({block: 'center'});
    };
    const bytes = (/** @type {'a' | 'b'} */ side, /** @type {string} */ name) => (/** @type {number} */ row) => pairs[row][side]?.[name] ?? null;
    return new Grid({
      label: 'pairs of compilations',
      rows: pairs.length,
      most: 14,
      open,
      columns: [
        {name: 'module', kind: 'text', width: 1.4, cell: (row) => pairs[row].module},
        {name: 'growth', kind: 'growth', cell: (row) => (pairs[row].b?.reservedBytes ?? 0) - (pairs[row].a?.reservedBytes ?? 0)},
        {name: 'a', title: 'reserved before', kind: 'bytes', cell: bytes('a', 'reservedBytes')},
        {name: 'b', title: 'reserved after', kind: 'bytes', cell: bytes('b', 'reservedBytes')},
        {name: 'peakA', title: 'peak before', kind: 'bytes', cell: bytes('a', 'physicalPeakBytes')},
        {name: 'peakB', title: 'peak after', kind: 'bytes', cell: bytes('b', 'physicalPeakBytes')},
        {name: 'keyA', title: 'compilation before', kind: 'text', width: 2, cell: (row) => pairs[row].a?.key ?? `only in ${this.facts.b}`},
        {name: 'keyB', title: 'compilation after', kind: 'text', width: 2, cell: (row) => pairs[row].b?.key ?? `only in ${this.facts.a}`},
      ],
    });
  }
}
