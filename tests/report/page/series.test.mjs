import assert from 'node:assert/strict';
import {test} from 'node:test';

import {seriesLines} from '../../../report/page/plots/series.js';

test('lines begin at zero bytes, and the largest is below the top', () => {
  const rows = [{run: 'a', peakBytes: 50}, {run: 'b', peakBytes: 100}, {run: 'c', peakBytes: 0}];
  const {lines, top, most} = seriesLines(rows, 'run', ['peakBytes']);
  assert.equal(most, 100);
  assert.ok(top > 100);
  assert.deepEqual(lines, [{name: 'peakBytes', points: [{x: 0, y: 50 / top}, {x: 0.5, y: 100 / top}, {x: 1, y: 0}]}]);
});

test('numbers have their distances', () => {
  const rows = [0, 1, 10].map((step) => ({step, bytes: step}));
  assert.deepEqual(seriesLines(rows, 'step', ['bytes']).lines[0].points.map(({x}) => x), [0, 0.1, 1]);
});

test('of rows at one place the largest counts, and unknown bytes have no point', () => {
  const rows = [...Array(4000).keys()].map((step) => ({step, bytes: step === 2001 ? 9 : 1, otherBytes: null}));
  const {lines, top} = seriesLines(rows, 'step', ['bytes', 'otherBytes']);
  assert.ok(lines[0].points.some(({y}) => y === 9 / top));
  assert.deepEqual(lines[1].points, []);
});
