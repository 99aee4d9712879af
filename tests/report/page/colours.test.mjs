import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

import {OTHER, PALETTE, UNKNOWN} from '../../../report/page/data/grouping.js';
import {LEAST_CONTRAST, TINT, boxColours, contrast, fadedBoxColours, hexOf, labelColour, luminance, mixed, pixelOf} from '../../../report/page/plots/colours.js';

const STYLE = readFileSync(new URL('../../../report/page/page.css', import.meta.url), 'utf8');

/** Return the colours of a theme, as the style sheet has them. */
function inkOf(theme) {
  const found = STYLE.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g);
  const ink = Object.fromEntries(Array.from(found, ([, name, light, dark]) => [name, theme === 'light' ? light : dark]));
  return {...ink, theme};
}

test('colours become pixels, and those of the style sheet hexadecimal', () => {
  assert.equal(hexOf('rgb(255, 0, 16)'), '#ff0010');
  assert.equal(pixelOf('#ff0010'), 0xff1000ff);
  assert.equal(mixed('#ffffff', 0.5, '#000000'), '#808080');
});

test('contrast is that of WCAG', () => {
  assert.deepEqual(['#000000', '#ffffff'].map(luminance), [0, 1]);
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#777777', '#ffffff').toFixed(2), '4.48');
});

test('text is white on dark boxes and black on light ones', () => {
  assert.equal(labelColour('#0072B2'), '#ffffff');
  assert.equal(labelColour('#F0E442'), '#000000');
});

test('a preferred colour is taken only where it can be read', () => {
  assert.equal(labelColour('#ffffff', '#555555'), '#555555');
  assert.equal(labelColour('#808080', '#555555'), '#000000');
});

test('black or white can be read on every colour', () => {
  for (let grey = 0; grey < 256; grey += 1) {
    const fill = `#${grey.toString(16).padStart(2, '0').repeat(3)}`;
    assert.ok(contrast(fill, labelColour(fill)) >= LEAST_CONTRAST, fill);
  }
});

for (const theme of ['light', 'dark']) {
  const ink = inkOf(theme);
  const colours = [...PALETTE, OTHER[theme], UNKNOWN[theme]];

  test(`labels can be read on boxes of every colour and tone, plain and faded: ${theme}`, () => {
    for (const {fills, labels} of [boxColours(colours, ink), fadedBoxColours(colours, ink)]) {
      assert.equal(labels.length, 3 * colours.length);
      for (const [index, fill] of fills.entries()) assert.ok(contrast(fill, labels[index]) >= LEAST_CONTRAST, `${labels[index]} on ${fill}`);
    }
  });

  test(`text can be read on the tinted scopes of the icicle: ${theme}`, () => {
    for (const colour of colours) {
      const fill = mixed(ink.idle, TINT, colour);
      assert.ok(contrast(fill, ink.text) >= LEAST_CONTRAST, `${ink.text} on ${fill}`);
    }
  });

  test(`lines of trends and comparisons can be seen on the plot, and differ: ${theme}`, () => {
    const series = [1, 2, 3, 4, 5].map((number) => ink[`series-${number}`]);
    assert.equal(new Set(series).size, 5);
    for (const line of [ink.before, ink.after, ...series]) assert.ok(contrast(ink.plot, line) >= 3, `${line} on ${ink.plot}`);
  });
}
