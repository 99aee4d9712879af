/** The timeline and the address map of a compilation, drawn in the next frame. */

import {element} from '../elements/dom.js';
import {counted, humanBytes, numberText} from '../elements/format.js';
import {AddressMap} from '../plots/address_map.js';
import {Timeline} from '../plots/timeline.js';

/** @typedef {import('../plots/address_map.js').MapWindow} MapWindow */
/** @typedef {import('../plots/axis.js').Ink} Ink */

/**
 * @typedef {object} PlotsPicture
 * @property {import('./scene.js').SpacePicture} space
 * @property {import('./scene.js').GroupPicture} group
 * @property {number} chosenGroup index of the only group that is not faded; -1 if there is none
 * @property {Uint8Array | null} matches by value: the others are faded; null if none is
 * @property {MapWindow} view
 * @property {number | null} step the chosen one
 * @property {number[]} pins values
 * @property {number[]} readers steps at which the pinned value is read
 * @property {Float64Array} other bytes that are live at each step of another order; empty if unknown
 */

/**
 * @typedef {object} PlotsActions
 * @property {(value: number, x: number, y: number) => void} hoverValue -1 if there is none
 * @property {(step: number | null, x: number, y: number) => void} hoverStep
 * @property {(value: number, add: boolean) => void} pin
 * @property {(step: number) => void} choose
 * @property {(view: MapWindow) => void} move
 * @property {() => void} showAll
 */

export class Plots {
  /**
   * @param {(value: number) => string} labelOf
   * @param {PlotsActions} actions
   */
  constructor(labelOf, actions) {
    this.labelOf = labelOf;
    this.timeline = new Timeline(newCanvas('canvas.timeline', true), {
      zoom: (from, to) => this.picture && actions.move({...this.picture.view, from, to}),
      choose: actions.choose,
      hover: (step, x, y) => {
        this.mark(-1, step);
        actions.hoverStep(step, x, y);
      },
      all: actions.showAll,
      redraw: () => this.redraw(),
    });
    this.map = new AddressMap(newCanvas('canvas', false), newCanvas('canvas.overlay', true), {
      hover: (value, step, x, y) => {
        this.map.overlay.style.cursor = value >= 0 ? 'pointer' : 'grab';
        this.mark(value, step);
        actions.hoverValue(value, x, y);
      },
      pin: actions.pin,
      move: actions.move,
      all: actions.showAll,
    });
    this.thin = element('span.thin');
    this.nodes = [this.timeline.canvas, element('div.map', null, this.map.canvas, this.map.overlay, this.thin)];
    /** @type {PlotsPicture | null} */
    this.picture = null;
    /** @type {Ink | null} */
    this.ink = null;
    this.hovered = -1;
    /** @type {number | null} */
    this.hoveredStep = null;
    /** Window and size of the last drawn map. */
    this.drawn = '';
    this.isWaiting = false;
    this.observer = new ResizeObserver(() => this.redraw());
    for (const {canvas} of [this.timeline, this.map]) this.observer.observe(canvas);
  }

  close() {
    this.observer.disconnect();
    this.picture = null;
  }

  /**
   * @param {PlotsPicture} picture
   * @param {Ink} ink
   */
  show(picture, ink) {
    [this.picture, this.ink] = [picture, ink];
    this.drawn = '';
    this.redraw();
  }

  /**
   * Show another window of the same picture.
   * @param {MapWindow} view
   */
  scroll(view) {
    if (this.picture) this.picture = {...this.picture, view};
    this.redraw();
  }

  /**
   * Outline the hovered value and mark the hovered step.
   * @param {number} value -1 if there is none
   * @param {number | null} step
   */
  mark(value, step) {
    [this.hovered, this.hoveredStep] = [value, step];
    this.redraw();
  }

  /** Draw in the next frame. */
  redraw() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      if (this.picture && this.ink) this.draw(this.picture, this.ink);
    });
  }

  /**
   * @param {PlotsPicture} picture
   * @param {Ink} ink
   */
  draw(picture, ink) {
    this.drawTimeline(picture, ink);
    const {canvas} = this.map;
    const wanted = [...Object.values(picture.view), canvas.clientWidth, canvas.clientHeight, devicePixelRatio].join();
    if (wanted !== this.drawn) {
      this.drawn = wanted;
      this.drawMap(picture, ink);
    }
    const {hovered, hoveredStep} = this;
    this.map.drawMarks({hovered, pins: picture.pins, step: picture.step, hoveredStep}, ink);
  }

  /**
   * @param {PlotsPicture} picture
   * @param {Ink} ink
   */
  drawTimeline({space, group, chosenGroup, view, step, readers, other}, ink) {
    const {peak, peakBytes} = space;
    const {bytes} = space.space;
    this.timeline.draw(
      {
        curves: group.curves,
        colours: group.colours,
        shown: group.groups.map((_, index) => chosenGroup < 0 || chosenGroup === index),
        reserved: bytes,
        other,
        from: view.from,
        to: view.to,
        peak,
        step,
        hovered: this.hoveredStep,
        readers,
      },
      ink,
    );
    this.timeline.canvas.setAttribute('aria-label', `timeline: physical peak ${humanBytes(peakBytes)} at step ${peak}, ${humanBytes(bytes)} reserved`);
  }

  /**
   * @param {PlotsPicture} picture
   * @param {Ink} ink
   */
  drawMap({space, group, matches, view}, ink) {
    const {painter} = space;
    this.map.draw(painter, {view, groupOf: group.of, colours: group.colours, matches, label: this.labelOf}, ink);
    const steps = `steps ${numberText(Math.floor(view.from))} to ${numberText(Math.ceil(view.to) - 1)}`;
    this.map.overlay.setAttribute('aria-label', `address map: ${counted(painter.boxes, 'value')} in ${humanBytes(space.space.bytes)}, ${steps}`);
    this.thin.textContent = painter.thin ? `${numberText(painter.thin)} of ${numberText(painter.boxes)} boxes are thinner than a pixel` : '';
  }
}

/**
 * @param {string} tag
 * @param {boolean} hasFocus
 */
function newCanvas(tag, hasFocus) {
  return /** @type {HTMLCanvasElement} */ (element(tag, hasFocus ? {tabindex: 0, role: 'img'} : {'aria-hidden': true}));
}
