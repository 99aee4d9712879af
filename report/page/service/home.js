/** Page of all runs: their bytes, one module over all runs, and a choice of two to compare. */

import {choice, element} from '../elements/dom.js';
import {counted, humanBytes} from '../elements/format.js';
import {ask, root} from './api.js';
import {fillLater, showPage} from './layout.js';
import {answerTable, seriesPlot} from './rows.js';

/** @typedef {import('./api.js').Answer} Answer */
/** @typedef {import('./api.js').Row} Row */

/**
 * Return the address of the page of a run or compilation, or of a comparison of two.
 * @param {...string} names
 * @returns {string}
 */
export function viewAddress(...names) {
  const path = names.map((name) => encodeURIComponent(name)).join('//');
  return names.length === 2 ? `${root()}/compare/${path}/` : `${root()}/view/${path}/`;
}

/** Milliseconds between two requests for new compilations. */
const POLL_MS = 5000;

/** Show the runs and compilations, and update them after each ingest. */
export async function showHome() {
  let shown = await askAll();
  showLists(...shown);
  const poll = async () => {
    try {
      const now = document.hidden ? shown : await askAll();
      if (stateOf(now) !== stateOf(shown)) {
        const top = scrollY;
        showLists(...(shown = now));
        scrollTo(0, top);
      }
    } catch {
      // the service is down or busy: keep the page, and retry with the next request
    }
    setTimeout(poll, POLL_MS);
  };
  setTimeout(poll, POLL_MS);
}

/** @returns {Promise<[Answer, Answer]>} the runs and the compilations */
const askAll = () => Promise.all([ask('runs'), ask('compilations')]);

/**
 * Return a text that changes if the lists change.
 * @param {[Answer, Answer]} lists
 * @returns {string}
 */
const stateOf = (lists) => JSON.stringify(lists.map((list) => list.rows));

/**
 * @param {Answer} runs
 * @param {Answer} compilations
 */
function showLists(runs, compilations) {
  const sums = sumsByRun(compilations.rows);
  const rows = runs.rows.map((run) => ({
    run: run.run,
    compilations: run.compilations,
    reservedBytes: sums.get(run.run)?.reserved ?? null,
    largestBytes: sums.get(run.run)?.largest ?? null,
    tags: (run.tags ?? []).join(', '),
    ingestedAt: run.ingestedAt,
  }));
  const names = rows.map((row) => row.run);
  showPage(
    'Runs',
    element('h1', null, 'Runs'),
    element('p.faint', null, `${counted(rows.length, 'run')}, ${counted(compilations.rows.length, 'compilation')}. Open one to see its memory.`),
    answerTable('runs', {rows, notes: []}, {sortBy: 'reservedBytes', most: 10, open: (row) => location.assign(viewAddress(row.run))}),
    names.length > 1 ? comparing(names) : null,
    element('h2', null, 'Compilations'),
    answerTable('compilations', {rows: compilations.rows.map(shortened), notes: compilations.notes}, {
      sortBy: 'reservedBytes',
      most: 10,
      open: (row) => location.assign(viewAddress(row.compilation)),
    }),
    trends(compilations.rows),
  );
}

/**
 * Return the columns that distinguish compilations.
 * @param {Row} row
 * @returns {Row}
 */
function shortened({compilation, module, values, reservedBytes, physicalPeakBytes, logicalPeakBytes}) {
  return {compilation, module, reservedBytes, physicalPeakBytes, logicalPeakBytes, values};
}

/**
 * @param {Row[]} compilations
 * @returns {Map<string, {reserved: number, largest: number}>}
 */
function sumsByRun(compilations) {
  /** @type {Map<string, {reserved: number, largest: number}>} */
  const sums = new Map();
  for (const {run, reservedBytes} of compilations) {
    const sum = sums.get(run) ?? {reserved: 0, largest: 0};
    sum.reserved += reservedBytes ?? 0;
    sum.largest = Math.max(sum.largest, reservedBytes ?? 0);
    sums.set(run, sum);
  }
  return sums;
}

/**
 * Make the fields that choose two runs to compare.
 * @param {string[]} names
 * @returns {HTMLElement}
 */
function comparing(names) {
  const chosen = {before: names[0], after: names[1]};
  const choices = names.map((name) => /** @type {[string, string]} */ ([name, name]));
  return element(
    'section.line',
    {'aria-label': 'compare'},
    element('h2', null, 'Compare'),
    choice('before', choices, chosen.before, (name) => (chosen.before = name)),
    choice('after', choices, chosen.after, (name) => (chosen.after = name)),
    element('button.small', {type: 'button', onclick: () => location.assign(viewAddress(chosen.before, chosen.after))}, 'compare'),
  );
}

/**
 * Make the trend of one module over the runs.
 * @param {Row[]} compilations
 * @returns {HTMLElement | null}
 */
function trends(compilations) {
  /** @type {Map<string, number>} */
  const largest = new Map();
  for (const {module, reservedBytes} of compilations) {
    if (module) largest.set(module, Math.max(largest.get(module) ?? 0, reservedBytes ?? 0));
  }
  const modules = [...largest].sort((a, b) => b[1] - a[1]);
  if (!modules.length) return null;
  const trend = element('div');
  const show = (/** @type {string} */ module) =>
    void fillLater(trend, async () => {
      const answer = await ask('query/trend/modules', {module});
      return seriesPlot(`${module} over runs`, answer.rows) ?? answerTable(module, answer);
    });
  show(modules[0][0]);
  const choices = modules.map(([name, bytes]) => /** @type {[string, string]} */ ([name, `${name} (${humanBytes(bytes)})`]));
  return element(
    'section',
    {'aria-label': 'trend'},
    element('div.line', null, element('h2', null, 'One module over all runs'), choice('module', choices, modules[0][0], show)),
    trend,
  );
}
