/** Draws the plots of a compilation as its state says. */

import {replace} from '../elements/dom.js';
import {counted, humanBytes, numberText} from '../elements/format.js';
import {chips} from './header.js';

/** @typedef {import('./compilation.js').CompilationView} CompilationView */

/** @param {CompilationView} view */
export function drawPlots(view) {
  drawTimeline(view);
  const {canvas} = view.map;
  const wanted = [...Object.values(view.state.view), canvas.clientWidth, canvas.clientHeight, devicePixelRatio].join();
  if (wanted !== view.drawn) {
    view.drawn = wanted;
    drawMap(view);
  }
  const {hovered, hoveredStep, state, ink} = view;
  view.map.drawMarks({hovered, pins: state.pins, step: state.step, hoveredStep}, ink);
}

/** @param {CompilationView} view */
function drawTimeline(view) {
  const {group, state} = view;
  view.timeline.draw(
    {
      curves: group.curves,
      colours: group.colours,
      shown: group.groups.map((each) => state.group === null || state.group === each.name),
      reserved: view.picture.space.bytes,
      from: state.view.from,
      to: state.view.to,
      peak: view.picture.peak,
      step: state.step,
      hovered: view.hoveredStep,
      readers: state.pins.length ? readerSteps(view, state.pins[0]) : [],
    },
    view.ink,
  );
}

/** @param {CompilationView} view */
function drawMap(view) {
  const {state, group, plan} = view;
  const {space, peak, painter, peakBytes} = view.picture;
  const label = (/** @type {number} */ value) => plan.values.column('label').text(value);
  view.map.draw(painter, {view: state.view, of: group.grouping.of, colours: group.colours, matches: view.found.matches, label}, view.ink);
  view.timeline.canvas.setAttribute('aria-label', `timeline: physical peak ${humanBytes(peakBytes)} at step ${peak}, ${humanBytes(space.bytes)} reserved`);
  view.map.overlay.setAttribute('aria-label', `address map: ${counted(painter.boxes, 'value')} in ${humanBytes(space.bytes)}, steps ${numberText(Math.floor(state.view.from))} to ${numberText(Math.ceil(state.view.to) - 1)}`);
  replace(view.chips, chips(view));
  view.thin.textContent = painter.thin ? `${numberText(painter.thin)} of ${numberText(painter.boxes)} boxes are thinner than a pixel` : '';
}

/**
 * Return the steps at which a value is read.
 * @param {CompilationView} view
 * @param {number} value
 */
function readerSteps({plan}, value) {
  const readers = plan.uses.column('instruction');
  const step = plan.instructions.column('step');
  return Array.from(plan.readers.of(value), (use) => step.integer(readers.integer(use))).filter((at) => at >= 0);
}
