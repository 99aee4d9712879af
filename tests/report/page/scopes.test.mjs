import assert from 'node:assert/strict';
import {test} from 'node:test';

import {foldScopes, foldedNames, foldedTitle, scopeParts} from '../../../report/page/data/scopes.js';

/** Return what names are folded into, in their order. */
function folded(...names) {
  return [...foldedNames(new Set(names)).values()];
}

/** Return folded op names, in their order. */
function foldedOps(...ops) {
  return [...foldScopes(ops).values()].map(({name}) => name);
}

test('an op name is split at slashes outside brackets', () => {
  assert.deepEqual(scopeParts('jit(f)/h_0/dot[a/b]/x'), ['jit(f)', 'h_0', 'dot[a/b]', 'x']);
});

test('three names that differ in one number are repeated layers, two are not', () => {
  assert.deepEqual(folded('h_0', 'h_1', 'h_2', 'ln_0', 'ln_1', 'tail'), ['h_#', 'h_#', 'h_#', 'ln_0', 'ln_1', 'tail']);
});

test('of several numbers the one with the most values is folded', () => {
  const names = [0, 1, 2, 3].flatMap((layer) => [1, 2].map((weight) => `['h_${layer}']['w${weight}']`));
  assert.deepEqual(new Set(folded(...names)), new Set(["['h_#']['w1']", "['h_#']['w2']"]));
});

test('a number that all names share is kept', () => {
  assert.deepEqual(folded('conv2d_0', 'conv2d_1', 'conv2d_2'), ['conv2d_#', 'conv2d_#', 'conv2d_#']);
});

test('what is inside of repeated layers is compared over all of them', () => {
  assert.deepEqual(foldedOps('f/h_0/head_0/dot', 'f/h_1/head_1/dot', 'f/h_2/head_2/dot', 'f/h_2/add', 'f'), [
    'f/h_#/head_#/dot',
    'f/h_#/head_#/dot',
    'f/h_#/head_#/dot',
    'f/h_#/add',
    'f',
  ]);
});

test('of no op names none are folded', () => assert.deepEqual(foldedOps(), []));

test('layers of different scopes are not folded together', () => {
  assert.deepEqual(foldedOps('a/h_0', 'b/h_1', 'c/h_2'), ['a/h_0', 'b/h_1', 'c/h_2']);
});

test('a folded part keeps the name of its own layer as its title', () => {
  const folded = foldScopes(['h_0/x', 'h_1/x', 'h_2/x', 'y']);
  assert.deepEqual(folded.get('h_1/x'), {name: 'h_#/x', isRepeated: true, parts: [{name: 'h_#', title: 'h_1'}, {name: 'x', title: 'x'}]});
  assert.deepEqual(folded.get('y'), {name: 'y', isRepeated: false, parts: [{name: 'y', title: 'y'}]});
});

test('the title of repeated layers names the first and the last, and counts them', () => {
  const names = Array.from({length: 96}, (_, layer) => `h_${(layer * 7) % 96}`);
  assert.equal(foldedTitle(names), 'h_0 … h_95 ×96');
  assert.equal(foldedTitle(['h_7']), 'h_7');
});

test('a name of thousands of numbers is compared by the first of them', () => {
  const tail = '1,'.repeat(5000);
  assert.deepEqual(folded(`a0[${tail}]`, `a1[${tail}]`, `a2[${tail}]`), Array(3).fill(`a#[${tail}]`));
});
