/** Data derived from the state of the view of a compilation: computed once, drawn many times. */

import {groupValues} from '../data/grouping.js';
import {pathsBy} from '../data/origins.js';
import {BoxPainter} from '../plots/box_painter.js';
import {largestStep} from '../plots/timeline.js';
import {findValues} from './search.js';

/** @typedef {import('../data/compilation.js').Compilation} Compilation */
/** @typedef {import('../data/compilation.js').Space} Space */
/** @typedef {import('../data/origins.js').Origins} Origins */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('../data/scopes.js').ScopePart} ScopePart */
/** @typedef {import('../data/compilation.js').Shares} Shares */
/** @typedef {'light' | 'dark'} Theme */

/** A memory space of a compilation, ready to paint. */
export class SpacePicture {
  /**
   * @param {Compilation} compilation
   * @param {number} color
   */
  constructor(compilation, color) {
    /** @type {Space} */
    this.space = compilation.space(color);
    this.painter = new BoxPainter(compilation, this.space);
    const {total} = compilation.timeline(this.space, new Uint8Array(compilation.values.rows), 1);
    /** The step of the physical peak. */
    this.peak = largestStep(total, 0, total.length - 1);
    this.peakBytes = total[this.peak] ?? 0;
    this.peakShares = compilation.sharesAt(this.space, this.peak);
  }
}

/** The values of a memory space in groups, each with a colour and a curve. */
export class GroupPicture {
  /**
   * @param {SpacePicture} picture
   * @param {Origins} origins
   * @param {import('../data/grouping.js').By} by
   * @param {Theme} theme
   */
  constructor(picture, origins, by, theme) {
    const {groups, of} = groupValues(origins, by, picture.peakShares.bytes, theme);
    this.groups = groups;
    /** Index of the group of each value. */
    this.of = of;
    this.colours = groups.map((group) => group.colour);
    this.curves = origins.compilation.timeline(picture.space, of, groups.length);
  }
}

export class Scene {
  /**
   * @param {Origins} origins
   * @param {State} state
   * @param {Theme} theme
   * @param {Scene | null} previous source of unchanged data
   */
  constructor(origins, state, theme, previous) {
    const {compilation} = origins;
    this.compilation = compilation;
    /** @type {SpacePicture} */
    this.picture = previous?.picture.space.color === state.color ? previous.picture : new SpacePicture(compilation, state.color);
    this.groupedBy = `${state.color} ${state.by} ${theme}`;
    /** @type {GroupPicture} */
    this.group = previous?.groupedBy === this.groupedBy ? previous.group : new GroupPicture(this.picture, origins, state.by, theme);
    const {groups, curves, of} = this.group;
    /** Index of the only group that is not faded; -1 if there is none. */
    this.chosenGroup = groups.findIndex((each) => each.name === state.group);
    this.pathedBy = `${state.pathBy} ${state.isFolded}`;
    /** A value's path in the icicle. @type {(value: number) => ScopePart[]} */
    this.pathOf = previous?.pathedBy === this.pathedBy ? previous.pathOf : pathsBy(origins, state.pathBy, state.isFolded);
    const {words, path, view} = state;
    this.found = findValues(origins, {words, group: this.chosenGroup, path}, of, this.pathOf);
    /** Step of figures and panels: the chosen one, or the one with most bytes in view. @type {number} */
    this.step = state.step ?? largestStep(curves.total, Math.floor(view.from), Math.ceil(view.to) - 1);
    /** The bytes that each value holds at the step. @type {Shares} */
    this.shares = this.sharesAt(this.step, previous);
  }

  /**
   * @param {number} step
   * @param {Scene | null} previous
   * @returns {Shares}
   */
  sharesAt(step, previous) {
    if (step === this.picture.peak) return this.picture.peakShares;
    if (previous?.picture === this.picture && previous.step === step) return previous.shares;
    return this.compilation.sharesAt(this.picture.space, step);
  }

  /**
   * Return the steps at which a value is read.
   * @param {number} value
   * @returns {number[]}
   */
  readerSteps(value) {
    const {uses, instructions, readers} = this.compilation;
    const instruction = uses.column('instruction');
    const step = instructions.column('step');
    return Array.from(readers.of(value), (use) => step.integer(instruction.integer(use))).filter((at) => at >= 0);
  }

  /**
   * Return the search matches, the largest first.
   * @returns {number[]}
   */
  matches() {
    const {size} = this.compilation;
    const {matches} = this.found;
    if (!matches) return [];
    return [...matches.keys()].filter((row) => matches[row]).sort((a, b) => size[b] - size[a] || a - b);
  }
}
