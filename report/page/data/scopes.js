/** Scopes of op names, and repeated layers: names that differ in one number only are folded. */

/** A part of a folded op name: `name` stands for all layers (`h_#`), `title` for this one (`h_7`). */
/** @typedef {{name: string, title: string}} ScopePart */

/** Fewer names that are alike are no repeated layers. */
const FEWEST_REPEATS = 3;
/** Only so many numbers of a name are compared: a name from a dump can be very long. */
const MOST_NUMBERS = 16;
const IN_NUMERICAL_ORDER = new Intl.Collator('en', {numeric: true});

/**
 * Split an op name at `/` outside brackets.
 * @param {string} name
 * @returns {string[]}
 */
export function scopeParts(name) {
  const parts = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < name.length; index += 1) {
    const character = name[index];
    if (character === '(' || character === '[' || character === '{') depth += 1;
    else if (character === ')' || character === ']' || character === '}') depth -= 1;
    else if (character === '/' && depth <= 0) {
      parts.push(name.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(name.slice(start));
  return parts;
}

/**
 * Return the name that each name is folded into; its own if it is not repeated.
 *
 * Names are repeated if at least three are the same but for one number: `h_0`, `h_1` and `h_2` are
 * `h_#`. A name with several numbers is folded by the one that gives the most names.
 * @param {Set<string>} names
 * @returns {Map<string, string>}
 */
export function foldedNames(names) {
  /** @type {Map<string, number>} */
  const repeats = new Map();
  const patternsByName = Array.from(names, (name) => /** @type {[string, string[]]} */ ([name, patternsOf(name)]));
  for (const [, patterns] of patternsByName) {
    for (const pattern of patterns) repeats.set(pattern, (repeats.get(pattern) ?? 0) + 1);
  }
  /** @type {Map<string, string>} */
  const folded = new Map();
  for (const [name, patterns] of patternsByName) {
    let [best, most] = [name, FEWEST_REPEATS - 1];
    for (const pattern of patterns) {
      const count = repeats.get(pattern) ?? 0;
      if (count > most) [best, most] = [pattern, count];
    }
    folded.set(name, best);
  }
  return folded;
}

/**
 * Return a name with one of its numbers left out, for each of its numbers.
 * @param {string} name
 * @returns {string[]}
 */
function patternsOf(name) {
  const patterns = [];
  for (const {0: number, index} of name.matchAll(/\d+/g)) {
    patterns.push(`${name.slice(0, index)}#${name.slice(index + number.length)}`);
    if (patterns.length === MOST_NUMBERS) break;
  }
  return patterns;
}

/**
 * Fold the repeated layers of op names, from the outermost scope inwards: what is inside of
 * repeated layers is compared over all of them.
 * @param {Iterable<string>} ops distinct op names
 * @returns {Map<string, ScopePart[]>} the parts of each op name
 */
export function foldScopes(ops) {
  /** @type {Map<string, ScopePart[]>} */
  const folded = new Map();
  /** @type {{parts: string[], folded: ScopePart[]}[]} */
  const all = [];
  for (const op of ops) {
    /** @type {ScopePart[]} */
    const parts = [];
    folded.set(op, parts);
    all.push({parts: scopeParts(op), folded: parts});
  }
  let level = [all];
  for (let depth = 0; level.length; depth += 1) level = level.flatMap((alike) => foldPart(alike, depth));
  return folded;
}

/**
 * Fold one part of op names whose outer parts are alike; return them by what it is folded into.
 * @param {{parts: string[], folded: ScopePart[]}[]} alike
 * @param {number} depth
 */
function foldPart(alike, depth) {
  /** @type {Map<string, typeof alike>} */
  const byTitle = new Map();
  for (const op of alike) {
    if (op.parts.length <= depth) continue;
    const same = byTitle.get(op.parts[depth]);
    if (same) same.push(op);
    else byTitle.set(op.parts[depth], [op]);
  }
  /** @type {Map<string, typeof alike>} */
  const inside = new Map();
  for (const [title, name] of foldedNames(new Set(byTitle.keys()))) {
    const part = {name, title};
    const members = inside.get(name) ?? [];
    inside.set(name, members);
    for (const op of byTitle.get(title) ?? []) {
      op.folded.push(part);
      members.push(op);
    }
  }
  return [...inside.values()];
}

/**
 * Return the title of names that are folded into one: `h_0 … h_95 ×96`.
 * @param {Iterable<string>} names distinct
 * @returns {string}
 */
export function foldedTitle(names) {
  const sorted = [...names].sort(IN_NUMERICAL_ORDER.compare);
  if (sorted.length === 1) return sorted[0];
  return `${sorted[0]} … ${sorted[sorted.length - 1]} ×${sorted.length}`;
}
