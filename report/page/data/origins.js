/** The op, scope and source line that each value is attributed to. */

import {sourceLineText} from '../elements/format.js';
import {foldScopes, scopeParts} from './scopes.js';

/** @typedef {import('./compilation.js').Compilation} Compilation */
/** @typedef {import('./scopes.js').FoldedScope} FoldedScope */
/** @typedef {import('./scopes.js').ScopePart} ScopePart */
/** @typedef {'stack' | 'scope' | 'line'} PathBy */

/** Paths along which values can be summed, with their titles. @type {[PathBy, string][]} */
export const PATHS = [
  ['scope', 'op scope'],
  ['stack', 'call stack'],
  ['line', 'source line'],
];

/** @type {ScopePart[]} */
const NO_PARTS = [];

export class Origins {
  /** @param {Compilation} compilation */
  constructor(compilation) {
    this.compilation = compilation;
    const {columns} = compilation.values;
    this.op = columns.attributedOpName;
    this.file = columns.attributedFile;
    this.line = columns.attributedLine;
    this.userFile = columns.userFile;
    this.userLine = columns.userLine;
    /** The rule of attribution: own, inside, operand or reader. */
    this.rule = columns.attribution;
    /** @type {Map<string, ScopePart[]>} */
    this.parts = new Map();
    /** @type {Map<string, FoldedScope> | null} */
    this.folded = null;
  }

  /**
   * Return the parts of the op name of a value; none if the op is unknown.
   * @param {number} value
   * @returns {ScopePart[]}
   */
  scope(value) {
    const op = this.op.text(value);
    if (!op) return NO_PARTS;
    let parts = this.parts.get(op);
    if (!parts) {
      parts = scopeParts(op).map((part) => ({name: part, title: part}));
      this.parts.set(op, parts);
    }
    return parts;
  }

  /**
   * Return the op name of a value with repeated layers folded; null if the op is unknown.
   * @param {number} value
   * @returns {FoldedScope | null}
   */
  foldedScope(value) {
    this.folded ??= foldScopes(this.opNames());
    return this.folded.get(this.op.text(value)) ?? null;
  }

  /** Return the distinct op names of all values. */
  opNames() {
    const names = new Set(Array.from(new Set(this.op.cells), (cell) => this.op.strings[cell]));
    names.delete('');
    return names;
  }

  /**
   * Return the file and line of a value, with the folders; empty if the file is unknown.
   * @param {number} value
   * @returns {string}
   */
  sourceLine(value) {
    const file = this.file.text(value);
    const line = this.line.integer(value);
    return file ? (line >= 0 ? `${file}:${line}` : file) : '';
  }

  /**
   * Return the file and line of a value, without the folders; empty if the file is unknown.
   * @param {number} value
   * @returns {string}
   */
  shortSourceLine(value) {
    return shortLine(this.file, this.line, value);
  }

  /**
   * Return a value's line in the user's code, without the folders. It is the line that calls
   * the installed package of the attributed line; the attributed line itself if unknown.
   * @param {number} value
   * @returns {string}
   */
  userSourceLine(value) {
    return shortLine(this.userFile, this.userLine, value) || this.shortSourceLine(value);
  }
}

/**
 * @param {import('./parts.js').Column} file
 * @param {import('./parts.js').Column} line
 * @param {number} value
 * @returns {string}
 */
function shortLine(file, line, value) {
  const number = line.integer(value);
  return sourceLineText(file.text(value) || null, number < 0 ? null : number);
}

/**
 * Return a function that returns a value's path, outermost part first.
 * @param {Origins} origins
 * @param {PathBy} by
 * @param {boolean} isFolded true to show repeated layers as one scope
 * @returns {(value: number) => ScopePart[]}
 */
export function pathsBy(origins, by, isFolded) {
  switch (by) {
    case 'scope':
      return isFolded ? (value) => origins.foldedScope(value)?.parts ?? NO_PARTS : (value) => origins.scope(value);
    case 'line':
      return (value) => linePath(origins, value);
    case 'stack':
      return (value) => stackPath(origins, value);
  }
}

/**
 * @param {Origins} origins
 * @param {number} value
 * @returns {ScopePart[]}
 */
function linePath(origins, value) {
  const file = origins.file.text(value);
  const line = origins.line.integer(value);
  if (!file) return NO_PARTS;
  const whole = {name: file, title: sourceLineText(file, null)};
  return line < 0 ? [whole] : [whole, {name: `${file}:${line}`, title: `line ${line}`}];
}

/**
 * @param {Origins} origins
 * @param {number} value
 * @returns {ScopePart[]}
 */
function stackPath(origins, value) {
  const {columns} = origins.compilation.frames;
  const frames = origins.compilation.stack(value).reverse();
  if (!frames.length && origins.sourceLine(value)) {
    return [{name: origins.sourceLine(value), title: origins.shortSourceLine(value)}];
  }
  return frames.map((frame) => {
    const source = sourceLineText(columns.file.text(frame), columns.line.integer(frame));
    const called = columns.function.text(frame);
    return {name: `${called} ${source}`, title: `${called || 'unnamed'} ${source}`};
  });
}
