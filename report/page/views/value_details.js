/** The details of a value: what it is, who made it, whose bytes it has, who reads it, its end. */

import {copyButton, element} from '../elements/dom.js';
import {counted, humanBytes, numberText, roleTitle, shareText, shellQuoted, shortened} from '../elements/format.js';

/** @typedef {import('../plan/grouping.js').Origins} Origins */
/** @typedef {import('../plan/plan.js').Plan} Plan */

/** What the rules of attribution mean. @type {Record<string, string>} */
const RULES = {
  inside: 'of what it computes',
  operand: 'of what it moves',
  reader: 'of its first reader',
};
const SHOWN = 10;
const LARGEST_SHOWN = 14;

/**
 * @typedef {object} DetailsActions
 * @property {(value: number) => void} pin
 * @property {(step: number) => void} choose
 * @property {(value: number | null) => void} hover
 * @property {(value: number) => void} centre
 */

/**
 * @param {Plan} plan
 * @param {Origins} origins
 * @param {number} value
 * @param {DetailsActions} actions
 * @returns {HTMLElement}
 */
export function valueDetails(plan, origins, value, actions) {
  const {values} = plan;
  const text = (/** @type {string} */ name) => values.column(name).text(value);
  const number = (/** @type {string} */ name) => values.column(name).at(value);
  const label = text('label');
  return element(
    'article.details',
    {'aria-label': `details of ${label}`},
    element('h2', {title: label}, label),
    element('p.headline', null, element('b', null, humanBytes(plan.size[value])), ` ${text('shape')}${text('layout')}`),
    element(
      'p.buttons',
      null,
      element('button.small', {type: 'button', onclick: () => actions.centre(value)}, 'show in map'),
      copyButton('copy command', () => `xlagraph value ${shellQuoted(label)} --compilation ${shellQuoted(plan.key)}`),
      copyButton('copy link', () => location.href),
    ),
    section('made by', madeBy(plan, origins, value, actions)),
    section('life', [life(plan, value, actions)]),
    section('at the peak', [atPeak(plan, value, actions)]),
    section('storage', [storage(plan, value)]),
    number('denseBytes') !== null && Number(number('denseBytes')) < plan.size[value]
      ? section('padding', [`${humanBytes(plan.size[value] - Number(number('denseBytes')))} of it is padding`])
      : null,
    section('takes bytes of', neighbours(plan, plan.takenFrom(value), 'earlier', actions)),
    section('gives bytes to', neighbours(plan, plan.takenBy(value), 'later', actions)),
    section('read by', readers(plan, value, actions)),
    section('names', names(plan, value)),
  );
}

/**
 * Make the list of the values that hold most at a step.
 * @param {Origins} origins
 * @param {string} title
 * @param {{values: Int32Array, bytes: Float64Array}} shares
 * @param {(value: number) => string} colourOf
 * @param {DetailsActions} actions
 * @returns {HTMLElement[]}
 */
