import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Growth} from '../../../report/page/views/growth.js';

const SIDES = {before: 'a', after: 'b'};
const SCOPES = [
  ['f/h_0/mlp', 10, 20],
  ['f/h_1/mlp', 10, 25],
  ['f/h_2/mlp', 10, 10],
  ['f/loss', 4, 6],
  [null, 1, 0],
];

/** Return the title and the growth of each bar that is a group. */
function grown(growth) {
  return growth.bars.filter(({kind}) => kind === 'group').map(({title, from, to}) => [title, to - from]);
}

/** Return a table of one text column. */
function table(name, cells) {
  return {rows: cells.length, columns: {[name]: {at: (row) => cells[row]}}};
}

test('repeated layers are one bar, and the bars add up as without folding', () => {
  const [folded, whole] = [true, false].map((isFolded) => new Growth('scope', SCOPES, SIDES, isFolded));
  assert.deepEqual(grown(folded), [['f/h_0 … h_2 ×3/mlp', 25], ['f/loss', 2], ['unattributed', -1]]);
  assert.deepEqual(grown(whole), [['f/h_1/mlp', 15], ['f/h_0/mlp', 10], ['f/loss', 2], ['unattributed', -1]]);
  for (const {bars} of [folded, whole]) assert.deepEqual([bars[0].to, bars.at(-1).to], [35, 61]);
});

test('the rows behind a folded bar are those of all its layers', () => {
  const growth = new Growth('scope', SCOPES, SIDES, true);
  const values = table('scope', ['f/h_2/mlp', 'f/loss', 'f/h_0/mlp', null]);
  assert.deepEqual(growth.rowsBehind(growth.bars[1], values), [0, 2]);
});

test('lines, roles and opcodes are never folded', () => {
  const lines = [1, 2, 3].map((line) => ['/x/f.py', line, 0, line]);
  assert.deepEqual(grown(new Growth('line', lines, SIDES, true)), [['f.py:3', 3], ['f.py:2', 2], ['f.py:1', 1]]);
});

test('behind a cause are the allocations that it may be about', () => {
  const rows = [['live at the peak', 8, 12], ['outputs', 0, 4], ['inputs', 6, 6], ['fragmentation', 0, 1]];
  const growth = new Growth('cause', rows, SIDES, true);
  const allocations = table('role', ['parameter', 'temp', 'liveOut', 'threadLocal', 'output']);
  const behind = Object.fromEntries(growth.bars.map((bar) => [bar.title, growth.rowsBehind(bar, allocations)]));
  assert.deepEqual([behind['live at the peak'], behind.outputs, behind.fragmentation], [[1], [2, 4], [1]]);
});
