/** The address map: each value is a box with steps on the x axis and bytes on the y axis. */

import {GUTTER, drawByteAxis, fittingText} from './axis.js';
import {boxColours, fadedBoxColours, mixed, pixelOf} from './colours.js';
import {fitted} from '../elements/dom.js';
import {humanBytes, roleTitle} from '../elements/format.js';
import {listenToGestures} from './gestures.js';

/** @typedef {import('./box_painter.js').BoxPainter} BoxPainter */
/** @typedef {import('./axis.js').Ink} Ink */
/** @typedef {{from: number, to: number, low: number, high: number}} MapWindow */
/** @typedef {import('./colours.js').BoxColours} BoxColours */
/** @typedef {{left: number, right: number, top: number, bottom: number}} Box */

export class AddressMap {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLCanvasElement} overlay
   * @param {{hover: (value: number, step: number | null, x: number, y: number) => void,
   *   pin: (value: number, add: boolean) => void, move: (view: MapWindow) => void, all: () => void}} actions
   */
  constructor(canvas, overlay, actions) {
    this.canvas = canvas;
    this.overlay = overlay;
    this.actions = actions;
    /** @type {MapWindow} */
    this.view = {from: 0, to: 1, low: 0, high: 1};
    /** @type {BoxPainter | null} */
    this.painter = null;
    this.ratio = 1;
    this.listen();
  }

  listen() {
    const {overlay, actions} = this;
    let held = this.view;
    listenToGestures(overlay, {
      hover: (x, y, event) => actions.hover(this.valueAt(x, y), Math.floor(this.stepAt(x)), event.clientX, event.clientY),
      leave: () => actions.hover(-1, null, 0, 0),
      click: (x, y, add) => actions.pin(this.valueAt(x, y), add),
      hold: () => (held = this.view),
      drag: (dx, dy) => {
        const steps = (dx / this.plotWidth()) * (held.to - held.from);
        const bytes = (dy / overlay.clientHeight) * (held.high - held.low);
        actions.move({from: held.from - steps, to: held.to - steps, low: held.low + bytes, high: held.high + bytes});
      },
      zoom: (factor, x, y, across, up) =>
        this.zoom(factor, (x - GUTTER) / this.plotWidth(), 1 - y / overlay.clientHeight, across, up),
      all: () => actions.all(),
    });
  }

  /**
   * Zoom about a point of the plot.
   * @param {number} factor less than 1 to see less, larger
   * @param {number} share of the plot's width
   * @param {number} rise share of its height, from below
   * @param {boolean} across
   * @param {boolean} up
   */
  zoom(factor, share, rise, across = true, up = true) {
    const {from, to, low, high} = this.view;
    const step = from + share * (to - from);
    const byte = low + rise * (high - low);
    this.actions.move({
      from: across ? step - (step - from) * factor : from,
      to: across ? step + (to - step) * factor : to,
      low: up ? byte - (byte - low) * factor : low,
      high: up ? byte + (high - byte) * factor : high,
    });
  }

  plotWidth() {
    return Math.max(1, this.overlay.clientWidth - GUTTER);
  }

  /** @param {number} x */
  stepAt(x) {
    const share = Math.min(Math.max((x - GUTTER) / this.plotWidth(), 0), 1 - 1e-9);
    return this.view.from + share * (this.view.to - this.view.from);
  }

  /**
   * @param {number} x in pixels of the page
   * @param {number} y
   */
  valueAt(x, y) {
    return this.painter && x >= GUTTER
      ? this.painter.valueAt((x - GUTTER) * this.ratio, y * this.ratio)
      : -1;
  }

  /**
   * Return the box of a value in the picture, in pixels of the page; null if it is outside.
   * @param {number} value
   * @returns {Box | null}
   */
  boxOf(value) {
    const {painter, view} = this;
    if (!painter || !painter.compilation.isLive[value]) return null;
    const low = painter.compilation.address(painter.space, value);
    if (Number.isNaN(low)) return null;
    const across = this.plotWidth() / (view.to - view.from);
    const up = this.overlay.clientHeight / (view.high - view.low);
    const left = GUTTER + (painter.compilation.from[value] - view.from) * across;
    const right = GUTTER + (painter.compilation.until[value] + 1 - view.from) * across;
    const bottom = this.overlay.clientHeight - (low - view.low) * up;
    const top = bottom - painter.compilation.size[value] * up;
    if (right < GUTTER || left > this.overlay.clientWidth || bottom < 0 || top > this.overlay.clientHeight) {
      return null;
    }
    return {left: Math.max(GUTTER, left), right, top, bottom};
  }

  /**
   * @param {BoxPainter} painter
   * @param {{view: MapWindow, groupOf: Uint8Array, colours: string[], matches: Uint8Array | null,
   *   label: (value: number) => string}} picture
   * @param {Ink} ink
   */
  draw(painter, picture, ink) {
    this.painter = painter;
    this.view = picture.view;
    const {context, width, height, ratio} = fitted(this.canvas);
    this.ratio = ratio;
    const across = Math.max(1, Math.round((width - GUTTER) * ratio));
    painter.resize(across, Math.max(1, Math.round(height * ratio)));
    const [plain, faded] = [boxColours(picture.colours, ink), fadedBoxColours(picture.colours, ink)];
    const pixels = {
      fills: pixelsOf(plain.fills),
      edges: pixelsOf(plain.edges),
      fadedFills: pixelsOf(faded.fills),
      fadedEdges: pixelsOf(faded.edges),
      plot: pixelOf(ink.plot),
      idle: pixelOf(ink.idle),
      hatch: pixelOf(mixed(ink.idle, 0.14, ink.text)),
    };
    painter.paint(picture.view, pixels, picture.groupOf, picture.matches, ratio);
    if (painter.image) context.putImageData(painter.image, Math.round(GUTTER * ratio), 0);
    this.drawLabels(context, painter, picture.label, {plain, faded});
    drawByteAxis(context, {...ink, line: 'transparent'}, {
      low: picture.view.low,
      high: picture.view.high,
      top: 0,
      bottom: height,
      right: GUTTER,
    });
    this.drawLanes(context, painter, picture.view, height, ink);
  }

  /**
   * Mark the roles of the allocations next to the plot.
   * @param {CanvasRenderingContext2D} context
   * @param {BoxPainter} painter
   * @param {MapWindow} view
   * @param {number} height
   * @param {Ink} ink
   */
  drawLanes(context, painter, view, height, ink) {
    const roles = painter.compilation.allocations.column('role');
    const sizes = painter.compilation.allocations.column('sizeBytes');
    /** @type {{role: string, low: number, high: number}[]} */
    const lanes = [];
    for (const row of painter.space.allocations) {
      const role = roles.text(row) || 'role unknown';
      const low = painter.space.bases[row];
      const lane = lanes[lanes.length - 1];
      if (lane && lane.role === role) lane.high = low + sizes.number(row);
      else lanes.push({role, low, high: low + sizes.number(row)});
    }
    const y = (/** @type {number} */ bytes) => height - ((bytes - view.low) / (view.high - view.low)) * height;
    context.strokeStyle = ink.text;
    context.lineWidth = 1;
    for (const {role, low, high} of lanes) {
      const [top, bottom] = [Math.max(1, y(high) + 1), Math.min(height - 1, y(low) - 1)];
      if (bottom - top < 3) continue;
      context.globalAlpha = 0.5;
      context.beginPath();
      context.moveTo(GUTTER - 2, top);
      context.lineTo(GUTTER - 5, top);
      context.lineTo(GUTTER - 5, bottom);
      context.lineTo(GUTTER - 2, bottom);
      context.stroke();
      context.globalAlpha = 1;
      const title = roleTitle(role);
      if (bottom - top > 9 * title.length * 0.75) {
        context.save();
        context.translate(9, (top + bottom) / 2);
        context.rotate(-Math.PI / 2);
        context.textAlign = 'center';
        context.textBaseline = 'middle';
        context.font = '600 11px system-ui, sans-serif';
        context.fillStyle = ink.faint;
        context.fillText(title, 0, 0);
        context.restore();
      }
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {BoxPainter} painter
   * @param {(value: number) => string} label
   * @param {{plain: BoxColours, faded: BoxColours}} colours
   */
  drawLabels(context, painter, label, {plain, faded}) {
    const {ratio} = this;
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    for (const {value, left, top, right, bottom, tone, isFaded} of painter.labelled) {
      const [x, y] = [GUTTER + left / ratio, top / ratio];
      const [width, height] = [(right - left) / ratio, (bottom - top) / ratio];
      const two = height > 28;
      context.save();
      context.beginPath();
      context.rect(x, y, width - 3, height);
      context.clip();
      context.fillStyle = (isFaded ? faded : plain).labels[tone];
      context.font = '500 11px system-ui, sans-serif';
      context.fillText(fittingText(context, label(value), width - 8), x + 5, y + (two ? height / 2 - 7 : height / 2 + 0.5));
      if (two) {
        context.font = '10px system-ui, sans-serif';
        context.fillText(fittingText(context, humanBytes(painter.compilation.size[value]), width - 8), x + 5, y + height / 2 + 7);
      }
      context.restore();
    }
  }

  /**
   * Outline the hovered and pinned values, and the values that share bytes with them.
   * @param {{hovered: number, pins: number[], step: number | null, hoveredStep: number | null}} marks
   * @param {Ink} ink
   */
  drawMarks({hovered, pins, step, hoveredStep}, ink) {
    const {context, height} = fitted(this.overlay);
    const {compilation} = this.painter ?? {};
    if (!compilation) return;
    context.save();
    context.beginPath();
    context.rect(GUTTER, 0, this.plotWidth(), height);
    context.clip();
    for (const [at, colour, thickness] of /** @type {[number | null, string, number][]} */ ([
      [step, ink.accent, 2],
      [hoveredStep, ink.text, 1],
    ])) {
      if (at === null) continue;
      const x = GUTTER + ((at + 0.5 - this.view.from) / (this.view.to - this.view.from)) * this.plotWidth();
      context.globalAlpha = thickness === 1 ? 0.4 : 0.9;
      context.fillStyle = colour;
      context.fillRect(Math.round(x), 0, thickness, height);
      context.globalAlpha = 1;
    }
    for (const value of new Set(hovered >= 0 ? [...pins, hovered] : pins)) {
      for (const other of [...compilation.takenFrom(value), ...compilation.takenBy(value)]) {
        this.outline(context, other.value, ink, other.inPlace ? [6, 3] : [2, 2], 2);
      }
      this.outline(context, value, ink, [], value === hovered ? 2 : 3);
    }
    context.restore();
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} value
   * @param {Ink} ink
   * @param {number[]} dash
   * @param {number} thickness
   */
  outline(context, value, ink, dash, thickness) {
    const box = this.boxOf(value);
    if (!box) return;
    const width = Math.max(3, box.right - box.left);
    const height = Math.max(3, box.bottom - box.top);
    context.lineWidth = thickness + 2;
    context.strokeStyle = ink.plot;
    context.setLineDash([]);
    context.strokeRect(box.left, box.top, width, height);
    context.lineWidth = thickness;
    context.strokeStyle = dash.length ? ink.accent : ink.text;
    context.setLineDash(dash);
    context.strokeRect(box.left, box.top, width, height);
    context.setLineDash([]);
  }
}

/** @param {string[]} colours */
function pixelsOf(colours) {
  return Uint32Array.from(colours, pixelOf);
}
