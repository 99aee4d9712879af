/** Page that runs a read-only Cypher statement. */

import {element} from '../elements/dom.js';
import {askCypher} from './api.js';
import {fillLater, onCtrlEnter, showPage} from './layout.js';
import {answerTable} from './rows.js';

const EXAMPLE = `MATCH (r:Run)-[:COMPILED]->(c:Compilation)
RETURN r.name AS run, c.key AS compilation, c.reservedBytes AS reservedBytes
ORDER BY reservedBytes DESC LIMIT 20`;

export function showCypher() {
  const statement = /** @type {HTMLTextAreaElement} */ (
    element('textarea.statement', {rows: 8, spellcheck: 'false', 'aria-label': 'statement'}, EXAMPLE)
  );
  const parameters = /** @type {HTMLInputElement} */ (
    element('input', {type: 'search', placeholder: '{"name": "value"}', 'aria-label': 'parameters as JSON'})
  );
  const answer = element('div.answer', {'aria-live': 'polite'});
  const run = () =>
    void fillLater(answer, async () => {
      const given = parametersIn(parameters.value);
      return answerTable('answer', await askCypher(statement.value, given));
    });
  for (const field of [statement, parameters]) onCtrlEnter(field, run);
  showPage(
    'Cypher',
    element('h1', null, 'Ask in Cypher'),
    element('p.faint', null, 'Statements can only read. Press Ctrl+Enter or the button to run.'),
    statement,
    element('div.line', null, element('label.parameter', null, element('span', null, 'parameters'), parameters), element('button.small', {type: 'button', onclick: run}, 'run')),
    answer,
  );
}

/**
 * @param {string} text
 * @returns {Record<string, unknown>}
 */
function parametersIn(text) {
  if (!text.trim()) return {};
  try {
    const given = JSON.parse(text);
    if (given !== null && typeof given === 'object' && !Array.isArray(given)) return given;
  } catch {
    // one message for all that is not an object
  }
  throw new Error('The parameters are not a JSON object such as {"name": "value"}.');
}
