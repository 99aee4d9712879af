/** The panel with the table of allocations. */

import {element, replace} from '../elements/dom.js';
import {Grid} from '../elements/grid.js';
import {provenance} from './provenance.js';

/** @typedef {import('../data/compilation.js').Compilation} Compilation */
/** @typedef {import('../data/compilation.js').Space} Space */

export class AllocationsPanel {
  /**
   * @param {Compilation} compilation
   * @param {(allocation: number) => void} open
   */
  constructor(compilation, open) {
    this.compilation = compilation;
    this.open = open;
    /** @type {Space | null} the memory space that is shown */
    this.space = null;
    this.node = element('div.tabled');
  }

  /** @param {Space} space */
  update(space) {
    if (space === this.space) return;
    this.space = space;
    const grid = allocationsGrid(this.compilation, space, this.open);
    grid.tools.append(provenance(this.compilation.facts.provenance.allocations));
    replace(this.node, grid.node);
  }
}

/**
 * @param {Compilation} compilation
 * @param {Space} space
 * @param {(allocation: number) => void} open
 * @returns {Grid}
 */
function allocationsGrid(compilation, space, open) {
  const {columns} = compilation.allocations;
  const rows = space.allocations;
  const held = new Int32Array(compilation.allocations.rows);
  for (const holder of compilation.holder) if (holder >= 0) held[holder] += 1;
  /** @type {(name: string) => (row: number) => string | number | boolean | null} */
  const cell = (name) => (row) => columns[name].at(rows[row]);
  const idle = (/** @type {number} */ row) => {
    const {sizeBytes, physicalPeakBytes} = columns;
    return physicalPeakBytes.at(rows[row]) === null ? null : sizeBytes.number(rows[row]) - physicalPeakBytes.number(rows[row]);
  };
  return new Grid({
    label: 'allocations',
    rows: rows.length,
    sortBy: 'sizeBytes',
    open: (row) => open(rows[row]),
    columns: [
      {name: 'number', title: 'allocation', kind: 'number', cell: cell('number')},
      {name: 'sizeBytes', title: 'size', kind: 'bytes', cell: cell('sizeBytes')},
      {name: 'peak', title: 'physical peak', kind: 'bytes', cell: cell('physicalPeakBytes')},
      {name: 'idle', title: 'idle at its peak', kind: 'bytes', cell: idle},
      {name: 'hole', title: 'largest hole', kind: 'bytes', cell: cell('largestHoleBytes')},
      {name: 'role', kind: 'text', cell: cell('role')},
      {name: 'parameter', kind: 'number', cell: cell('parameterNumber')},
      {name: 'shape', kind: 'text', width: 2, cell: cell('shape')},
      {name: 'values', kind: 'number', cell: (row) => held[rows[row]]},
    ],
  });
}
