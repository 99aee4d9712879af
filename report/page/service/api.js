/** Requests to the service; a rejected request is an error with the service's message. */

/** @typedef {Record<string, any>} Row */
/** @typedef {{rows: Row[], notes: string[]}} Answer */

/**
 * @typedef {object} Parameter
 * @property {string} name
 * @property {'STRING' | 'INTEGER' | 'FLOAT' | 'BOOLEAN'} type
 * @property {boolean} required
 * @property {string | number | boolean | null} default
 * @property {string} description
 */

/**
 * @typedef {object} Query
 * @property {string} id
 * @property {string} kind
 * @property {string} title
 * @property {string} question
 * @property {string} measure
 * @property {Parameter[]} parameters
 * @property {{name: string, type: string, description: string}[]} columns
 * @property {string} text
 */

/** Path prefix of the service behind a proxy; empty without a proxy. */
export const root = () => document.querySelector('.pages')?.getAttribute('data-root') ?? '';

/**
 * @param {string} path below `/api/`
 * @param {Record<string, string>} [parameters]
 * @returns {Promise<Answer>}
 */
export async function ask(path, parameters = {}) {
  const asked = new URLSearchParams(parameters);
  return answerOf(await fetch(`${root()}/api/${path}${asked.size ? `?${asked}` : ''}`));
}

/**
 * @param {string} statement
 * @param {Record<string, unknown>} parameters
 * @returns {Promise<Answer>}
 */
export async function askCypher(statement, parameters) {
  const request = {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({statement, parameters}),
  };
  return answerOf(await fetch(`${root()}/api/cypher`, request));
}

/**
 * Return a number as it was sent if it is an integer that a number cannot represent.
 * @param {string} _
 * @param {unknown} cell
 * @param {{source?: string}} [context] of browsers that pass it
 */
export function exactInteger(_, cell, context) {
  const isExact = typeof cell !== 'number' || Number.isSafeInteger(cell) || !/^-?\d+$/.test(context?.source ?? '');
  return isExact ? cell : context?.source;
}

/**
 * @param {Response} response
 * @returns {Promise<Answer>}
 */
async function answerOf(response) {
  const found = JSON.parse(await response.text(), exactInteger);
  if (!response.ok) throw new Error(found.error ?? response.statusText);
  return {rows: found, notes: JSON.parse(response.headers.get('X-Xlagraph-Notes') ?? '[]')};
}
