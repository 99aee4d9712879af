/** The timelines of two compared compilations: point at both, drag to zoom. */

import {announce, element} from '../elements/dom.js';
import {growthText, humanBytes, numberText} from '../elements/format.js';
import {Brush} from '../plots/brush.js';
import {drawOverlaidTimelines, stepOfShare} from '../plots/overlaid_timelines.js';
import {Tip} from './tips.js';

/** @typedef {import('../plots/overlaid_timelines.js').Side} Side */

const LEAST_SHARE = 1e-6;
const STRIDE = 0.01;

export class PairTimelines {
  /** @param {import('../plots/axis.js').Ink} ink */
  constructor(ink) {
    this.ink = ink;
    this.canvas = /** @type {HTMLCanvasElement} */ (element('canvas.timeline', {role: 'img', tabindex: 0}));
    this.tip = new Tip();
    /** @type {[Side, Side] | null} */
    this.sides = null;
    this.view = {from: 0, to: 1};
    /** @type {number | null} share of the schedules that is pointed at */
    this.hovered = null;
    this.brush = new Brush(this.canvas, {
      zoom: (from, to) => this.zoom(this.share(from), this.share(to)),
      choose: () => {},
      hover: (share, x, y) => this.hover(share === null ? null : this.share(share), x, y),
      all: () => this.zoom(0, 1),
      redraw: () => this.draw(),
    });
    this.canvas.addEventListener('keydown', (event) => this.onKey(event));
  }

  close() {
    this.tip.node.remove();
  }

  /**
   * Show both sides completely.
   * @param {Side} a
   * @param {Side} b
   */
  show(a, b) {
    if (this.sides?.[0].curve !== a.curve || this.sides[1].curve !== b.curve) {
      this.view = {from: 0, to: 1};
      this.hovered = null;
    }
    this.sides = [a, b];
    this.draw();
  }

  /** @param {number} share of the width */
  share(share) {
    return this.view.from + share * (this.view.to - this.view.from);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  zoom(from, to) {
    this.view = {from: Math.max(0, from), to: Math.min(1, Math.max(to, from + LEAST_SHARE))};
    this.draw();
  }

  /** Return the step and bytes of each side at the pointer, and the growth. */
  lines() {
    const {sides, hovered} = this;
    if (!sides || hovered === null) return [];
    const steps = sides.map((side) => stepOfShare(side, hovered));
    const bytes = sides.map((side, index) => side.curve[steps[index]] ?? 0);
    return [
      `before: ${humanBytes(bytes[0])} at step ${numberText(steps[0])}`,
      `after: ${humanBytes(bytes[1])} at step ${numberText(steps[1])}`,
      bytes[0] === bytes[1] ? 'the same' : growthText(bytes[1] - bytes[0]),
    ];
  }

  /**
   * @param {number | null} share
   * @param {number} x
   * @param {number} y
   */
  hover(share, x, y) {
    this.hovered = share;
    this.tip.show(share === null ? null : this.lines().map((line) => element('div', null, line)), x, y);
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const direction = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (event.key === '0') this.zoom(0, 1);
    else if (direction) {
      const {from, to} = this.view;
      const next = (this.hovered ?? from) + direction * STRIDE * (to - from);
      this.hovered = Math.min(Math.max(next, from), to - LEAST_SHARE);
      announce(this.lines().join(', '));
      this.draw();
    } else return;
    event.preventDefault();
  }

  draw() {
    const {sides, view, hovered, ink} = this;
    if (!sides) return;
    const inView = hovered !== null && hovered >= view.from && hovered <= view.to ? hovered : null;
    drawOverlaidTimelines(this.canvas, {sides, view, hovered: inView}, ink, (context, top, bottom) =>
      this.brush.draw(context, ink.accent, top, bottom),
    );
  }
}
