/** The panels below the map: who holds the bytes, values, allocations, advice, queries. */

import {copyButton, element, replace} from '../elements/dom.js';
import {numberText, sourceLineText, shareText} from '../elements/format.js';
import {Grid} from '../elements/grid.js';

/** @typedef {import('../plan/grouping.js').Origins} Origins */
/** @typedef {import('../plan/plan.js').Plan} Plan */
/** @typedef {import('../plan/plan.js').Space} Space */
/** @typedef {import('../elements/grid.js').GridColumn} GridColumn */
/** @typedef {'stack' | 'scope' | 'line'} StackBy */
/** @typedef {{cypher: string, command: string}} Provenance */

/** @type {[StackBy, string][]} */
export const STACKS = [
  ['scope', 'op scope'],
  ['stack', 'call stack'],
  ['line', 'source line'],
];

/**
 * Return the function that gives the path of a value, outermost part first.
 * @param {Plan} plan
 * @param {Origins} origins
 * @param {StackBy} by
 * @returns {(value: number) => {name: string, title: string}[]}
 */
export function pathsBy(plan, origins, by) {
  if (by === 'scope') {
    return (value) => origins.scope(value).map((part) => ({name: part, title: part}));
  }
  if (by === 'line') {
    return (value) => {
      const file = origins.file.text(value);
      const line = origins.line.integer(value);
      if (!file) return [];
      const whole = {name: file, title: sourceLineText(file, null)};
      return line < 0 ? [whole] : [whole, {name: `${file}:${line}`, title: `line ${line}`}];
    };
  }
  const {columns} = plan.frames;
  return (value) => {
    const frames = plan.stack(value).reverse();
    if (!frames.length && origins.sourceLine(value)) {
      return [{name: origins.sourceLine(value), title: sourceLineText(origins.file.text(value), origins.line.integer(value))}];
    }
    return frames.map((frame) => {
      const source = sourceLineText(columns.file.text(frame), columns.line.integer(frame));
      return {name: `${columns.function.text(frame)} ${source}`, title: `${columns.function.text(frame) || 'unnamed'} ${source}`};
    });
  };
}

/**
 * Make the lines that say what made a table and what repeats it.
 * @param {Provenance} texts
 * @returns {HTMLElement}
 */
export function provenance({cypher, command}) {
  return element(
    'details.provenance',
    null,
    element('summary', null, 'Cypher and command'),
    element('pre', null, command),
    copyButton('copy command', () => command),
    element('pre', null, cypher),
    copyButton('copy Cypher', () => cypher),
  );
}

/**
 * @param {Plan} plan
 * @param {Origins} origins
 * @param {() => Float64Array} shares the bytes that each value holds at the step in view
 * @param {{open: (value: number) => void, hover: (value: number | null) => void}} actions
 * @returns {Grid}
 */
export function valuesGrid(plan, origins, shares, {open, hover}) {
  const {columns} = plan.values;
  const roles = plan.allocations.column('role');
  /** @type {GridColumn[]} */
  const shown = [
    {name: 'value', kind: 'text', width: 2, cell: (row) => columns.label.text(row)},
    {name: 'atStep', title: 'at step', kind: 'bytes', cell: (row) => shares()[row] || null},
    {name: 'sizeBytes', title: 'size', kind: 'bytes', cell: (row) => plan.size[row]},
    {name: 'padding', kind: 'bytes', cell: (row) => (columns.denseBytes.at(row) === null ? null : plan.size[row] - columns.denseBytes.number(row))},
    {name: 'shape', kind: 'text', width: 1.5, cell: (row) => columns.shape.at(row)},
    {name: 'opcode', kind: 'text', width: 0.9, cell: (row) => columns.opcode.at(row)},
    {name: 'role', kind: 'text', width: 0.8, cell: (row) => (plan.holder[row] < 0 ? null : roles.at(plan.holder[row]))},
    {name: 'op', kind: 'text', width: 3, cell: (row) => origins.op.at(row)},
    {name: 'line', kind: 'text', width: 1.2, cell: (row) => sourceLineText(origins.file.at(row) === null ? null : origins.file.text(row), origins.line.integer(row)) || null},
    {name: 'from', kind: 'number', width: 0.6, cell: (row) => columns.liveFrom.at(row)},
    {name: 'until', kind: 'number', width: 0.6, cell: (row) => columns.liveUntil.at(row)},
  ];
  return new Grid({label: 'values', rows: plan.values.rows, columns: shown, sortBy: 'atStep', open, hover});
}

/**
 * @param {Plan} plan
 * @param {Space} space
 * @param {(allocation: number) => void} open
 * @returns {Grid}
 */
