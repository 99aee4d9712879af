/** The text next to the pointer. */

import {element, replace} from '../elements/dom.js';
import {humanBytes, numberText, shortened} from '../elements/format.js';

/** @typedef {import('../data/grouping.js').Origins} Origins */
/** @typedef {import('../data/compilation.js').Compilation} Compilation */
/** @typedef {import('../data/compilation.js').Neighbour} Neighbour */

const NEIGHBOURS = 2;

/** A box next to the pointer. */
export class Tip {
  constructor() {
    this.node = element('div.tip', {hidden: true, role: 'tooltip'});
    document.body.append(this.node);
  }

  /**
   * @param {Node[] | null} lines
   * @param {number} x
   * @param {number} y
   */
  show(lines, x, y) {
    this.node.hidden = !lines;
    if (!lines) return;
    replace(this.node, lines);
    const {width, height} = this.node.getBoundingClientRect();
    this.node.style.left = `${Math.max(4, x + 16 + width > innerWidth ? x - width - 12 : x + 16)}px`;
    this.node.style.top = `${Math.max(4, y + 18 + height > innerHeight ? y - height - 12 : y + 18)}px`;
  }
}

/**
 * Return the lines about a value: its size, its origin, and neighbours that share its bytes.
 * @param {Origins} origins
 * @param {number} value
 * @returns {HTMLElement[]}
 */
export function tipOfValue(origins, value) {
  const {compilation} = origins;
  const {label, shape, opcode} = compilation.values.columns;
  const source = origins.sourceLine(value);
  return [
    element('div', null, element('b', null, label.text(value)), ` ${humanBytes(compilation.size[value])}`),
    element('div.faint', null, `${shape.text(value)} ${opcode.text(value)}`),
    element('div', null, shortened(origins.op.text(value) || 'unattributed', 90)),
    ...(source ? [element('div.faint', null, shortened(source, 70))] : []),
    element('div', null, `steps ${numberText(compilation.from[value])}–${numberText(compilation.until[value])}`),
    ...neighbourLines(compilation, compilation.takenFrom(value), 'takes', 'of'),
    ...neighbourLines(compilation, compilation.takenBy(value), 'gives', 'to'),
  ];
}

/**
 * @param {Compilation} compilation
 * @param {Neighbour[]} neighbours
 * @param {string} verb
 * @param {string} preposition
 */
function neighbourLines(compilation, neighbours, verb, preposition) {
  const lines = neighbours.slice(0, NEIGHBOURS).map(({value, inPlace, sharedBytes}) => {
    const label = compilation.values.column('label').text(value);
    return `${verb} ${humanBytes(sharedBytes)} ${preposition} ${label}${inPlace ? ' in place' : ''}`;
  });
  if (neighbours.length > NEIGHBOURS) lines.push(`… ${verb} ${preposition} ${neighbours.length - NEIGHBOURS} more`);
  return lines.map((line) => element('div.faint', null, line));
}

/**
 * Return the lines about a step: its instruction, op and line, and its live bytes.
 * @param {Compilation} compilation
 * @param {number} step
 * @param {{total: Float64Array, logical: Float64Array}} curves
 * @param {number} reserved
 * @param {import('../panels/answers.js').OtherOrder | null} order
 * @returns {HTMLElement[]}
 */
export function tipOfStep(compilation, step, curves, reserved, order) {
  const row = compilation.instructionAt[step];
  const {name, opcode, opName, sourceFile, sourceLine} = compilation.instructions.columns;
  const instruction = row < 0 ? ' the end' : ` ${name.text(row)} ${opcode.text(row)}`;
  const lines = [element('div', null, element('b', null, `step ${numberText(step)}`), instruction)];
  if (row >= 0) {
    lines.push(element('div', null, shortened(opName.text(row) || 'unattributed', 90)));
    const file = sourceFile.text(row);
    if (file) lines.push(element('div.faint', null, `${shortened(file, 60)}:${sourceLine.integer(row)}`));
  }
  const [physical, logical] = [curves.total[step], curves.logical[step]];
  lines.push(element('div', null, `physical ${humanBytes(physical)}, logical ${humanBytes(logical)}`));
  lines.push(element('div.faint', null, `${humanBytes(reserved - physical)} of ${humanBytes(reserved)} reserved are idle`));
  const other = order?.bytes[step];
  if (other !== undefined) lines.push(element('div.faint', null, `${humanBytes(other)} at this step of the ${order?.name}`));
  return lines;
}
