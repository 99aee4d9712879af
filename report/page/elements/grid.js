/** A table of any length with sorting and filters; only visible rows are elements. */

import {announce, element, replace} from './dom.js';
import {growthText, humanBytes, numberText, shareText} from './format.js';

/**
 * @typedef {object} GridColumn
 * @property {string} name
 * @property {string} [title]
 * @property {'bytes' | 'growth' | 'number' | 'text' | 'share'} kind
 * @property {(row: number) => string | number | boolean | null} cell
 * @property {number} [width] share of the free width, 1 by default
 */

/**
 * @typedef {object} GridOptions
 * @property {string} label
 * @property {GridColumn[]} columns
 * @property {number} rows
 * @property {string} [sortBy] column; numbers descending, strings ascending
 * @property {(row: number) => void} [open]
 * @property {(row: number | null) => void} [hover]
 * @property {boolean} [isFiltered] true to show a filter field (default)
 * @property {number} [most] maximum number of visible rows
 */

const ROW = 26;
const SPARE = 6;
/** Rows of a table that paper shows. */
const MOST_PRINTED = 500;

for (const name of ['beforeprint', 'afterprint']) {
  globalThis.addEventListener?.(name, () => {
    for (const grid of document.querySelectorAll('.grid')) grid.dispatchEvent(new Event(name));
  });
}

