/** The icicle: bytes at a step by call stack, scope or source line. */

import {announce, fitted} from '../elements/dom.js';
import {humanBytes, shareText} from '../elements/format.js';
import {foldedTitle} from '../data/scopes.js';
import {fittingText} from './axis.js';
import {TINT, labelColour} from './colours.js';

/** @typedef {import('./axis.js').Ink} Ink */

/**
 * A part of the whole; `name` is null if its origin is unknown.
 * @typedef {object} Branch
 * @property {string | null} name
 * @property {string} title
 * @property {Set<string> | null} folded the titles of repeated layers that are folded into it
 * @property {Branch | null} parent
 * @property {number} bytes
 * @property {Map<string, Branch>} children
 * @property {Float64Array} byGroup
 * @property {number} value row of the value; -1 for a group of values
 * @property {number} depth
 * @property {number} height number of rows, including its row
 */

/**
 * @typedef {object} Cell
 * @property {Branch} branch
 * @property {number} left
 * @property {number} top
 * @property {number} width
 */

export const UNATTRIBUTED = 'unattributed';
const ROW = 24;
const MOST_ROWS = 40;
const LEAST_WIDTH = 1.5;

/**
 * Add up values along their paths, outermost part first. Parts with one name share a branch, even
 * if their titles differ: these are folded repeated layers.
 * @param {import('../data/compilation.js').Shares} shares
 * @param {(value: number) => {name: string, title: string}[]} pathOf
 * @param {(value: number) => string} labelOf
 * @param {Uint8Array} groupOf
 * @param {number} groups
 * @returns {Branch}
 */
export function branches({values, bytes}, pathOf, labelOf, groupOf, groups) {
  const root = branch(null, 'all', 'everything', groups, -1);
  for (const value of values) {
    if (!(bytes[value] > 0)) continue;
    const path = pathOf(value);
    const parts = path.length ? path : [{name: UNATTRIBUTED, title: UNATTRIBUTED}];
    let at = root;
    let height = parts.length + 2;
    add(at, bytes[value], groupOf[value], height);
    for (const {name, title} of parts) {
      let child = at.children.get(name);
      if (!child) {
        child = branch(at, name, title, groups, -1);
        if (!path.length) child.name = null;
        at.children.set(name, child);
      } else if (title !== child.title) {
        child.folded ??= new Set([child.title]);
        child.folded.add(title);
      }
      at = child;
      height -= 1;
      add(at, bytes[value], groupOf[value], height);
    }
    const leaf = branch(at, `\u0000${value}`, labelOf(value), groups, value);
    add(leaf, bytes[value], groupOf[value], 1);
    at.children.set(`\u0000${value}`, leaf);
  }
  return root;
}

/**
 * @param {Branch | null} parent
 * @param {string} name
 * @param {string} title
 * @param {number} groups
 * @param {number} value
 * @returns {Branch}
 */
function branch(parent, name, title, groups, value) {
  return {
    name,
    title,
    folded: null,
    parent,
    bytes: 0,
    children: new Map(),
    byGroup: new Float64Array(groups),
    value,
    depth: parent ? parent.depth + 1 : 0,
    height: 1,
  };
}

/**
 * @param {Branch} at
 * @param {number} bytes
 * @param {number} group
 * @param {number} height
 */
function add(at, bytes, group, height) {
  if (at.height < height) at.height = height;
  at.bytes += bytes;
  at.byGroup[group] += bytes;
}

/**
 * Return the title of a branch: `h_0 … h_95 ×96` for repeated layers.
 * @param {Branch} at
 * @returns {string}
 */
export function branchTitle(at) {
  return at.folded ? foldedTitle(at.folded) : at.title;
}

/**
 * Return the deepest existing branch on a path of names.
 * @param {Branch} root
 * @param {string[]} path
 * @returns {Branch}
 */
export function branchAt(root, path) {
  let at = root;
  for (const name of path) {
    const child = at.children.get(name);
    if (!child) break;
    at = child;
  }
  return at;
}

/**
 * Return the names that lead to a branch.
 * @param {Branch} branch_
 * @returns {string[]}
 */
export function pathTo(branch_) {
  const path = [];
  for (let at = branch_; at.parent; at = at.parent) path.unshift(at.name ?? UNATTRIBUTED);
  return path;
}

