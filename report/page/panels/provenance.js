/** The Cypher and the command that produce a table. */

import {copyButton, element} from '../elements/dom.js';

/** @typedef {{cypher: string, command: string}} Provenance */

/**
 * Make the lines with the Cypher and a table's command.
 * @param {Provenance} texts
 * @returns {HTMLElement}
 */
export function provenance({cypher, command}) {
  return element(
    'details.provenance',
    null,
    element('summary', null, 'Cypher and command'),
    element('pre', {tabindex: 0}, command),
    copyButton('copy command', () => command),
    element('pre', {tabindex: 0}, cypher),
    copyButton('copy Cypher', () => cypher),
  );
}

/**
 * Return the Cypher and the command that list the values live at a step.
 * @param {Provenance} liveAt its statement without the step, its command without step and limit
 * @param {number} step
 * @returns {Provenance}
 */
export function atStep({cypher, command}, step) {
  // comments and quoted strings may contain $step
  const filled = cypher.replace(/\/\/.*|'(?:[^'\\]|\\.)*'|\$step\b/g, (part) => (part === '$step' ? String(step) : part));
  return {cypher: filled, command: `${command} --step ${step} --limit 0`};
}
