import assert from 'node:assert/strict';
import {test} from 'node:test';

import {byteTicks, ticks} from '../../../report/page/plots/axis.js';
import {stepOfShare} from '../../../report/page/plots/overlaid_timelines.js';
import {columnSteps, largestStep} from '../../../report/page/plots/timeline.js';
import {waterfallBars} from '../../../report/page/plots/waterfall.js';

test('ticks are round and between the bounds', () => {
  assert.deepEqual(ticks(3, 47, 5), [10, 20, 30, 40]);
  assert.deepEqual(ticks(0, 3, 9, 1), [0, 1, 2, 3]);
});

test('ticks of bytes are round in the unit in which they are written', () => {
  const mebibyte = 2 ** 20;
  assert.deepEqual(byteTicks(0, 45 * mebibyte, 5), [0, 10, 20, 30, 40].map((each) => each * mebibyte));
  assert.deepEqual(byteTicks(0, 1600 * mebibyte, 9), [0, 512, 1024, 1536].map((each) => each * mebibyte));
});

test('no peak is lost where many steps share a column of pixels', () => {
  const curve = new Float64Array(1000).fill(1);
  curve[537] = 9;
  assert.ok(columnSteps(curve, 0, 1000, 10).includes(537));
  assert.deepEqual([...columnSteps(curve, 500, 502, 4)], [500, 500, 501, 501]);
});

test('of equal steps the first is the largest', () => {
  assert.equal(largestStep(Float64Array.of(1, 3, 3, 2), 0, 3), 1);
  assert.equal(largestStep(Float64Array.of(1, 3, 3, 2), 2, 99), 2);
});

test('a share of a schedule stands for a step of it', () => {
  const side = {curve: new Float64Array(4), reserved: 0};
  assert.deepEqual([-0.1, 0, 0.49, 0.5, 1, 1.1].map((share) => stepOfShare(side, share)), [0, 0, 1, 2, 3, 3]);
});

test('the bars of a waterfall begin where the one above ends, and all are counted', () => {
  const groups = Array.from({length: 20}, (_, index) => ({name: `${index}`, title: `${index}`, a: 10, b: 30 - index}));
  const bars = waterfallBars(groups, 'before', 'after');
  assert.deepEqual([bars[0].to, bars.at(-1).to], [200, 410]);
  for (const [index, bar] of bars.slice(1, -1).entries()) assert.equal(bar.from, bars[index].to);
  assert.equal(bars.at(-2).title, 'everything else (8)');
});
