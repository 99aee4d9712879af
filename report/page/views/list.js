/** List of the page's compilations, the largest first. */

import {element, replace} from '../elements/dom.js';
import {counted, humanBytes} from '../elements/format.js';
import {Grid} from '../elements/grid.js';
import {goTo} from '../fragment.js';

/** @typedef {import('../data/parts.js').Part} Part */

/**
 * @param {HTMLElement} root
 * @param {Part} overview
 */
export function showList(root, overview) {
  const table = overview.tables.compilations;
  const {columns} = table;
  const most = Math.max(1, columns.reservedBytes.number(0));
  const carried = [...Array(table.rows).keys()].filter((row) => columns.carried.flag(row));
  const open = (/** @type {number} */ row) => {
    if (columns.carried.flag(row)) goTo({c: columns.compilation.text(row)});
  };
  const grid = new Grid({
    label: 'compilations',
    rows: table.rows,
    sortBy: 'reservedBytes',
    open,
    columns: [
      {name: 'compilation', kind: 'text', width: 3, cell: (row) => columns.compilation.text(row)},
      {name: 'module', kind: 'text', width: 1.4, cell: (row) => columns.module.at(row)},
      ...['reservedBytes', 'physicalPeakBytes', 'logicalPeakBytes', 'printedPeakBytes', 'allocationBytes'].map((name) => ({
        name,
        title: name === 'allocationBytes' ? 'all allocations' : name.replace(/Bytes$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
        kind: /** @type {'bytes'} */ ('bytes'),
        cell: (/** @type {number} */ row) => columns[name].at(row),
      })),
      {name: 'values', kind: 'number', width: 0.7, cell: (row) => columns.values.at(row)},
    ],
  });
  const shown = carried.slice(0, 12);
  replace(
    root,
    element(
      'main.list',
      null,
      element('h1', null, 'Memory plans of ', element('em', null, overview.facts.title)),
      element('p.faint', null, `${counted(table.rows, 'compilation')} in ${overview.facts.graph}, the largest first.`, carried.length < table.rows ? ` ${table.rows - carried.length} of them are only listed, or the file would be too large. To see one, name it in the command.` : ''),
      element(
        'div.bars',
        {role: 'group', 'aria-label': 'compilations'},
        shown.map((row) => bar(columns, row, most, open)),
      ),
      grid.node,
    ),
  );
}

/**
 * @param {Record<string, import('../data/parts.js').Column>} columns
 * @param {number} row
 * @param {number} most
 * @param {(row: number) => void} open
 */
function bar(columns, row, most, open) {
  const [reserved, peak] = [columns.reservedBytes.number(row), columns.physicalPeakBytes.number(row)];
  const outer = element('span.bar.outer');
  const inner = element('span.bar.inner');
  outer.style.width = `${(reserved / most) * 100}%`;
  inner.style.width = `${((Number.isNaN(peak) ? 0 : peak) / most) * 100}%`;
  return element(
    'button.barline',
    {type: 'button', onclick: () => open(row)},
    element('span.name', {title: columns.compilation.text(row)}, columns.compilation.text(row)),
    element('span.track', null, outer, inner),
    element('span.figure', null, humanBytes(reserved), element('span.faint', null, ` peak ${humanBytes(peak)}`)),
  );
}
