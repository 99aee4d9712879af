import assert from 'node:assert/strict';
import {test} from 'node:test';

import {unpacked} from '../../../report/page/data/parts.js';

/** Pack columns of two rows, each given as an array that is 8 bytes long or 16. */
function packed(columns, strings) {
  const packedColumns = {};
  let offset = 0;
  for (const [name, {kind, cells}] of Object.entries(columns)) {
    packedColumns[name] = {kind, offset};
    offset += Math.ceil(cells.byteLength / 8) * 8;
  }
  let head = JSON.stringify({facts: {key: 'run/a'}, strings, tables: {values: {rows: 2, columns: packedColumns}}});
  head += ' '.repeat((8 - ((head.length + 4) % 8)) % 8);
  const bytes = new Uint8Array(4 + head.length + offset);
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(new TextEncoder().encode(head), 4);
  for (const [name, {cells}] of Object.entries(columns)) {
    bytes.set(new Uint8Array(cells.buffer), 4 + head.length + packedColumns[name].offset);
  }
  return bytes.buffer;
}

test('columns are read as they were packed, and what is unknown is null', () => {
  const {facts, tables} = unpacked(
    packed(
      {
        size: {kind: 'wide', cells: Float64Array.of(2 ** 53, NaN)},
        step: {kind: 'number', cells: Int32Array.of(7, -(2 ** 31))},
        label: {kind: 'text8', cells: Uint8Array.of(1, 0)},
        isScheduled: {kind: 'flag', cells: Uint8Array.of(1, 2)},
      },
      ['', 'fusion.7'],
    ),
  );
  assert.equal(facts.key, 'run/a');
  const rows = ['size', 'step', 'label', 'isScheduled'].map((name) => [0, 1].map((row) => tables.values.column(name).at(row)));
  assert.deepEqual(rows, [[2 ** 53, null], [7, null], ['fusion.7', null], [true, null]]);
  assert.deepEqual(['size', 'step'].map((name) => tables.values.column(name).integer(1)), [-1, -1]);
  assert.throws(() => tables.values.column('other'), /no column other/);
});
