/** Page that runs a read-only Cypher statement. */

import {element} from '../elements/dom.js';
import {askCypher} from './api.js';
import {fillLater, showPage} from './layout.js';
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
      const given = parameters.value.trim() ? JSON.parse(parameters.value) : {};
      return answerTable('answer', await askCypher(statement.value, given));
    });
  statement.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
  });
  showPage(
    'Cypher',
    element('h1', null, 'Ask in Cypher'),
    element('p.faint', null, 'Statements can only read. Press Ctrl+Enter or the button to run.'),
    statement,
    element('div.line', null, element('label.parameter', null, element('span', null, 'parameters'), parameters), element('button.small', {type: 'button', onclick: run}, 'run')),
    answer,
  );
}
