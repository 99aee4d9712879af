/** What is computed once for a memory space and a grouping, and drawn many times. */

import {groupValues} from '../plan/grouping.js';
import {BoxPainter} from '../plots/box_painter.js';
import {largestStep} from '../plots/timeline.js';

/** @typedef {import('../plan/grouping.js').Origins} Origins */
/** @typedef {import('../plan/plan.js').Plan} Plan */
/** @typedef {import('../plan/plan.js').Space} Space */

/** A memory space of a plan, ready to be painted. */
export class SpacePicture {
  /**
   * @param {Plan} plan
   * @param {number} color
   */
  constructor(plan, color) {
    this.plan = plan;
    /** @type {Space} */
    this.space = plan.space(color);
    this.painter = new BoxPainter(plan, this.space);
    const {total} = plan.timeline(this.space, new Uint8Array(plan.values.rows), 1);
    /** The step of the physical peak. */
    this.peak = largestStep(total, 0, total.length - 1);
    this.peakBytes = total[this.peak] ?? 0;
    this.peakShares = plan.sharesAt(this.space, this.peak).bytes;
  }
}

/** Its values in groups, each with a colour and a curve. */
export class GroupPicture {
  /**
   * @param {SpacePicture} picture
   * @param {Origins} origins
   * @param {import('../plan/grouping.js').By} by
   * @param {'light' | 'dark'} theme
   */
  constructor(picture, origins, by, theme) {
    this.grouping = groupValues(origins, by, picture.peakShares, theme);
    this.groups = this.grouping.groups;
    this.colours = this.groups.map((group) => group.colour);
    this.curves = picture.plan.timeline(picture.space, this.grouping.of, this.groups.length);
  }
}
