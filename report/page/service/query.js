/** Page of a canned query: a form for its parameters, the answer, the Cypher and the command. */

import {copyButton, element, replace} from '../elements/dom.js';
import {shellQuoted} from '../elements/format.js';
import {ask} from './api.js';
import {fillLater, onCtrlEnter, showPage} from './layout.js';
import {answerTable, seriesPlot} from './rows.js';

/** @typedef {import('./api.js').Query} Query */
/** @typedef {import('./api.js').Parameter} Parameter */

/** @param {string} id */
export async function showQuery(id) {
  const queries = /** @type {Query[]} */ ((await ask('queries')).rows);
  const query = queries.find((each) => each.id === id);
  if (!query) throw new Error(`there is no query ${id}`);
  const given = new URLSearchParams(location.search);
  const names = new Map([
    ['compilation', (await ask('compilations')).rows.map((row) => String(row.compilation))],
    ['run', (await ask('runs')).rows.map((row) => String(row.run))],
  ]);
  const fields = query.parameters.map((parameter) => field(parameter, given.get(parameter.name), names));
  const answer = element('div.answer', {'aria-live': 'polite'});
  const run = () => {
    const parameters = parametersOf(query, fields);
    history.replaceState(null, '', `?${new URLSearchParams(parameters)}`);
    void fillLater(answer, async () => {
      const found = await ask(`query/${query.id}`, parameters);
      const plot = query.kind === 'series' ? seriesPlot(query.title, found.rows) : null;
      return [plot, ...answerTable(query.title, found)];
    });
  };
  const form = element(
    'form.parameters',
    {
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        run();
      },
    },
    fields.map(({node}) => node),
    element('button.small', {type: 'submit'}, 'ask'),
  );
  onCtrlEnter(form, run);
  showPage(
    query.title,
    element('h1', null, query.question),
    element('p.faint', null, `${query.title}. Bytes: ${query.measure}.`),
    form,
    answer,
    element('div.line', null, copyButton('copy the command', () => commandOf(query, parametersOf(query, fields))), copyButton('copy the Cypher', () => query.text)),
    element('details', null, element('summary', null, 'Cypher'), element('pre', {tabindex: 0}, query.text)),
  );
  const missing = query.parameters.some((item) => item.required && !given.has(item.name));
  if (!missing) run();
  else replace(answer, element('p.faint', null, 'Fill in the required fields.'));
}

/**
 * @param {Parameter} parameter
 * @param {string | null} given
 * @param {Map<string, string[]>} names
 * @returns {{name: string, node: HTMLElement, value: () => string}}
 */
function field(parameter, given, names) {
  const {name, type, description} = parameter;
  const start = given ?? (parameter.default === null ? '' : String(parameter.default));
  if (type === 'BOOLEAN') {
    const box = /** @type {HTMLInputElement} */ (element('input', {type: 'checkbox', checked: start === 'true'}));
    return {name, node: labelled(name, description, box), value: () => String(box.checked)};
  }
  const offered = names.get(name.replace(/^run[AB]$/, 'run')) ?? [];
  const listId = offered.length ? `names-${name}` : null;
  const input = /** @type {HTMLInputElement} */ (
    element('input', {
      type: type === 'STRING' ? 'search' : 'number',
      step: type === 'FLOAT' ? 'any' : null,
      value: start,
      list: listId,
      placeholder: name === 'compilation' ? 'compilation with the most reserved bytes' : null,
      required: parameter.required,
    })
  );
  const list = listId ? element('datalist', {id: listId}, offered.slice(0, 500).map((value) => element('option', {value}))) : null;
  return {name, node: labelled(name, description, input, list), value: () => input.value};
}

/**
 * @param {string} name
 * @param {string} description
 * @param {...(HTMLElement | null)} nodes
 * @returns {HTMLElement}
 */
function labelled(name, description, ...nodes) {
  return element('label.parameter', {title: description}, element('span', null, name), nodes);
}

/**
 * @param {Query} query
 * @param {{name: string, value: () => string}[]} fields
 * @returns {Record<string, string>}
 */
function parametersOf(query, fields) {
  const defaults = new Map(query.parameters.map((item) => [item.name, item.default]));
  const given = fields.filter(({name, value}) => value() !== '' && value() !== String(defaults.get(name) ?? ''));
  return Object.fromEntries(given.map(({name, value}) => [name, value()]));
}

/**
 * Return the command line that repeats a query.
 * @param {Query} query
 * @param {Record<string, string>} parameters
 * @returns {string}
 */
export function commandOf(query, parameters) {
  const types = new Map(query.parameters.map(({name, type}) => [name, type]));
  const options = Object.entries(parameters).map(([name, value]) => {
    const option = name.replace(/(?<=[a-z0-9])([A-Z])/g, '-$1').toLowerCase();
    if (types.get(name) === 'BOOLEAN') return value === 'true' ? `--${option}` : `--no-${option}`;
    return `--${option} ${shellQuoted(value)}`;
  });
  return ['xlagraph query', query.id, ...options].join(' ');
}
