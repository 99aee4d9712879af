/** The panels with advice and with query answers. */

import {isServed, loadPart} from '../data/parts.js';
import {element, replace} from '../elements/dom.js';
import {numberText, shareText} from '../elements/format.js';
import {Grid} from '../elements/grid.js';
import {provenance} from './provenance.js';

/**
 * The order of instructions that saves memory, and the bytes that are live at each of its steps:
 * none if it is not known, or is the order of the dump. The note says why, or how to compile it.
 * @typedef {{name: string | null, note: string | null, bytes: Float64Array}} OtherOrder
 */

/** Advice and answers about a compilation, from its part or loaded from the service. */
export class Answers {
  /** @param {import('../data/compilation.js').Compilation} compilation */
  constructor({key, part}) {
    this.key = key;
    /** @type {{findings: any[], notes: string[], answers: any[]} | null} */
    this.facts = null;
    /** @type {OtherOrder | null} */
    this.otherOrder = null;
    if (part.facts.answers) this.take(part);
    /** @type {unknown} the error if they cannot be loaded */
    this.failure = null;
  }

  /** Load advice and answers from the service if the part lacks them. */
  async load() {
    if (this.facts || !isServed()) return;
    try {
      this.take(await loadPart(`answers/${this.key}`));
    } catch (error) {
      this.failure = error;
    }
  }

  /** @param {import('../data/parts.js').Part} part */
  take({facts, tables}) {
    this.facts = {findings: facts.findings, notes: facts.notes, answers: facts.answers};
    const bytes = /** @type {Float64Array} */ (tables.otherOrder.column('liveBytes').cells);
    this.otherOrder = {...facts.otherOrder, bytes};
  }

  /** Return the line that is shown while advice and answers are missing. */
  missing() {
    if (this.failure) return element('p.error', {role: 'alert'}, String(this.failure));
    const text = isServed()
      ? 'loading …'
      : 'This file has advice and answers only for the largest compilations. For this one, run xlagraph advise or xlagraph query.';
    return element('p.faint', null, text);
  }
}

export class AdvicePanel {
  /**
   * @param {Answers} answers
   * @param {(value: string) => void} pin
   */
  constructor(answers, pin) {
    this.answers = answers;
    this.pin = pin;
    this.node = element('div');
    /** @type {object | null} the facts that are shown */
    this.shown = null;
  }

  update() {
    const {facts} = this.answers;
    if (facts && facts === this.shown) return;
    this.shown = facts;
    replace(this.node, facts ? findingsList(facts.findings, facts.notes, this.pin) : this.answers.missing());
  }
}

export class QueriesPanel {
  /**
   * @param {Answers} answers
   * @param {{choose: (id: string) => void, pin: (value: string) => void}} actions
   */
  constructor(answers, actions) {
    this.answers = answers;
    this.actions = actions;
    this.node = element('div');
    /** @type {string | null} the query that is shown */
    this.shown = null;
  }

  /** @param {string} query id; the first query is shown if it is unknown */
  update(query) {
    const {facts} = this.answers;
    if (facts && query === this.shown) return;
    this.shown = facts && query;
    replace(this.node, facts ? answerView(facts.answers, query, this.actions) : this.answers.missing());
  }
}

/**
 * @param {{id: string, columns: {name: string, type: string, isBytes: boolean}[], rows: any[][]}} answer
 * @param {(value: string) => void} pin
 * @returns {Grid}
 */
function answerGrid(answer, pin) {
  const valueIndex = answer.columns.findIndex((column) => column.name === 'value');
  return new Grid({
    label: answer.id,
    rows: answer.rows.length,
    isFiltered: answer.rows.length > 8,
    open: valueIndex >= 0 ? (row) => pin(String(answer.rows[row][valueIndex])) : undefined,
    columns: answer.columns.map((column, index) => ({
      name: column.name,
      kind: column.isBytes ? 'bytes' : column.type === 'STRING' || column.type === 'BOOLEAN' ? 'text' : 'number',
      width: column.type === 'STRING' ? 1.8 : 1,
      cell: (/** @type {number} */ row) => answer.rows[row][index],
    })),
  });
}

/**
 * Make the list of queries, and the answer of the chosen query.
 * @param {any[]} answers
 * @param {string} chosen
 * @param {{choose: (id: string) => void, pin: (value: string) => void}} actions
 * @returns {HTMLElement}
 */
function answerView(answers, chosen, {choose, pin}) {
  const answer = answers.find((each) => each.id === chosen) ?? answers[0];
  if (!answer) return element('p.faint', null, 'There are no queries about a single compilation.');
  const queries = answers.map((each) =>
    element('button', {type: 'button', 'aria-current': each.id === answer.id ? 'true' : null, title: each.answers, onclick: () => choose(each.id)}, each.id, element('span.faint', null, ` ${each.rows.length}`)),
  );
  return element(
    'div.answers',
    null,
    element('nav.themes', {'aria-label': 'queries'}, queries),
    element(
      'div.answer',
      null,
      element('h2', null, answer.answers),
      element('p.faint', null, `${answer.title}. Bytes: ${answer.measure}. `, ...answer.notes.map((/** @type {string} */ note) => `${note} `)),
      provenance(answer),
      answer.rows.length ? answerGrid(answer, pin).node : element('p', null, 'No rows.'),
    ),
  );
}

/**
 * Make the list of the findings of `advise`.
 * @param {any[]} findings
 * @param {string[]} notes
 * @param {(value: string) => void} pin
 * @returns {HTMLElement[]}
 */
function findingsList(findings, notes, pin) {
  return [
    ...(findings.length ? findings.map((each) => finding(each, pin)) : [element('p', null, 'No findings.')]),
    ...notes.map((note) => element('p.faint', null, note)),
  ];
}

/**
 * @param {any} found
 * @param {(value: string) => void} pin
 */
function finding(found, pin) {
  const meter = element('span.inner');
  meter.style.width = `${Math.min(100, found.share * 100)}%`;
  const whole = found.measure === 'reserved' ? 'the reserved bytes' : 'the peak';
  const isCut = found.rowCount > found.rows.length;
  return element(
    'details.finding',
    null,
    element(
      'summary',
      null,
      element('b', null, found.title),
      element('span.meter', null, meter),
      element('span.figure', null, `${found.saves}, ${shareText(found.share)} of ${whole}`),
    ),
    found.doubt ? element('p', null, `Not certain: ${found.doubt}.`) : null,
    element(
      'dl',
      null,
      Object.entries(found.remedies).flatMap(([framework, remedy]) => [element('dt', null, framework), element('dd', null, String(remedy))]),
    ),
    provenance(found),
    answerGrid(found, pin).node,
    isCut ? element('p.faint', null, `the first ${found.rows.length} of ${numberText(found.rowCount)} rows`) : null,
  );
}
