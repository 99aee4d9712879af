/** Paint thousands of boxes in milliseconds, and find the box at a pixel. */

import {TONES} from './colours.js';

/** @typedef {import('../data/compilation.js').Compilation} Compilation */
/** @typedef {import('../data/compilation.js').Space} Space */
/** @typedef {import('./address_map.js').MapWindow} MapWindow */

const LABEL_WIDTH = 46;
const LABEL_HEIGHT = 13;
const MOST_LABELS = 400;
const HATCH = 9;

/**
 * Colours as pixels; those of fills a tone after the other for each group.
 * @typedef {object} BoxPixels
 * @property {Uint32Array} fills
 * @property {Uint32Array} edges
 * @property {Uint32Array} fadedFills
 * @property {Uint32Array} fadedEdges
 * @property {number} plot
 * @property {number} idle
 * @property {number} hatch
 */

/**
 * A box with room for a label; `tone` is the index of its fill.
 * @typedef {{value: number, left: number, top: number, right: number, bottom: number,
 *   tone: number, isFaded: boolean}} LabelledBox
 */

/** Paints boxes into pixels, and remembers which value each pixel shows. */
export class BoxPainter {
  /**
   * @param {Compilation} compilation
   * @param {Space} space
   */
  constructor(compilation, space) {
    this.compilation = compilation;
    this.space = space;
    const values = compilation.liveValues(space);
    this.address = new Float64Array(compilation.values.rows);
    const area = new Float64Array(compilation.values.rows);
    for (const value of values) {
      this.address[value] = compilation.address(space, value);
      area[value] = compilation.size[value] * (compilation.until[value] - compilation.from[value] + 1);
    }
    this.order = values.slice().sort((a, b) => area[b] - area[a] || a - b);
    this.width = 0;
    this.height = 0;
    this.pixels = new Uint32Array(0);
    /** Value of each pixel, plus one; 0 if empty. */
    this.picks = new Uint32Array(0);
    /** For each pixel, the next pixel that may be empty, possibly itself. */
    this.nextEmpty = new Uint32Array(0);
    this.identity = this.nextEmpty;
    /** @type {ImageData | null} */
    this.image = null;
    /** Number of values thinner than a pixel in the last picture. */
    this.thin = 0;
    this.boxes = 0;
    /** @type {LabelledBox[]} */
    this.labelled = [];
  }

  /**
   * @param {number} width in pixels of the device
   * @param {number} height
   */
  resize(width, height) {
    if (width === this.width && height === this.height && this.image) return;
    [this.width, this.height] = [width, height];
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.picks = new Uint32Array(width * height);
    this.nextEmpty = new Uint32Array(width * height + 1);
    this.identity = this.nextEmpty.map((_, index) => index);
  }

  /**
   * @param {MapWindow} view
   * @param {BoxPixels} palette
   * @param {Uint8Array} groupOf by value
   * @param {Uint8Array | null} matches by value; the others are faded
   * @param {number} ratio pixels of the device to one of the page
   */
  paint(view, palette, groupOf, matches, ratio) {
    const {compilation, pixels, picks, width, height} = this;
    const across = width / (view.to - view.from);
    const up = height / (view.high - view.low);
    this.paintBackground(view, palette, up);
    picks.fill(0);
    this.nextEmpty.set(this.identity);
    this.thin = 0;
    this.boxes = 0;
    this.labelled = [];
    for (const value of this.order) {
      const from = compilation.from[value];
      const until = compilation.until[value] + 1;
      const low = this.address[value];
      const high = low + compilation.size[value];
      if (until <= view.from || from >= view.to || high <= view.low || low >= view.high) continue;
      this.boxes += 1;
      const left = Math.max(0, Math.round((from - view.from) * across));
      const right = Math.min(width, Math.max(left + 1, Math.round((until - view.from) * across)));
      const top = Math.max(0, Math.round(height - (high - view.low) * up));
      const bottom = Math.min(height, Math.max(top + 1, Math.round(height - (low - view.low) * up)));
      if (left >= right || top >= bottom) continue;
      const group = groupOf[value];
      const isFaded = matches !== null && !matches[value];
      // neighbours differ in tone, so that boxes too thin for an edge are distinct
      const tone = group * TONES + (value % TONES);
      const fill = (isFaded ? palette.fadedFills : palette.fills)[tone];
      const edge = (isFaded ? palette.fadedEdges : palette.edges)[group];
      if ((high - low) * up < 1 || (until - from) * across < 1) {
        this.thin += 1;
        this.fillEmpty(left, right, top, bottom, fill, value + 1);
        continue;
      }
      for (let row = top; row < bottom; row += 1) {
        const start = row * width;
        pixels.fill(row === top && bottom - top > 2 ? edge : fill, start + left, start + right);
        picks.fill(value + 1, start + left, start + right);
        if (right - left > 2) pixels[start + right - 1] = edge;
      }
      if (right - left > LABEL_WIDTH * ratio && bottom - top > LABEL_HEIGHT * ratio) {
        if (this.labelled.length < MOST_LABELS) this.labelled.push({value, left, top, right, bottom, tone, isFaded});
      }
    }
  }

