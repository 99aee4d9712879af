/** A value's details: its origin, its live range, its bytes, its readers. */

import {copyButton, element} from '../elements/dom.js';
import {counted, humanBytes, numberText, roleTitle, shareText, shellQuoted} from '../elements/format.js';

/** @typedef {import('../data/grouping.js').Origins} Origins */
/** @typedef {import('../data/compilation.js').Compilation} Compilation */

/** The rules of attribution in words. @type {Record<string, string>} */
const RULES = {
  inside: 'of what it computes',
  operand: 'of what it moves',
  reader: 'of its first reader',
};
const SHOWN = 10;

/**
 * @typedef {object} DetailsActions
 * @property {(value: number) => void} pin
 * @property {(step: number) => void} choose
 * @property {(value: number | null) => void} hover
 * @property {(value: number) => void} centre
 */

/**
 * Make the details of the last pinned value, and the list of the other pins.
 * @param {Origins} origins
 * @param {number[]} pins at least one value, the last one first
 * @param {() => void} unpin unpins the last pinned value
 * @param {DetailsActions} actions
 * @returns {(HTMLElement | null)[]}
 */
export function pinnedValues(origins, [first, ...others], unpin, actions) {
  const items = others.map((value) => element('li', null, valueButton(origins.compilation, value, actions)));
  return [
    element('button.close', {type: 'button', 'aria-label': 'unpin', title: 'unpin (Esc)', onclick: unpin}, '×'),
    valueDetails(origins.compilation, origins, first, actions),
    items.length ? element('section', null, element('h3', null, 'also pinned'), element('ul', null, items)) : null,
  ];
}

/**
 * @param {Compilation} compilation
 * @param {Origins} origins
 * @param {number} value
 * @param {DetailsActions} actions
 * @returns {HTMLElement}
 */
function valueDetails(compilation, origins, value, actions) {
  const {values} = compilation;
  const text = (/** @type {string} */ name) => values.column(name).text(value);
  const number = (/** @type {string} */ name) => values.column(name).at(value);
  const label = text('label');
  return element(
    'article.details',
    {'aria-label': `details of ${label}`},
    element('h2', {title: label}, label),
    element('p.headline', null, element('b', null, humanBytes(compilation.size[value])), ` ${text('shape')}${text('layout')}`),
    element(
      'p.buttons',
      null,
      element('button.small', {type: 'button', onclick: () => actions.centre(value)}, 'show in map'),
      copyButton('copy command', () => `xlagraph value ${shellQuoted(label)} --compilation ${shellQuoted(compilation.key)}`),
      copyButton('copy link', () => location.href),
    ),
    section('made by', madeBy(compilation, origins, value, actions)),
    section('life', [life(compilation, value, actions)]),
    section('at the peak', [atPeak(compilation, value, actions)]),
    section('storage', [storage(compilation, value)]),
    number('denseBytes') !== null && Number(number('denseBytes')) < compilation.size[value]
      ? section('padding', [`${humanBytes(compilation.size[value] - Number(number('denseBytes')))} of it is padding`])
      : null,
    section('takes bytes of', neighbours(compilation, compilation.takenFrom(value), 'earlier', actions)),
    section('gives bytes to', neighbours(compilation, compilation.takenBy(value), 'later', actions)),
    section('read by', readers(compilation, value, actions)),
    section('names', names(compilation, value)),
  );
}

/**
 * @param {string} title
 * @param {(Node | string)[]} lines
 */
function section(title, lines) {
  if (!lines.length) return null;
  const shown = lines.slice(0, SHOWN);
  const list = element('ul', null, shown.map((line) => element('li', null, line)));
  if (lines.length > SHOWN) {
    const more = element('button.link', {type: 'button', onclick: () => {
      list.replaceChildren(...lines.map((line) => element('li', null, line)));
      more.remove();
    }}, `and ${lines.length - SHOWN} more`);
    return element('section', null, element('h3', null, title), list, more);
  }
  return element('section', null, element('h3', null, title), list);
}

/**
 * @param {Compilation} compilation
 * @param {number} value
 * @param {DetailsActions} actions
 */
export function valueButton(compilation, value, actions) {
  const label = compilation.values.column('label').text(value);
  return element(
    'button.link.value',
    {
      type: 'button',
      title: label,
      onclick: () => actions.pin(value),
      onpointerenter: () => actions.hover(value),
      onpointerleave: () => actions.hover(null),
      onfocus: () => actions.hover(value),
      onblur: () => actions.hover(null),
    },
    label,
  );
}

/**
 * @param {number} step
 * @param {DetailsActions} actions
 */
function stepButton(step, actions) {
  return element('button.link', {type: 'button', onclick: () => actions.choose(step)}, `step ${numberText(step)}`);
}

/**
 * @param {...(Node | string | null | undefined | false)} parts
 */
function line(...parts) {
  return element('span', null, ...parts);
}

/**
 * @param {Compilation} compilation
 * @param {Origins} origins
 * @param {number} value
 * @param {DetailsActions} actions
 */