export function largestValues(origins, title, {values, bytes}, colourOf, actions) {
  const {plan} = origins;
  const largest = [...values].sort((a, b) => bytes[b] - bytes[a] || a - b).slice(0, LARGEST_SHOWN);
  const most = bytes[largest[0]] || 1;
  const items = largest.map((value) => {
    const bar = element('span.bar');
    bar.style.width = `${(bytes[value] / most) * 100}%`;
    bar.style.background = colourOf(value);
    const op = origins.op.text(value) || `${plan.values.column('opcode').text(value)}, unattributed`;
    return element(
      'li',
      null,
      valueButton(plan, value, actions),
      element('span.figure', null, humanBytes(bytes[value])),
      bar,
      element('span.faint', {title: op}, shortened(op, 46)),
    );
  });
  return [
    element('h2', null, title),
    element('ul.largest', null, items),
    element(
      'p.faint',
      null,
      'Click a box of the map for its details. Drag in the timeline to zoom, in the map to move; the wheel zooms. Press ? for all keys.',
    ),
  ];
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
 * @param {Plan} plan
 * @param {number} value
 * @param {DetailsActions} actions
 */
export function valueButton(plan, value, actions) {
  const label = plan.values.column('label').text(value);
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
 * @param {Plan} plan
 * @param {Origins} origins
 * @param {number} value
 * @param {DetailsActions} actions
 */
function madeBy(plan, origins, value, actions) {
  const row = plan.values.column('instruction').integer(value);
  const opcode = plan.values.column('opcode').text(value) || 'opcode unknown';
  const lines = [];
  if (row < 0) {
    lines.push(opcode);
  } else {
    const step = plan.instructions.column('step').integer(row);
    lines.push(line(`${plan.instructions.column('name').text(row)} (${opcode})`, step >= 0 ? ' at ' : null, step >= 0 ? stepButton(step, actions) : null));
  }
  const op = origins.op.text(value);
  const rule = origins.rule.text(value);
  if (op) lines.push(element('span.op', {title: op}, op, rule === 'own' ? null : element('span.faint', null, ` (${RULES[rule] ?? rule})`)));
  else lines.push(element('span.faint', null, 'no op name: unattributed'));
  const stack = plan.stack(value);
  const {columns} = plan.frames;
  for (const [depth, frame] of stack.entries()) {
    const source = `${columns.file.text(frame)}:${columns.line.integer(frame)}`;
    lines.push(element('span.frame', {title: source}, depth ? '↳ from ' : '', element('b', null, columns.function.text(frame)), ` ${source}`));
  }
  if (!stack.length && origins.sourceLine(value)) lines.push(element('span.frame', null, origins.sourceLine(value)));
  return lines;
}

/**
 * @param {Plan} plan
 * @param {number} value
 * @param {DetailsActions} actions
 */
function life(plan, value, actions) {
  const why = plan.values.column('why').text(value);
  if (plan.from[value] < 0) return why;
  return line(
    stepButton(plan.from[value], actions),
    ' to ',
    stepButton(Math.min(plan.until[value], plan.steps - 1), actions),
    ` of ${numberText(plan.steps - 1)} (${counted(plan.until[value] - plan.from[value] + 1, 'step')}); ${why}`,
  );
}

/**
 * @param {Plan} plan
 * @param {number} value
 * @param {DetailsActions} actions
 */
function atPeak(plan, value, actions) {
  const holder = plan.holder[value];
  if (holder < 0) return 'unknown';
  const space = plan.space(plan.allocations.column('memorySpace').integer(holder));
  const step = space.row < 0 ? -1 : plan.spaces.column('physicalPeakStep').integer(space.row);
  if (step < 0) return 'unknown: the dump has no live ranges';
  const {values, bytes} = plan.sharesAt(space, step);
  const whole = plan.spaces.column('physicalPeakBytes').number(space.row);
  if (!values.includes(value)) return line('not live at the physical peak, ', stepButton(step, actions));
  let rank = 1;
  for (const other of values) if (bytes[other] > bytes[value]) rank += 1;
  return line(`${humanBytes(bytes[value])}, ${shareText(bytes[value] / whole)} of ${humanBytes(whole)} at `, stepButton(step, actions), `; number ${numberText(rank)} of ${numberText(values.length)}`);
}

/**
 * @param {Plan} plan
 * @param {number} value
 */
function storage(plan, value) {
  const holder = plan.holder[value];
  if (holder < 0) return 'unknown';
  const cell = (/** @type {string} */ name) => plan.allocations.column(name).at(holder);
  const parameter = cell('parameterNumber');
  const role = `${roleTitle(String(cell('role') ?? 'role unknown'))}${parameter === null ? '' : ` ${parameter}${cell('shapeIndex') ?? ''}`}`;
  return `allocation ${cell('number')} (${role}, ${humanBytes(plan.allocations.column('sizeBytes').number(holder))}) of memory space ${cell('memorySpace')}, from byte ${numberText(plan.offset[value])}`;
}

/**
 * @param {Plan} plan
 * @param {import('../plan/plan.js').Neighbour[]} found
 * @param {string} side
 * @param {DetailsActions} actions
 */
function neighbours(plan, found, side, actions) {
  return found.map(({value, sharedBytes, steps, inPlace}) =>
    line(
      element(`span.tag${inPlace ? '.inplace' : ''}`, null, inPlace ? 'in place' : 'reuse'),
      ' ',
      valueButton(plan, value, actions),
      ` ${humanBytes(sharedBytes)}, `,
      inPlace ? stepButton(steps, actions) : `${counted(steps, 'step')} ${side}`,
    ),
  );
}

/**
 * @param {Plan} plan
 * @param {number} value
 * @param {DetailsActions} actions
 */
function readers(plan, value, actions) {
  const {columns} = plan.uses;
  const rows = Array.from(plan.readers.of(value));
  const step = (/** @type {number} */ use) => plan.instructions.column('step').integer(columns.instruction.integer(use));
  rows.sort((a, b) => (step(a) < 0 ? 1 : 0) - (step(b) < 0 ? 1 : 0) || step(a) - step(b) || a - b);
  return rows.map((use) => {
    const reader = columns.instruction.integer(use);
    const name = plan.instructions.column('name').text(reader);
    const made = plan.defined.of(reader);
    const operand = columns.operand.integer(use);
    return line(
      step(use) >= 0 ? stepButton(step(use), actions) : element('span.faint', null, 'not scheduled'),
      ' ',
      made.length ? valueButton(plan, made[0], actions) : name,
      element('span.faint', null, ` ${plan.instructions.column('opcode').text(reader)}${operand >= 0 ? `, operand ${operand}` : ''}`),
    );
  });
}

/**
 * @param {Plan} plan
 * @param {number} value
 */
function names(plan, value) {
  const {columns} = plan.positions;
  const rows = Array.from(plan.names.of(value));
  if (rows.length < 2) return [];
  return rows.map((row) => `${plan.instructions.column('name').text(columns.instruction.integer(row))}${columns.shapeIndex.text(row)}`);
}