  /**
   * Paint the reserved bytes, hatched; bytes without a box are idle.
   * @param {MapWindow} view
   * @param {{plot: number, idle: number, hatch: number}} palette
   * @param {number} up
   */
  paintBackground(view, palette, up) {
    const {pixels, width, height} = this;
    pixels.fill(palette.plot);
    const top = Math.max(0, Math.round(height - (this.space.bytes - view.low) * up));
    const bottom = Math.min(height, Math.round(height + view.low * up));
    for (let row = top; row < bottom; row += 1) {
      pixels.fill(palette.idle, row * width, (row + 1) * width);
      for (let x = row % HATCH; x < width; x += HATCH) pixels[row * width + x] = palette.hatch;
    }
    const sizes = this.compilation.allocations.column('sizeBytes');
    let last = -10;
    for (const row of this.space.allocations) {
      const y = Math.round(height - (this.space.bases[row] + sizes.number(row) - view.low) * up);
      if (y < 0 || y >= height || Math.abs(y - last) < 4) continue;
      pixels.fill(palette.hatch, y * width, (y + 1) * width);
      last = y;
    }
  }

  /**
   * Fill the empty pixels of a box, so that small boxes never hide large ones.
   *
   * `nextEmpty` points from a full pixel to one that may be empty, so that thousands of boxes on
   * one row of pixels check each pixel once.
   * @param {number} left
   * @param {number} right
   * @param {number} top
   * @param {number} bottom
   * @param {number} fill
   * @param {number} pick
   */
  fillEmpty(left, right, top, bottom, fill, pick) {
    const {pixels, picks, nextEmpty, width} = this;
    for (let row = top; row < bottom; row += 1) {
      const end = row * width + right;
      let pixel = row * width + left;
      while (pixel < end) {
        let empty = pixel;
        while (nextEmpty[empty] !== empty) {
          nextEmpty[empty] = nextEmpty[nextEmpty[empty]];
          empty = nextEmpty[empty];
        }
        if (empty >= end) break;
        if (picks[empty] === 0) {
          picks[empty] = pick;
          pixels[empty] = fill;
        }
        nextEmpty[empty] = empty + 1;
        pixel = empty + 1;
      }
    }
  }

  /**
   * Return the value that a pixel shows, or the nearest within a few pixels; -1 if none.
   * @param {number} x
   * @param {number} y
   * @returns {number}
   */
  valueAt(x, y) {
    for (let distance = 0; distance <= 2; distance += 1) {
      for (const [dx, dy] of [[0, 0], [0, -distance], [0, distance], [-distance, 0], [distance, 0]]) {
        const [column, row] = [Math.round(x + dx), Math.round(y + dy)];
        if (column < 0 || row < 0 || column >= this.width || row >= this.height) continue;
        const pick = this.picks[row * this.width + column];
        if (pick) return pick - 1;
      }
    }
    return -1;
  }
}
