/** Pointer actions on a plot along the schedule: hover, click, drag over a range, double click. */

import {GUTTER} from './axis.js';

const LEAST_DRAG = 4;

/** Pointer positions and drag ranges on a plot, as shares of its width from 0 to 1. */
export class Brush {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{zoom: (from: number, to: number) => void, choose: (share: number) => void,
   *   hover: (share: number | null, x: number, y: number) => void, all: () => void,
   *   redraw: () => void}} actions shares, and where the pointer is on the page
   */
  constructor(canvas, actions) {
    this.canvas = canvas;
    /** @type {number | null} where a drag began, in pixels */
    this.dragFrom = null;
    this.dragTo = 0;
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button) return;
      this.dragFrom = this.dragTo = event.offsetX;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (this.dragFrom !== null) {
        this.dragTo = event.offsetX;
        actions.redraw();
      }
      actions.hover(this.shareAt(event.offsetX), event.clientX, event.clientY);
    });
    canvas.addEventListener('pointerup', (event) => {
      if (this.dragFrom === null) return;
      const [left, right] = [Math.min(this.dragFrom, event.offsetX), Math.max(this.dragFrom, event.offsetX)];
      this.dragFrom = null;
      if (right - left < LEAST_DRAG) actions.choose(this.shareAt(event.offsetX));
      else actions.zoom(this.shareAt(left), this.shareAt(right));
    });
    canvas.addEventListener('pointercancel', () => (this.dragFrom = null));
    canvas.addEventListener('pointerleave', () => actions.hover(null, 0, 0));
    canvas.addEventListener('dblclick', () => actions.all());
  }

  /** @param {number} x */
  shareAt(x) {
    const width = Math.max(1, this.canvas.clientWidth - GUTTER);
    return Math.min(Math.max((x - GUTTER) / width, 0), 1);
  }

  /**
   * Draw the range of a drag.
   * @param {CanvasRenderingContext2D} context
   * @param {string} colour
   * @param {number} top
   * @param {number} bottom
   */
  draw(context, colour, top, bottom) {
    if (this.dragFrom === null) return;
    context.fillStyle = colour;
    context.globalAlpha = 0.2;
    context.fillRect(this.dragFrom, top, this.dragTo - this.dragFrom, bottom - top);
    context.globalAlpha = 1;
  }
}
