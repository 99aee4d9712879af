import assert from 'node:assert/strict';
import {test} from 'node:test';

import {clearedOnce, movedWindow, nextGrouping, pinsWith, windowWithin} from '../../../report/page/views/state.js';

const WHOLE = {from: 0, to: 100, low: 0, high: 1000};

test('a window is moved back inside, and is not made too small', () => {
  assert.deepEqual(windowWithin({from: -20, to: 30, low: 900, high: 1100}, WHOLE), {from: 0, to: 50, low: 800, high: 1000});
  assert.deepEqual(windowWithin({from: 50, to: 50, low: 0, high: 1}, WHOLE), {from: 50, to: 52, low: 0, high: 64});
  assert.deepEqual(windowWithin({from: -900, to: 900, low: -5, high: 5000}, WHOLE), WHOLE);
});

test('a window moves by shares of its size', () => {
  assert.deepEqual(movedWindow({from: 10, to: 20, low: 0, high: 100}, 0.5, -0.1), {from: 15, to: 25, low: -10, high: 90});
});

test('a value replaces the pins, is added to them, or dropped from them', () => {
  assert.deepEqual(pinsWith([1, 2], 3, false), [3]);
  assert.deepEqual(pinsWith([1, 2], 3, true), [3, 1, 2]);
  assert.deepEqual(pinsWith([1, 2], 2, true), [1]);
  assert.deepEqual([pinsWith([1, 2], -1, false), pinsWith([1, 2], -1, true)], [[], [1, 2]]);
});

test('filters are cleared one after the other, the words first and the step last', () => {
  let state = {words: 'x', path: ['f'], group: 'temp', pins: [7, 8], step: 3};
  const cleared = [];
  for (let times = 0; times < 6; times += 1) {
    const change = clearedOnce(state);
    cleared.push(Object.keys(change)[0]);
    state = {...state, ...change};
  }
  assert.deepEqual(cleared, ['words', 'path', 'group', 'pins', 'pins', 'step']);
});

test('after the last grouping comes the first', () => {
  assert.equal(nextGrouping('role'), 'category');
  assert.equal(nextGrouping('dtype'), 'role');
});
