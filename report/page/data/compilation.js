/** Data of a compilation: live ranges, addresses and shared bytes of its values. */

/** @typedef {import('./parts.js').Table} Table */
/** @typedef {import('./parts.js').Part} Part */

/** The allocations of a memory space, laid end to end and grouped by role, largest first. */
export class Space {
  /**
   * @param {number} row of the table of spaces
   * @param {number} color
   * @param {number} bytes
   * @param {Int32Array} allocations rows, by address
   * @param {Float64Array} bases of each allocation of the compilation, NaN in other spaces
   */
  constructor(row, color, bytes, allocations, bases) {
    this.row = row;
    this.color = color;
    this.bytes = bytes;
    this.allocations = allocations;
    this.bases = bases;
  }
}

/** Another value that uses the same bytes earlier or later. */
/** @typedef {{value: number, sharedBytes: number, steps: number, inPlace: boolean}} Neighbour */

/** The values that are live at a step, and the bytes that each value holds. */
/** @typedef {{values: Int32Array, bytes: Float64Array}} Shares */

const THREAD_LOCAL = 'threadLocal';

export class Compilation {
  /** @param {Part} part */
  constructor(part) {
    this.part = part;
    this.facts = part.facts;
    const {values, instructions, allocations, spaces, frames, uses, positions, successions} = part.tables;
    /** @type {Table} */ this.values = values;
    /** @type {Table} */ this.instructions = instructions;
    /** @type {Table} */ this.allocations = allocations;
    /** @type {Table} */ this.spaces = spaces;
    /** @type {Table} */ this.frames = frames;
    /** @type {Table} */ this.uses = uses;
    /** @type {Table} */ this.positions = positions;
    /** @type {Table} */ this.successions = successions;
    /** @type {string} */ this.key = part.facts.key;
    /** Number of steps of live ranges, including the end step after the last instruction. */
    this.steps = (part.facts.scheduleLength ?? 0) + 1;
    this.size = /** @type {Float64Array} */ (values.column('sizeBytes').cells);
    this.offset = /** @type {Float64Array} */ (values.column('offsetBytes').cells);
    this.from = /** @type {Int32Array} */ (values.column('liveFrom').cells);
    this.until = /** @type {Int32Array} */ (values.column('liveUntil').cells);
    this.holder = /** @type {Int32Array} */ (values.column('allocation').cells);
    this.isLive = new Uint8Array(values.rows);
    for (let row = 0; row < values.rows; row += 1) {
      if (this.from[row] >= 0 && this.until[row] >= 0 && this.size[row] > 0) this.isLive[row] = 1;
    }
    this.instructionAt = new Int32Array(this.steps).fill(-1);
    const step = instructions.column('step');
    for (let row = 0; row < instructions.rows; row += 1) {
      if (step.integer(row) >= 0) this.instructionAt[step.integer(row)] = row;
    }
    this.readers = new RowsByOwner(values.rows, uses.column('value').cells);
    this.names = new RowsByOwner(values.rows, positions.column('value').cells);
    this.before = new RowsByOwner(values.rows, successions.column('later').cells);
    this.after = new RowsByOwner(values.rows, successions.column('earlier').cells);
    this.defined = new RowsByOwner(instructions.rows, values.column('instruction').cells);
    /** @type {Map<number, Space>} by color */
    this.layouts = new Map();
    /** @type {Map<number, Int32Array>} by color */
    this.live = new Map();
    /** @type {Map<string, number> | null} */
    this.byLabel = null;
  }

  /** @returns {number[]} the colors of the memory spaces: 0 first, then the most reserved bytes */
  colors() {
    const reserved = this.spaces.column('reservedBytes');
    const color = this.spaces.column('color');
    const rows = [...Array(this.spaces.rows).keys()];
    const isFirst = (/** @type {number} */ row) => Number(color.integer(row) === 0);
    rows.sort((a, b) => isFirst(b) - isFirst(a) || reserved.number(b) - reserved.number(a));
    return rows.map((row) => color.integer(row));
  }