export class Grid {
  /** @param {GridOptions} options */
  constructor(options) {
    this.options = options;
    /** @type {GridColumn[]} */
    this.columns = options.columns;
    this.sortBy = options.sortBy ?? null;
    this.descending = true;
    this.cursor = 0;
    this.words = '';
    /** @type {((row: number) => boolean) | null} */
    this.predicate = null;
    /** Visible rows in sort order. */
    this.order = new Int32Array(0);
    this.head = element('div.row.head', {role: 'row'});
    this.body = element('div.rows', {role: 'rowgroup'});
    this.spacer = element('div.spacer', null, this.body);
    this.scroller = element(
      'div.scroller',
      {tabindex: 0, role: 'grid', 'aria-label': options.label, onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event), onscroll: () => this.render()},
      this.head,
      this.spacer,
    );
    this.count = element('span.count');
    this.field = /** @type {HTMLInputElement} */ (
      element('input', {
        type: 'search',
        placeholder: 'filter rows',
        'aria-label': `filter ${options.label}`,
        oninput: () => {
          this.words = this.field.value;
          this.update();
        },
      })
    );
    this.tools = element('div.tools', null, options.isFiltered === false ? null : this.field, this.count);
    this.node = element('div.grid', null, this.tools, this.scroller);
    const widths = this.columns.map((column) => (column.kind === 'text' ? `minmax(88px, ${column.width ?? 1}fr)` : `minmax(${numberWidth(column)}px, auto)`));
    this.node.style.setProperty('--columns', widths.join(' '));
    new ResizeObserver(() => this.render()).observe(this.scroller);
    this.node.addEventListener('beforeprint', () => this.render(MOST_PRINTED));
    this.node.addEventListener('afterprint', () => this.render());
    this.update();
  }

  /** @param {((row: number) => boolean) | null} predicate */
  filter(predicate) {
    this.predicate = predicate;
    this.update();
  }

  update() {
    const {rows} = this.options;
    const kept = [];
    const wanted = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = this.columns.filter((column) => column.kind === 'text');
    for (let row = 0; row < rows; row += 1) {
      if (this.predicate && !this.predicate(row)) continue;
      if (wanted.length) {
        const line = texts.map((column) => column.cell(row) ?? '').join('\n').toLowerCase();
        if (!wanted.every((word) => line.includes(word))) continue;
      }
      kept.push(row);
    }
    this.order = Int32Array.from(kept);
    this.sort();
    this.cursor = Math.min(this.cursor, Math.max(0, this.order.length - 1));
    const all = this.order.length === rows;
    this.count.textContent = all ? (rows === 1 ? '1 row' : `${numberText(rows)} rows`) : `${numberText(this.order.length)} of ${numberText(rows)} rows`;
    this.drawHead();
    this.scroller.setAttribute('aria-rowcount', String(this.order.length + 1));
    const most = this.options.most;
    if (most) this.scroller.style.maxHeight = `${(Math.min(most, Math.max(1, this.order.length)) + 1) * ROW + 14}px`;
    this.render();
  }

  sort() {
    const column = this.columns.find((each) => each.name === this.sortBy);
    if (!column) return;
    const {rows} = this.options;
    const keys = new Float64Array(rows);
    if (column.kind === 'text') {
      const ranks = new Map([...new Set([...this.order].map((row) => String(column.cell(row) ?? '')))].sort().map((text, rank) => [text, rank]));
      for (const row of this.order) keys[row] = ranks.get(String(column.cell(row) ?? '')) ?? 0;
    } else {
      for (const row of this.order) keys[row] = Number(column.cell(row) ?? -Infinity);
    }
    const down = column.kind === 'text' ? !this.descending : this.descending;
    this.order.sort(down ? (a, b) => keys[b] - keys[a] || a - b : (a, b) => keys[a] - keys[b] || a - b);
  }

  drawHead() {
    replace(
      this.head,
      this.columns.map((column, index) => {
        const isSorted = column.name === this.sortBy;
        const up = column.kind === 'text' ? this.descending : !this.descending;
        const sort = element(
          'button',
          {
            type: 'button',
            title: `sort by ${column.title ?? column.name}`,
            onclick: () => {
              this.descending = isSorted ? !this.descending : true;
              this.sortBy = column.name;
              this.update();
              this.head.querySelectorAll('button')[index].focus();
            },
          },
          column.title ?? column.name,
          isSorted ? element('span.arrow', {'aria-hidden': true}, up ? ' ▲' : ' ▼') : null,
        );
        const order = isSorted ? (up ? 'ascending' : 'descending') : 'none';
        return element(`div.cell.${column.kind}`, {role: 'columnheader', 'aria-sort': order}, sort);
      }),
    );
  }

  /**
   * Draw the rows in view, or so many rows from the first for paper.
   * @param {number} [printed]
   */
  render(printed = 0) {
    const height = this.scroller.clientHeight || 300;
    const first = printed ? 0 : Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - SPARE);
    const last = Math.min(this.order.length, printed || first + Math.ceil(height / ROW) + 2 * SPARE);
    const missing = printed ? this.order.length - last : 0;
    this.spacer.style.height = `${this.order.length * ROW}px`;
    this.body.style.transform = `translateY(${first * ROW}px)`;
    const lines = [];
    for (let index = first; index < last; index += 1) lines.push(this.line(index));
    if (missing) lines.push(element('p.faint', null, `and ${numberText(missing)} more`));
    replace(this.body, lines);
  }

  /** @param {number} index */
  line(index) {
    const row = this.order[index];
    const {open, hover} = this.options;
    return element(
      'div.row',
      {
        role: 'row',
        'aria-rowindex': index + 2,
        'data-row': row,
        class: `row${index === this.cursor ? ' at' : ''}${open ? ' opens' : ''}`,
        onclick: () => this.openAt(index),
        onpointerenter: hover && (() => hover(row)),
        onpointerleave: hover && (() => hover(null)),
      },
      this.columns.map((column) => {
        const text = cellText(column, row);
        return element(`span.cell.${column.kind}`, {role: 'gridcell', title: text.length > 12 ? text : null, text});
      }),
    );
  }

  /** @param {number} index */
  openAt(index) {
    this.cursor = index;
    this.render();
    if (index < this.order.length) this.options.open?.(this.order[index]);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 2);
    const moves = /** @type {Record<string, number>} */ ({
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.order.length,
      End: this.order.length,
    });
    if (event.key === 'Enter') {
      this.openAt(this.cursor);
    } else if (event.key in moves) {
      this.cursor = Math.max(0, Math.min(this.order.length - 1, this.cursor + moves[event.key]));
      const top = this.cursor * ROW;
      const {scrollTop, clientHeight} = this.scroller;
      if (top < scrollTop) this.scroller.scrollTop = top;
      else if (top + 2 * ROW > scrollTop + clientHeight) this.scroller.scrollTop = top + 2 * ROW - clientHeight;
      this.render();
      const row = this.order[this.cursor];
      if (row !== undefined) announce(this.columns.map((column) => `${column.title ?? column.name} ${cellText(column, row)}`).join(', '));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * Return the width that a column of numbers needs for its title, in pixels.
 * @param {GridColumn} column
 * @returns {number}
 */
function numberWidth(column) {
  return Math.max(column.kind === 'number' ? 62 : 86, 30 + 7 * (column.title ?? column.name).length);
}

/**
 * @param {GridColumn} column
 * @param {number} row
 * @returns {string}
 */
function cellText(column, row) {
  const cell = column.cell(row);
  if (cell === null || cell === undefined) return '–';
  if (typeof cell === 'number') {
    if (column.kind === 'bytes') return humanBytes(cell);
    if (column.kind === 'growth') return growthText(cell);
    if (column.kind === 'share') return shareText(cell);
    return Number.isInteger(cell) ? numberText(cell) : cell.toPrecision(4);
  }
  return String(cell);
}
