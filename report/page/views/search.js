/** Find the values that are not faded: of a group, of a branch of the icicle, or by words. */

import {counted, humanBytes} from '../elements/format.js';

/** @typedef {import('../data/grouping.js').Origins} Origins */

/** @typedef {{matches: Uint8Array | null, count: number, bytes: number}} Found */

/**
 * Return the values that are not faded (null for all), with their count and bytes.
 * @param {Origins} origins
 * @param {{words: string, group: number, path: string[]}} wanted a group of -1 is any
 * @param {Uint8Array} groupOf
 * @param {(value: number) => {name: string}[]} pathOf
 * @returns {Found}
 */
export function findValues(origins, {words, group, path}, groupOf, pathOf) {
  const {compilation} = origins;
  const test = words.trim() ? matcher(words.trim()) : null;
  if (!test && group < 0 && !path.length) return {matches: null, count: 0, bytes: 0};
  const matches = new Uint8Array(compilation.values.rows);
  let [count, bytes] = [0, 0];
  for (let row = 0; row < matches.length; row += 1) {
    if (group >= 0 && groupOf[row] !== group) continue;
    if (path.length && !startsWith(pathOf(row), path)) continue;
    if (test && !test(searchText(origins, row))) continue;
    matches[row] = 1;
    count += 1;
    bytes += compilation.size[row];
  }
  return {matches, count, bytes};
}

/**
 * @param {Origins} origins
 * @param {number} row
 */
function searchText(origins, row) {
  const {columns} = origins.compilation.values;
  const words = [columns.label, origins.op, columns.opcode, columns.shape].map((column) => column.text(row));
  return [...words, origins.sourceLine(row)].join('\n');
}

/**
 * @param {{name: string}[]} path
 * @param {string[]} start
 */
function startsWith(path, start) {
  if (!path.length) return start.length === 1 && start[0] === 'unattributed';
  return start.every((name, index) => path[index]?.name === name);
}

/**
 * Return the words about a search: how much was found, or what is wrong with the expression.
 * @param {string} words
 * @param {Found} found
 */
export function searchedText(words, {count, bytes}) {
  if (!words.trim()) return '';
  if (expressionOf(words.trim()) === null) return 'not a regular expression';
  return count ? `${counted(count, 'value')}, ${humanBytes(bytes)}` : 'nothing found';
}

/**
 * Return the expression between slashes; undefined for plain words, null if it is not valid.
 * @param {string} words
 * @returns {RegExp | null | undefined}
 */
function expressionOf(words) {
  if (words.length < 3 || !words.startsWith('/') || !words.endsWith('/')) return undefined;
  try {
    return new RegExp(words.slice(1, -1), 'i');
  } catch {
    return null;
  }
}

/**
 * Return a test for words, or for a regular expression between slashes.
 * @param {string} words
 * @returns {(text: string) => boolean}
 */
function matcher(words) {
  const pattern = expressionOf(words);
  if (pattern === null) return () => false;
  if (pattern) return (text) => pattern.test(text);
  const wanted = words.toLowerCase();
  return (text) => text.toLowerCase().includes(wanted);
}
