/** The waterfall: a bar for each group that grew or shrank, between the totals. */

import {element, replace} from '../elements/dom.js';
import {growthText, humanBytes} from '../elements/format.js';

/**
 * @typedef {object} Bar
 * @property {string} name
 * @property {string} title
 * @property {'total' | 'group' | 'rest'} kind
 * @property {number} a bytes before
 * @property {number} b bytes after
 * @property {number} from start of the bar: bytes of all bars above it
 * @property {number} to
 */

const SHOWN = 12;

/**
 * Return the bars: the total before, the groups that changed most, all others, the total after.
 * @param {{name: string, title: string, a: number, b: number}[]} groups largest change first
 * @param {string} before
 * @param {string} after
 * @returns {Bar[]}
 */
export function waterfallBars(groups, before, after) {
  const changed = groups.filter(({a, b}) => a !== b);
  const shown = changed.slice(0, changed.length === SHOWN + 1 ? SHOWN + 1 : SHOWN);
  const rest = groups.filter((group) => !shown.includes(group));
  const sum = (/** @type {{a: number, b: number}[]} */ items, /** @type {'a' | 'b'} */ side) => items.reduce((total, item) => total + item[side], 0);
  const totalA = sum(groups, 'a');
  /** @type {Bar[]} */
  const bars = [{name: '', title: before, kind: 'total', a: totalA, b: totalA, from: 0, to: totalA}];
  let at = totalA;
  for (const {name, title, a, b} of shown) {
    bars.push({name, title, kind: 'group', a, b, from: at, to: at + b - a});
    at += b - a;
  }
  if (rest.length) {
    const [a, b] = [sum(rest, 'a'), sum(rest, 'b')];
    bars.push({name: 'everything else', title: `everything else (${rest.length})`, kind: 'rest', a, b, from: at, to: at + b - a});
    at += b - a;
  }
  bars.push({name: '', title: after, kind: 'total', a: at, b: at, from: 0, to: at});
  return bars;
}

/**
 * @param {HTMLElement} root
 * @param {Bar[]} bars
 * @param {string} chosen
 * @param {(name: string) => void} choose
 */
export function showWaterfall(root, bars, chosen, choose) {
  const highest = Math.max(1, ...bars.map((bar) => Math.max(bar.from, bar.to)));
  // if little changes in much, the scale begins near the bytes that all bars share
  const changes = bars.filter((bar) => bar.kind !== 'total');
  const lowest = Math.min(...bars.map((bar) => (bar.kind === 'total' ? bar.to : Math.min(bar.from, bar.to))));
  const spread = highest - lowest;
  const start = changes.length && lowest > 3 * spread ? Math.max(0, lowest - spread) : 0;
  const share = (/** @type {number} */ bytes) => `${((bytes - start) / (highest - start || 1)) * 100}%`;
  replace(
    root,
    start ? element('p.faint', null, `The scale begins at ${humanBytes(start)}.`) : null,
    bars.map((bar) => {
      const growth = bar.to - bar.from;
      const drawn = element(`span.bar.${bar.kind === 'total' ? 'total' : growth > 0 ? 'grew' : 'shrank'}`);
      const low = bar.kind === 'total' ? start : Math.min(bar.from, bar.to);
      drawn.style.left = share(low);
      drawn.style.width = `max(1px, calc(${share(Math.max(bar.from, bar.to))} - ${share(low)}))`;
      return element(
        bar.kind === 'total' ? 'div.waterbar.total' : 'button.waterbar',
        bar.kind === 'total'
          ? null
          : {type: 'button', 'aria-pressed': chosen === bar.name ? 'true' : 'false', onclick: () => choose(bar.name)},
        element('span.name', {title: bar.title}, bar.title),
        element('span.track', null, drawn),
        element('span.figure', null, bar.kind === 'total' ? humanBytes(bar.to) : growthText(growth)),
      );
    }),
  );
}
