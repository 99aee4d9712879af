import assert from 'node:assert/strict';
import {test} from 'node:test';

import {commandOf} from '../../../report/page/service/query.js';
import {atStep} from '../../../report/page/panels/provenance.js';

test('a flag of a query is an option without argument', () => {
  const parameters = [{name: 'runA', type: 'STRING'}, {name: 'isLate', type: 'BOOLEAN'}, {name: 'isDonated', type: 'BOOLEAN'}];
  const command = commandOf({id: 'own/late', parameters}, {runA: 'a b', isLate: 'true', isDonated: 'false'});
  assert.equal(command, "xlagraph query own/late --run-a 'a b' --is-late --no-is-donated");
});

test('a step is set where the statement asks for it, not in names and comments', () => {
  const cypher = "MATCH (c {key: 'it\\'s $step'}) // $step\nWHERE $step >= 0 AND $steps";
  assert.deepEqual(atStep({cypher, command: 'xlagraph query x'}, 7), {
    cypher: "MATCH (c {key: 'it\\'s $step'}) // $step\nWHERE 7 >= 0 AND $steps",
    command: 'xlagraph query x --step 7 --limit 0',
  });
});
