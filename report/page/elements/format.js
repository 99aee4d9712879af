/** Format byte counts, shares and names like the command line. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const NUMBER = new Intl.NumberFormat('en-US');

/**
 * Write a byte count with a binary unit: `512 B`, `1.5 MiB`, `-3.0 KiB`.
 * @param {number | null | undefined} bytes
 * @returns {string}
 */
export function humanBytes(bytes) {
  if (bytes === null || bytes === undefined || Number.isNaN(bytes)) return 'unknown';
  let magnitude = Math.abs(bytes);
  let power = 0;
  // 1023.95 KiB would round to 1024.0 KiB: take the next unit
  while (Number(magnitude.toFixed(power ? 1 : 0)) >= 1024 && power < UNITS.length - 1) {
    magnitude /= 1024;
    power += 1;
  }
  const sign = bytes < 0 ? '-' : '';
  return `${sign}${magnitude.toFixed(power ? 1 : 0)} ${UNITS[power]}`;
}

/**
 * Write a difference with its sign.
 * @param {number} bytes
 * @returns {string}
 */
export function growthText(bytes) {
  return bytes > 0 ? `+${humanBytes(bytes)}` : humanBytes(bytes).replace('-', '−');
}

/**
 * Write a share as a percentage: `62.0%`.
 * @param {number} share
 * @returns {string}
 */
export function shareText(share) {
  return `${(share * 100).toFixed(1)}%`;
}

/**
 * Write a whole number with commas.
 * @param {number} number
 * @returns {string}
 */
export function numberText(number) {
  return NUMBER.format(number);
}

/**
 * Write a count and its noun: `1 step`, `2 steps`.
 * @param {number} count
 * @param {string} noun
 * @returns {string}
 */
export function counted(count, noun) {
  return `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Shorten a text to a number of characters, and keep its end.
 * @param {string} text
 * @param {number} most
 * @returns {string}
 */
export function shortened(text, most) {
  if (text.length <= most) return text;
  const tail = Math.floor(most * 0.6);
  return `${text.slice(0, most - tail - 1)}…${text.slice(-tail)}`;
}

/**
 * Write a source line without the folders of its file.
 * @param {string | null} file
 * @param {number | null} line
 * @returns {string}
 */
export function sourceLineText(file, line) {
  if (!file) return '';
  const name = file.slice(file.lastIndexOf('/') + 1);
  return line === null ? name : `${name}:${line}`;
}

const ROLE_TITLES = new Map([
  ['liveOut', 'live-out'],
  ['threadLocal', 'thread-local'],
]);

/**
 * Write the role of an allocation for people.
 * @param {string} role
 * @returns {string}
 */
export function roleTitle(role) {
  return ROLE_TITLES.get(role) ?? role;
}

/**
 * Quote an argument for a shell.
 * @param {string} text
 * @returns {string}
 */
export function shellQuoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}
