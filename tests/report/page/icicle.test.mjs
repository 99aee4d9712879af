import assert from 'node:assert/strict';
import {test} from 'node:test';

import {foldScopes} from '../../../report/page/data/scopes.js';
import {branchAt, branchTitle, branches, pathTo} from '../../../report/page/plots/icicle.js';

const OPS = ['f/h_0/dot', 'f/h_1/dot', 'f/h_10/dot', 'f/out', ''];
const BYTES = Float64Array.of(3, 5, 7, 11, 13);

/** Sum up one value for each op. */
function root() {
  const folded = foldScopes(OPS.filter(Boolean));
  const shares = {values: Int32Array.from(OPS.keys()), bytes: BYTES};
  return branches(shares, (value) => folded.get(OPS[value])?.parts ?? [], (value) => `v${value}`, new Uint8Array(OPS.length), 1);
}

test('repeated layers are one branch with the bytes of all of them', () => {
  const layers = branchAt(root(), ['f', 'h_#']);
  assert.equal(branchTitle(layers), 'h_0 … h_10 ×3');
  assert.equal(layers.bytes, 3 + 5 + 7);
  assert.deepEqual([...layers.children.keys()], ['dot']);
  assert.equal(branchTitle(branchAt(root(), ['f', 'h_#', 'dot'])), 'dot');
});

test('every branch has the bytes of its children, and the root those of all values', () => {
  const all = root();
  assert.equal(all.bytes, 39);
  const check = (at) => {
    if (!at.children.size) return;
    assert.equal([...at.children.values()].reduce((sum, child) => sum + child.bytes, 0), at.bytes);
    at.children.forEach(check);
  };
  check(all);
});

test('a path leads to a branch and back', () => {
  const all = root();
  assert.deepEqual(pathTo(branchAt(all, ['f', 'h_#'])), ['f', 'h_#']);
  assert.equal(branchAt(all, ['f', 'h_7']), branchAt(all, ['f']));
});
