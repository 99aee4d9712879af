/** The groups of a comparison: their bars, and the rows behind each bar. */

import {foldScopes, foldedTitle} from '../data/scopes.js';
import {roleTitle, sourceLineText} from '../elements/format.js';
import {waterfallBars} from '../plots/waterfall.js';

/** @typedef {import('../data/parts.js').Table} Table */
/** @typedef {import('../data/scopes.js').FoldedScope} FoldedScope */
/** @typedef {import('../plots/waterfall.js').Bar} Bar */
/** @typedef {'cause' | 'role' | 'scope' | 'op' | 'line' | 'opcode'} GrowthBy */
/** A group of a comparison: the cells that name it, and its bytes before and after. */
/** @typedef {any[]} GroupRow */

/** @type {[GrowthBy, string][]} */
export const GROWTH_GROUPINGS = [
  ['cause', 'cause'],
  ['role', 'role'],
  ['scope', 'op scope'],
  ['op', 'op'],
  ['line', 'source line'],
  ['opcode', 'opcode'],
];

/** The columns whose cells name a group. @type {Record<GrowthBy, string[]>} */
const KEY_COLUMNS = {
  cause: ['role'],
  role: ['role'],
  scope: ['scope'],
  op: ['opName'],
  line: ['userFile', 'userLine', 'sourceFile', 'sourceLine'],
  opcode: ['opcode'],
};

/** Cause of an allocation's bytes, by its role; all other roles are temporary. */
const CAUSES = new Map([
  ['parameter', ['inputs']],
  ['output', ['outputs']],
  ['liveOut', ['outputs']],
  ['constant', ['constants']],
  ['threadLocal', []],
]);
const TEMPORARY = ['live at the peak', 'idle at the peak', 'fragmentation', 'temporary, peak unknown'];

/**
 * Return true if repeated layers can be folded in a grouping.
 * @param {GrowthBy} by
 * @returns {boolean}
 */
export function canFold(by) {
  return by === 'scope' || by === 'op';
}

/**
 * Return the user's line, followed by the library's line that it calls.
 * @param {any[]} cells
 * @returns {string}
 */
function calledLineText([userFile, userLine, sourceFile, sourceLine]) {
  const lines = [sourceLineText(userFile, userLine), sourceLineText(sourceFile, sourceLine)];
  return [...new Set(lines.filter((line) => line))].join(' → ');
}

export class Growth {
  /**
   * @param {GrowthBy} by
   * @param {GroupRow[]} rows
   * @param {{before: string, after: string}} sides their names
   * @param {boolean} isFolded repeated layers are one group
   */
  constructor(by, rows, {before, after}, isFolded) {
    this.by = by;
    /** @type {Map<string, FoldedScope>} */
    this.scopes = new Map();
    if (isFolded && canFold(by)) this.scopes = foldScopes(new Set(rows.map(([name]) => name).filter((name) => name !== null)));
    /** @type {Map<string, {name: string, members: any[][], a: number, b: number}>} */
    const groups = new Map();
    for (const row of rows) {
      const cells = row.slice(0, -2);
      const [a, b] = row.slice(-2);
      const name = this.nameOf(cells);
      const group = groups.get(name);
      if (group) {
        group.members.push(cells);
        group.a += a;
        group.b += b;
      } else groups.set(name, {name, members: [cells], a, b});
    }
    const ranked = [...groups.values()].sort((one, other) => Math.abs(other.b - other.a) - Math.abs(one.b - one.a));
    /** @type {Bar[]} */
    this.bars = waterfallBars(ranked.map(({name, members, a, b}) => ({name, title: this.titleOf(members), a, b})), before, after);
  }

  /**
   * Return the name of the group that cells belong to.
   * @param {any[]} cells
   * @returns {string}
   */
  nameOf(cells) {
    const scope = this.scopes.get(cells[0]);
    return JSON.stringify(scope ? [scope.name] : cells);
  }

  /**
   * @param {any[][]} members the cells of each group that is folded into one
   * @returns {string}
   */
  titleOf(members) {
    const [[first]] = members;
    if (members.length > 1) return this.foldedTitle(members);
    if (this.by === 'line') return calledLineText(members[0]) || 'no source line';
    if (this.by === 'role') return roleTitle(first ?? 'role unknown');
    return first ?? 'unattributed';
  }

  /** @param {any[][]} members */
  foldedTitle(members) {
    const paths = members.map(([name]) => this.scopes.get(name)?.parts ?? []);
    return paths[0].map((_, depth) => foldedTitle(new Set(paths.map((parts) => parts[depth].title)))).join('/');
  }

  /**
   * Return the rows of a table that a bar is the sum of; of a cause, the allocations that have it.
   * @param {Bar} bar
   * @param {Table} table
   * @returns {number[]}
   */
  rowsBehind(bar, {rows, columns}) {
    const keyColumns = KEY_COLUMNS[this.by].map((name) => columns[name]);
    const named = new Set(this.bars.filter(({kind}) => kind === 'group').map(({name}) => name));
    const namesOf = (/** @type {number} */ row) => {
      const cells = keyColumns.map((column) => column.at(row));
      return this.by === 'cause' ? (CAUSES.get(String(cells[0])) ?? TEMPORARY).map((cause) => this.nameOf([cause])) : [this.nameOf(cells)];
    };
    return [...Array(rows).keys()].filter((row) => {
      const names = namesOf(row);
      return bar.kind === 'rest' ? names.length > 0 && !names.some((name) => named.has(name)) : names.includes(bar.name);
    });
  }
}