function madeBy(compilation, origins, value, actions) {
  const row = compilation.values.column('instruction').integer(value);
  const opcode = compilation.values.column('opcode').text(value) || 'opcode unknown';
  const lines = [];
  if (row < 0) {
    lines.push(opcode);
  } else {
    const step = compilation.instructions.column('step').integer(row);
    lines.push(line(`${compilation.instructions.column('name').text(row)} (${opcode})`, step >= 0 ? ' at ' : null, step >= 0 ? stepButton(step, actions) : null));
  }
  const op = origins.op.text(value);
  const rule = origins.rule.text(value);
  if (op) lines.push(element('span.op', {title: op}, op, rule === 'own' ? null : element('span.faint', null, ` (${RULES[rule] ?? rule})`)));
  else lines.push(element('span.faint', null, 'no op name: unattributed'));
  const stack = compilation.stack(value);
  const {columns} = compilation.frames;
  for (const [depth, frame] of stack.entries()) {
    const source = `${columns.file.text(frame)}:${columns.line.integer(frame)}`;
    lines.push(element('span.frame', {title: source}, depth ? '↳ from ' : '', element('b', null, columns.function.text(frame)), ` ${source}`));
  }
  if (!stack.length && origins.sourceLine(value)) lines.push(element('span.frame', null, origins.sourceLine(value)));
  return lines;
}

/**
 * @param {Compilation} compilation
 * @param {number} value
 * @param {DetailsActions} actions
 */
function life(compilation, value, actions) {
  const why = compilation.values.column('why').text(value);
  if (compilation.from[value] < 0) return why;
  return line(
    stepButton(compilation.from[value], actions),
    ' to ',
    stepButton(Math.min(compilation.until[value], compilation.steps - 1), actions),
    ` of ${numberText(compilation.steps - 1)} (${counted(compilation.until[value] - compilation.from[value] + 1, 'step')}); ${why}`,
  );
}

/**
 * @param {Compilation} compilation
 * @param {number} value
 * @param {DetailsActions} actions
 */
function atPeak(compilation, value, actions) {
  const holder = compilation.holder[value];
  if (holder < 0) return 'unknown';
  const space = compilation.space(compilation.allocations.column('memorySpace').integer(holder));
  const step = space.row < 0 ? -1 : compilation.spaces.column('physicalPeakStep').integer(space.row);
  if (step < 0) return 'unknown: the dump has no live ranges';
  const {values, bytes} = compilation.sharesAt(space, step);
  const whole = compilation.spaces.column('physicalPeakBytes').number(space.row);
  if (!values.includes(value)) return line('not live at the physical peak, ', stepButton(step, actions));
  let rank = 1;
  for (const other of values) if (bytes[other] > bytes[value]) rank += 1;
  return line(`${humanBytes(bytes[value])}, ${shareText(bytes[value] / whole)} of ${humanBytes(whole)} at `, stepButton(step, actions), `; number ${numberText(rank)} of ${numberText(values.length)}`);
}

/**
 * @param {Compilation} compilation
 * @param {number} value
 */
function storage(compilation, value) {
  const holder = compilation.holder[value];
  if (holder < 0) return 'unknown';
  const cell = (/** @type {string} */ name) => compilation.allocations.column(name).at(holder);
  const parameter = cell('parameterNumber');
  const role = `${roleTitle(String(cell('role') ?? 'role unknown'))}${parameter === null ? '' : ` ${parameter}${cell('shapeIndex') ?? ''}`}`;
  return `allocation ${cell('number')} (${role}, ${humanBytes(compilation.allocations.column('sizeBytes').number(holder))}) of memory space ${cell('memorySpace')}, from byte ${numberText(compilation.offset[value])}`;
}

/**
 * @param {Compilation} compilation
 * @param {import('../data/compilation.js').Neighbour[]} found
 * @param {string} side
 * @param {DetailsActions} actions
 */
function neighbours(compilation, found, side, actions) {
  return found.map(({value, sharedBytes, steps, inPlace}) =>
    line(
      element(`span.tag${inPlace ? '.inplace' : ''}`, null, inPlace ? 'in place' : 'reuse'),
      ' ',
      valueButton(compilation, value, actions),
      ` ${humanBytes(sharedBytes)}, `,
      inPlace ? stepButton(steps, actions) : `${counted(steps, 'step')} ${side}`,
    ),
  );
}

/**
 * @param {Compilation} compilation
 * @param {number} value
 * @param {DetailsActions} actions
 */
function readers(compilation, value, actions) {
  const {columns} = compilation.uses;
  const rows = Array.from(compilation.readers.of(value));
  const step = (/** @type {number} */ use) => compilation.instructions.column('step').integer(columns.instruction.integer(use));
  rows.sort((a, b) => (step(a) < 0 ? 1 : 0) - (step(b) < 0 ? 1 : 0) || step(a) - step(b) || a - b);
  return rows.map((use) => {
    const reader = columns.instruction.integer(use);
    const name = compilation.instructions.column('name').text(reader);
    const made = compilation.defined.of(reader);
    const operand = columns.operand.integer(use);
    return line(
      step(use) >= 0 ? stepButton(step(use), actions) : element('span.faint', null, 'not scheduled'),
      ' ',
      made.length ? valueButton(compilation, made[0], actions) : name,
      element('span.faint', null, ` ${compilation.instructions.column('opcode').text(reader)}${operand >= 0 ? `, operand ${operand}` : ''}`),
    );
  });
}

/**
 * @param {Compilation} compilation
 * @param {number} value
 */
function names(compilation, value) {
  const {columns} = compilation.positions;
  const rows = Array.from(compilation.names.of(value));
  if (rows.length < 2) return [];
  return rows.map((row) => `${compilation.instructions.column('name').text(columns.instruction.integer(row))}${columns.shapeIndex.text(row)}`);
}