export function allocationsGrid(plan, space, open) {
  const {columns} = plan.allocations;
  const rows = space.allocations;
  const held = new Int32Array(plan.allocations.rows);
  for (const holder of plan.holder) if (holder >= 0) held[holder] += 1;
  /** @type {(name: string) => (row: number) => string | number | boolean | null} */
  const cell = (name) => (row) => columns[name].at(rows[row]);
  return new Grid({
    label: 'allocations',
    rows: rows.length,
    sortBy: 'sizeBytes',
    open: (row) => open(rows[row]),
    columns: [
      {name: 'number', title: 'allocation', kind: 'number', cell: cell('number')},
      {name: 'sizeBytes', title: 'size', kind: 'bytes', cell: cell('sizeBytes')},
      {name: 'peak', title: 'physical peak', kind: 'bytes', cell: cell('physicalPeakBytes')},
      {name: 'idle', title: 'idle at its peak', kind: 'bytes', cell: (row) => (columns.physicalPeakBytes.at(rows[row]) === null ? null : columns.sizeBytes.number(rows[row]) - columns.physicalPeakBytes.number(rows[row]))},
      {name: 'hole', title: 'largest hole', kind: 'bytes', cell: cell('largestHoleBytes')},
      {name: 'role', kind: 'text', cell: cell('role')},
      {name: 'parameter', kind: 'number', cell: cell('parameterNumber')},
      {name: 'shape', kind: 'text', width: 2, cell: cell('shape')},
      {name: 'values', kind: 'number', cell: (row) => held[rows[row]]},
    ],
  });
}

/**
 * Return what repeats the values that are live at a step.
 * @param {Provenance} liveAt its statement without the step, its command without step and limit
 * @param {number} step
 * @returns {Provenance}
 */
export function atStep({cypher, command}, step) {
  // names in comments and quotes may look like the parameter
  const filled = cypher.replace(/\/\/.*|'(?:[^'\\]|\\.)*'|\$step\b/g, (part) => (part === '$step' ? String(step) : part));
  return {cypher: filled, command: `${command} --step ${step} --limit 0`};
}

/**
 * @param {{id: string, columns: {name: string, type: string, isBytes: boolean}[], rows: any[][]}} answer
 * @param {((value: string) => void) | null} pin
 * @returns {Grid}
 */
export function answerGrid(answer, pin) {
  const valueIndex = answer.columns.findIndex((column) => column.name === 'value');
  return new Grid({
    label: answer.id,
    rows: answer.rows.length,
    isFiltered: answer.rows.length > 8,
    open: pin && valueIndex >= 0 ? (row) => pin(String(answer.rows[row][valueIndex])) : undefined,
    columns: answer.columns.map((column, index) => ({
      name: column.name,
      kind: column.isBytes ? 'bytes' : column.type === 'STRING' || column.type === 'BOOLEAN' ? 'text' : 'number',
      width: column.type === 'STRING' ? 1.8 : 1,
      cell: (/** @type {number} */ row) => answer.rows[row][index],
    })),
  });
}

/**
 * Show the queries: a list by theme, and the answer of the chosen one.
 * @param {HTMLElement} panel
 * @param {any[]} answers
 * @param {string} chosen
 * @param {(id: string) => void} choose
 * @param {(value: string) => void} pin
 */
export function showAnswers(panel, answers, chosen, choose, pin) {
  const answer = answers.find((each) => each.id === chosen) ?? answers[0];
  if (!answer) {
    replace(panel, element('p.faint', null, 'No query asks for a compilation alone.'));
    return;
  }
  const grid = answerGrid(answer, pin);
  replace(
    panel,
    element(
      'div.answers',
      null,
      element(
        'nav.themes',
        {'aria-label': 'queries'},
        answers.map((each) =>
          element('button', {type: 'button', 'aria-current': each.id === answer.id ? 'true' : null, title: each.answers, onclick: () => choose(each.id)}, each.id, element('span.faint', null, ` ${each.rows.length}`)),
        ),
      ),
      element(
        'div.answer',
        null,
        element('h2', null, answer.answers),
        element('p.faint', null, `${answer.title}. Bytes: ${answer.measure}. `, ...answer.notes.map((/** @type {string} */ note) => `${note} `)),
        provenance(answer),
        answer.rows.length ? grid.node : element('p', null, 'No rows.'),
      ),
    ),
  );
}

/**
 * Show what `advise` finds.
 * @param {HTMLElement} panel
 * @param {any[]} findings
 * @param {string[]} notes
 * @param {(value: string) => void} pin
 */
export function showFindings(panel, findings, notes, pin) {
  replace(
    panel,
    findings.length ? null : element('p', null, 'Nothing stands out.'),
    findings.map((finding) => {
      const meter = element('span.inner');
      meter.style.width = `${Math.min(100, finding.share * 100)}%`;
      return element(
        'details.finding',
        null,
        element(
          'summary',
          null,
          element('b', null, finding.title),
          element('span.meter', null, meter),
          element('span.figure', null, `${finding.saves}, ${shareText(finding.share)} of ${finding.measure === 'reserved' ? 'what is reserved' : 'the peak'}`),
        ),
        finding.doubt ? element('p', null, `Not certain: ${finding.doubt}.`) : null,
        element(
          'dl',
          null,
          Object.entries(finding.remedies).flatMap(([framework, remedy]) => [element('dt', null, framework), element('dd', null, String(remedy))]),
        ),
        provenance(finding),
        answerGrid(finding, pin).node,
        finding.rowCount > finding.rows.length ? element('p.faint', null, `the first ${finding.rows.length} of ${numberText(finding.rowCount)} rows`) : null,
      );
    }),
    notes.map((note) => element('p.faint', null, note)),
  );
}
