/** The panel with the table of values. */

import {choice, element, replace} from '../elements/dom.js';
import {Grid} from '../elements/grid.js';
import {atStep, provenance} from './provenance.js';

/** @typedef {import('../data/compilation.js').Compilation} Compilation */
/** @typedef {import('../data/origins.js').Origins} Origins */
/** @typedef {import('../plots/address_map.js').MapWindow} MapWindow */

/**
 * @typedef {object} ValuesPicture
 * @property {number} step
 * @property {import('../data/compilation.js').Shares} shares the bytes that each value holds at it
 * @property {Uint8Array | null} matches by value; null for all
 * @property {MapWindow} view
 */

/** @type {[string, string][]} */
const FILTERS = [
  ['live', 'live at this step'],
  ['view', 'live in view'],
  ['all', 'all'],
];

export class ValuesPanel {
  /**
   * @param {Origins} origins
   * @param {{open: (value: number) => void, hover: (value: number | null) => void}} actions
   */
  constructor(origins, actions) {
    this.compilation = origins.compilation;
    this.origins = origins;
    this.actions = actions;
    this.chosen = 'live';
    /** @type {ValuesPicture | null} */
    this.picture = null;
    /** @type {Grid | null} made when first shown */
    this.grid = null;
    this.source = element('div');
    this.node = element('div.tabled');
  }

  /** @param {ValuesPicture} picture */
  update(picture) {
    this.picture = picture;
    this.grid ??= this.newGrid();
    const {compilation, chosen} = this;
    const {step, shares, matches, view} = picture;
    const live = new Uint8Array(compilation.values.rows);
    for (const value of shares.values) live[value] = 1;
    this.grid.filter((row) => {
      if (matches && !matches[row]) return false;
      if (chosen === 'live') return live[row] === 1;
      return chosen === 'all' || (compilation.isLive[row] === 1 && compilation.from[row] < view.to && compilation.until[row] + 1 > view.from);
    });
    const {values, liveAt} = compilation.facts.provenance;
    replace(this.source, provenance(chosen === 'live' ? atStep(liveAt, step) : values));
  }

  newGrid() {
    const bytesOf = (/** @type {number} */ row) => this.picture?.shares.bytes[row] || null;
    const grid = valuesGrid(this.origins, bytesOf, this.actions);
    const filters = choice('show', FILTERS, this.chosen, (chosen) => {
      this.chosen = chosen;
      if (this.picture) this.update(this.picture);
    });
    grid.tools.append(filters, this.source);
    replace(this.node, grid.node);
    return grid;
  }
}

/**
 * @param {Origins} origins
 * @param {(value: number) => number | null} bytesOf at the step in view
 * @param {{open: (value: number) => void, hover: (value: number | null) => void}} actions
 * @returns {Grid}
 */
function valuesGrid(origins, bytesOf, {open, hover}) {
  const {compilation} = origins;
  const {columns, rows} = compilation.values;
  const roles = compilation.allocations.column('role');
  /** @type {import('../elements/grid.js').GridColumn[]} */
  const shown = [
    {name: 'value', kind: 'text', width: 2, cell: (row) => columns.label.text(row)},
    {name: 'atStep', title: 'at step', kind: 'bytes', cell: bytesOf},
    {name: 'sizeBytes', title: 'size', kind: 'bytes', cell: (row) => compilation.size[row]},
    {name: 'padding', kind: 'bytes', cell: (row) => (columns.denseBytes.at(row) === null ? null : compilation.size[row] - columns.denseBytes.number(row))},
    {name: 'shape', kind: 'text', width: 1.5, cell: (row) => columns.shape.at(row)},
    {name: 'opcode', kind: 'text', width: 0.9, cell: (row) => columns.opcode.at(row)},
    {name: 'role', kind: 'text', width: 0.8, cell: (row) => (compilation.holder[row] < 0 ? null : roles.at(compilation.holder[row]))},
    {name: 'op', kind: 'text', width: 3, cell: (row) => origins.op.at(row)},
    {name: 'line', kind: 'text', width: 1.2, cell: (row) => origins.shortSourceLine(row) || null},
    {name: 'from', kind: 'number', width: 0.6, cell: (row) => columns.liveFrom.at(row)},
    {name: 'until', kind: 'number', width: 0.6, cell: (row) => columns.liveUntil.at(row)},
  ];
  return new Grid({label: 'values', rows, columns: shown, sortBy: 'atStep', open, hover});
}