export class Icicle {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{open: (branch: Branch) => void, pin: (value: number) => void,
   *   hover: (branch: Branch | null, x: number, y: number) => void, redraw: () => void}} actions
   */
  constructor(canvas, actions) {
    this.canvas = canvas;
    this.actions = actions;
    /** @type {Cell[]} */
    this.cells = [];
    /** @type {Branch | null} */
    this.hovered = null;
    /** @type {Branch | null} */
    this.root = null;
    /** @type {Branch | null} */
    this.top = null;
    canvas.addEventListener('pointermove', (event) => {
      const found = this.cellAt(event.offsetX, event.offsetY)?.branch ?? null;
      if (found !== this.hovered) {
        this.hovered = found;
        this.actions.redraw();
      }
      canvas.style.cursor = found ? 'pointer' : 'default';
      actions.hover(found, event.clientX, event.clientY);
    });
    canvas.addEventListener('pointerleave', () => {
      this.hovered = null;
      this.actions.redraw();
      actions.hover(null, 0, 0);
    });
    canvas.addEventListener('click', (event) => {
      const found = this.cellAt(event.offsetX, event.offsetY)?.branch;
      if (found) this.choose(found);
    });
    canvas.addEventListener('keydown', (event) => this.onKey(event));
  }

  /** @param {Branch} found */
  choose(found) {
    if (found.value >= 0) this.actions.pin(found.value);
    else this.actions.open(found);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const at = this.hovered ?? this.top;
    if (!at) return;
    const siblings = at.parent ? sorted(at.parent) : [at];
    const index = siblings.indexOf(at);
    const moves = /** @type {Record<string, Branch | null | undefined>} */ ({
      ArrowLeft: siblings[index - 1],
      ArrowRight: siblings[index + 1],
      ArrowUp: at.parent,
      ArrowDown: sorted(at)[0],
    });
    if (event.key === 'Enter') this.choose(at);
    else if (event.key in moves) this.hovered = moves[event.key] ?? at;
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (this.hovered) announce(this.sentence(this.hovered));
    this.actions.redraw();
  }

  /**
   * @param {Branch} found
   * @returns {string}
   */
  sentence(found) {
    const whole = this.root?.bytes || 1;
    return `${branchTitle(found)}: ${humanBytes(found.bytes)}, ${shareText(found.bytes / whole)}`;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  cellAt(x, y) {
    return this.cells.find(
      (cell) => x >= cell.left && x < cell.left + cell.width && y >= cell.top && y < cell.top + ROW,
    );
  }

  /**
   * @param {Branch} root
   * @param {Branch} top branch that fills the whole width
   * @param {string[]} colours by group
   * @param {Ink} ink
   */
  draw(root, top, colours, ink) {
    [this.root, this.top] = [root, top];
    const above = [];
    for (let at = top.parent; at; at = at.parent) above.unshift(at);
    this.canvas.style.height = `${(above.length + Math.min(MOST_ROWS, top.height)) * ROW + 2}px`;
    const {context, width} = fitted(this.canvas);
    this.cells = [];
    for (const [depth, at] of above.entries()) {
      this.cells.push({branch: at, left: 0, top: depth * ROW, width});
    }
    this.layOut(top, 0, above.length * ROW, width);
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    for (const cell of this.cells) this.drawCell(context, cell, colours, ink, cell.branch.depth < top.depth);
  }

  /**
   * @param {Branch} at
   * @param {number} left
   * @param {number} top
   * @param {number} width
   */
  layOut(at, left, top, width) {
    if (width < LEAST_WIDTH) return;
    this.cells.push({branch: at, left, top, width});
    for (const child of sorted(at)) {
      const part = (child.bytes / at.bytes) * width;
      this.layOut(child, left, top + ROW, part);
      left += part;
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Cell} cell
   * @param {string[]} colours
   * @param {Ink} ink
   * @param {boolean} isAbove
   */
  drawCell(context, {branch: at, left, top, width}, colours, ink, isAbove) {
    const body = Math.max(1, width - 1);
    const isHovered = at === this.hovered;
    context.globalAlpha = isAbove ? 0.5 : 1;
    context.fillStyle = ink.idle;
    context.fillRect(left, top, body, ROW - 1);
    let x = left;
    const strip = at.value >= 0 ? ROW - 1 : 4;
    for (const [group, bytes] of at.byGroup.entries()) {
      if (!(bytes > 0)) continue;
      const part = (bytes / at.bytes) * body;
      context.fillStyle = colours[group];
      context.globalAlpha = isAbove ? 0.5 : 1;
      context.fillRect(x, top + ROW - 1 - strip, part, strip);
      context.globalAlpha = isAbove ? TINT / 2 : TINT;
      if (at.value < 0) context.fillRect(x, top, part, ROW - 1 - strip);
      x += part;
    }
    context.globalAlpha = 1;
    if (at.name === null && at.depth > 0) hatch(context, left, top, body, ink);
    if (isHovered) {
      context.strokeStyle = ink.accent;
      context.lineWidth = 2;
      context.strokeRect(left + 1, top + 1, Math.max(1, body - 2), ROW - 3);
    }
    if (body < 28) return;
    context.save();
    context.beginPath();
    context.rect(left, top, body - 4, ROW);
    context.clip();
    const title = branchTitle(at);
    const middle = top + ROW / 2 - (at.value >= 0 ? 0 : 1.5);
    context.fillStyle = at.value >= 0 ? labelColour(colours[at.byGroup.findIndex((bytes) => bytes > 0)]) : ink.text;
    context.font = '12px system-ui, sans-serif';
    const shown = fittingText(context, title, body - 14);
    context.fillText(shown, left + 6, middle);
    const name = context.measureText(shown).width;
    context.font = '11px system-ui, sans-serif';
    const share = this.root ? ` ${humanBytes(at.bytes)} · ${shareText(at.bytes / this.root.bytes)}` : '';
    // half a number would be read as another one
    if (10 + name + context.measureText(share).width <= body - 4) context.fillText(share, left + 10 + name, middle);
    context.restore();
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {Ink} ink
 */
function hatch(context, left, top, width, ink) {
  context.save();
  context.beginPath();
  context.rect(left, top, width, ROW - 1);
  context.clip();
  context.strokeStyle = ink.faint;
  context.globalAlpha = 0.35;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = left - ROW; x < left + width; x += 8) {
    context.moveTo(x, top + ROW);
    context.lineTo(x + ROW, top);
  }
  context.stroke();
  context.restore();
}

/**
 * Return the children, the largest first; unknown origins last.
 * @param {Branch} at
 * @returns {Branch[]}
 */
function sorted(at) {
  return [...at.children.values()].sort(
    (a, b) => Number(a.name === null) - Number(b.name === null) || b.bytes - a.bytes || (a.title < b.title ? -1 : 1),
  );
}