  /**
   * Lay the allocations of a memory space end to end.
   * @param {number} color
   * @returns {Space}
   */
  space(color) {
    const known = this.layouts.get(color);
    if (known) return known;
    const sizes = this.allocations.column('sizeBytes');
    const roles = this.allocations.column('role');
    const colors = this.allocations.column('memorySpace');
    const rows = [];
    /** @type {Map<string, number>} */
    const byRole = new Map();
    for (let row = 0; row < this.allocations.rows; row += 1) {
      const role = roles.text(row);
      if (colors.integer(row) !== color || role === THREAD_LOCAL) continue;
      rows.push(row);
      byRole.set(role, (byRole.get(role) ?? 0) + sizes.number(row));
    }
    const ranked = [...byRole].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([role]) => role);
    const rank = Int32Array.from({length: this.allocations.rows}, (_, row) => ranked.indexOf(roles.text(row)));
    rows.sort((a, b) => rank[a] - rank[b] || sizes.number(b) - sizes.number(a) || a - b);
    const bases = new Float64Array(this.allocations.rows).fill(NaN);
    let bytes = 0;
    for (const row of rows) {
      bases[row] = bytes;
      bytes += sizes.number(row);
    }
    let spaceRow = -1;
    for (let row = 0; row < this.spaces.rows; row += 1) {
      if (this.spaces.column('color').integer(row) === color) spaceRow = row;
    }
    const made = new Space(spaceRow, color, bytes, Int32Array.from(rows), bases);
    this.layouts.set(color, made);
    return made;
  }

  /**
   * Return a value's address in a memory space; NaN if it is elsewhere.
   * @param {Space} space
   * @param {number} value
   */
  address(space, value) {
    return this.holder[value] < 0 ? NaN : space.bases[this.holder[value]] + this.offset[value];
  }

  /**
   * Return the rows of the values with a live range in a memory space.
   * @param {Space} space
   * @returns {Int32Array}
   */
  liveValues(space) {
    const known = this.live.get(space.color);
    if (known) return known;
    const rows = [];
    for (let row = 0; row < this.values.rows; row += 1) {
      if (this.isLive[row] && !Number.isNaN(this.address(space, row))) rows.push(row);
    }
    const made = Int32Array.from(rows);
    this.live.set(space.color, made);
    return made;
  }

  /**
   * Return the physical bytes of each group at each step, and the total logical bytes.
   *
   * Bytes that two values share at a step belong to the later value. Two values share bytes at
   * one step at most: the step at which the later one updates the earlier one in place.
   * @param {Space} space
   * @param {Uint8Array} groupOf by value
   * @param {number} groups
   * @returns {{physical: Float64Array[], total: Float64Array, logical: Float64Array}}
   */
  timeline(space, groupOf, groups) {
    const length = this.steps + 1;
    const physical = Array.from({length: groups}, () => new Float64Array(length));
    const logical = new Float64Array(length);
    for (const value of this.liveValues(space)) {
      const curve = physical[groupOf[value]];
      curve[this.from[value]] += this.size[value];
      curve[this.until[value] + 1] -= this.size[value];
      logical[this.from[value]] += this.size[value];
      logical[this.until[value] + 1] -= this.size[value];
    }
    const {earlier, inPlace, steps, sharedBytes} = this.successions.columns;
    for (let row = 0; row < this.successions.rows; row += 1) {
      const value = earlier.integer(row);
      if (inPlace.flag(row) !== true || Number.isNaN(this.address(space, value))) continue;
      const curve = physical[groupOf[value]];
      curve[steps.integer(row)] -= sharedBytes.number(row);
      curve[steps.integer(row) + 1] += sharedBytes.number(row);
    }
    const total = new Float64Array(this.steps);
    for (const curve of physical) {
      for (let step = 0; step < this.steps; step += 1) {
        if (step) curve[step] += curve[step - 1];
        total[step] += curve[step];
      }
    }
    for (let step = 1; step < this.steps; step += 1) logical[step] += logical[step - 1];
    return {physical, total, logical: logical.subarray(0, this.steps)};
  }

  /**
   * Return the bytes of each value at a step; they add up to the physical bytes of the space.
   * @param {Space} space
   * @param {number} step
   * @returns {Shares}
   */
  sharesAt(space, step) {
    const bytes = new Float64Array(this.values.rows);
    const rows = [];
    for (const row of this.liveValues(space)) {
      if (this.from[row] <= step && step <= this.until[row]) {
        bytes[row] = this.size[row];
        rows.push(row);
      }
    }
    const {earlier, inPlace, steps, sharedBytes} = this.successions.columns;
    for (let row = 0; row < this.successions.rows; row += 1) {
      if (inPlace.flag(row) === true && steps.integer(row) === step) {
        if (bytes[earlier.integer(row)] > 0) bytes[earlier.integer(row)] -= sharedBytes.number(row);
      }
    }
    return {values: Int32Array.from(rows), bytes};
  }

  /**
   * Return the values whose bytes a value reuses, sorted by bytes, descending.
   * @param {number} value
   * @returns {Neighbour[]}
   */
  takenFrom(value) {
    return this.neighbours(this.before.of(value), 'earlier');
  }

  /**
   * Return the values that reuse a value's bytes, sorted by bytes, descending.
   * @param {number} value
   * @returns {Neighbour[]}
   */
  takenBy(value) {
    return this.neighbours(this.after.of(value), 'later');
  }

  /**
   * @param {Int32Array} rows
   * @param {string} end
   * @returns {Neighbour[]}
   */
  neighbours(rows, end) {
    const {columns} = this.successions;
    const found = Array.from(rows, (row) => ({
      value: columns[end].integer(row),
      sharedBytes: columns.sharedBytes.number(row),
      steps: columns.steps.integer(row),
      inPlace: columns.inPlace.flag(row) === true,
    }));
    return found.sort((a, b) => b.sharedBytes - a.sharedBytes || a.value - b.value);
  }

  /**
   * Return the value with a label; -1 if there is none.
   * @param {string} label
   * @returns {number}
   */
  valueOf(label) {
    if (!this.byLabel) {
      this.byLabel = new Map();
      for (let row = this.values.rows - 1; row >= 0; row -= 1) {
        this.byLabel.set(this.values.column('label').text(row), row);
      }
    }
    return this.byLabel.get(label) ?? -1;
  }

  /**
   * Return the call stack that a value is attributed to, innermost first, as rows of frames.
   * @param {number} value
   * @returns {number[]}
   */
  stack(value) {
    const {caller} = this.frames.columns;
    const found = [];
    for (let frame = this.values.column('frame').integer(value); frame >= 0; frame = caller.integer(frame)) {
      found.push(frame);
    }
    return found;
  }
}

/** The rows of a table that refer to each row of another table. */
class RowsByOwner {
  /**
   * @param {number} count
   * @param {import('./parts.js').Cells} owners
   */
  constructor(count, owners) {
    this.starts = new Int32Array(count + 1);
    for (const owner of owners) if (owner >= 0) this.starts[owner + 1] += 1;
    for (let row = 0; row < count; row += 1) this.starts[row + 1] += this.starts[row];
    const next = this.starts.slice();
    this.rows = new Int32Array(this.starts[count]);
    owners.forEach((/** @type {number} */ owner, /** @type {number} */ row) => {
      if (owner >= 0) this.rows[next[owner]++] = row;
    });
  }

  /**
   * @param {number} owner
   * @returns {Int32Array}
   */
  of(owner) {
    return this.rows.subarray(this.starts[owner], this.starts[owner + 1]);
  }
}
