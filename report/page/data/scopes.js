/** Split op names into scopes, and fold repeated layers: names that differ in one number. */

/** A part of a folded op name: `name` covers all layers (`h_#`), `title` is this one (`h_7`). */
/** @typedef {{name: string, title: string}} ScopePart */

/** Minimum number of similar names that are repeated layers. */
const FEWEST_REPEATS = 3;
/** Maximum number of compared numbers in a name: names from dumps can be very long. */
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
 * Return the folded form of each name; the name itself if it is not repeated.
 *
 * Names are repeated if at least three of them differ only in one number: `h_0`, `h_1` and `h_2`
 * become `h_#`. If a name has several numbers, the one with the most values is folded.
 * @param {Iterable<string>} names distinct
 * @returns {Map<string, string>}
 */
export function foldedNames(names) {
  /** @type {Map<string, string>} */
  const folded = new Map();
  /** @type {Map<string, SplitName[]>} by the text between the numbers */
  const alike = new Map();
  for (const name of names) {
    folded.set(name, name);
    const pieces = name.split(/(\d+)/);
    if (pieces.length === 1) continue;
    const text = name.replace(/\d+/g, '\0');
    const members = alike.get(text);
    if (members) members.push({name, pieces});
    else alike.set(text, [{name, pieces}]);
  }
  for (const members of alike.values()) if (members.length >= FEWEST_REPEATS) foldAlike(members, folded);
  return folded;
}

/** A name, split into alternating strings and numbers. */
/** @typedef {{name: string, pieces: string[]}} SplitName */

/**
 * Fold names that have the same text between their numbers.
 * @param {SplitName[]} members
 * @param {Map<string, string>} folded
 */
function foldAlike(members, folded) {
  const place = mostVaried(members);
  /** @type {Map<string, string[]>} */
  const repeats = new Map();
  for (const {name, pieces} of members) {
    pieces[place] = '#';
    const pattern = pieces.join('');
    const same = repeats.get(pattern);
    if (same) same.push(name);
    else repeats.set(pattern, [name]);
  }
  for (const [pattern, names] of repeats) {
    if (names.length >= FEWEST_REPEATS) for (const name of names) folded.set(name, pattern);
  }
}

/**
 * Return the index of the number that has the most values; the first of several.
 * @param {SplitName[]} members
 * @returns {number}
 */
function mostVaried(members) {
  let [best, most] = [1, 0];
  const end = Math.min(members[0].pieces.length, 2 * MOST_NUMBERS);
  for (let place = 1; place < end; place += 2) {
    const {size} = new Set(members.map(({pieces}) => pieces[place]));
    if (size > most) [best, most] = [place, size];
  }
  return best;
}

/**
 * An op name with its repeated layers folded.
 * @typedef {object} FoldedScope
 * @property {string} name
 * @property {boolean} isRepeated true if any part is folded
 * @property {ScopePart[]} parts
 */

/** @typedef {{parts: string[], folded: FoldedScope}} FoldedOp */

/**
 * Fold the repeated layers of op names, from the outermost scope inwards. Scopes inside repeated
 * layers are compared across all of these layers.
 * @param {Iterable<string>} ops distinct op names
 * @returns {Map<string, FoldedScope>}
 */
export function foldScopes(ops) {
  /** @type {Map<string, FoldedScope>} */
  const found = new Map();
  /** @type {FoldedOp[]} */
  const all = [];
  for (const op of ops) {
    /** @type {FoldedScope} */
    const folded = {name: '', isRepeated: false, parts: []};
    found.set(op, folded);
    all.push({parts: scopeParts(op), folded});
  }
  let level = all.length ? [all] : [];
  for (let depth = 0; level.length; depth += 1) level = level.flatMap((alike) => foldPart(alike, depth));
  return found;
}

/**
 * Fold one part of op names with equal outer parts; return the names grouped by the folded part.
 * @param {FoldedOp[]} alike
 * @param {number} depth
 */
function foldPart(alike, depth) {
  const outer = alike[0].folded.name;
  /** @type {Map<string, FoldedOp[]>} */
  const byTitle = new Map();
  for (const op of alike) {
    if (op.parts.length <= depth) continue;
    const same = byTitle.get(op.parts[depth]);
    if (same) same.push(op);
    else byTitle.set(op.parts[depth], [op]);
  }
  /** @type {Map<string, FoldedOp[]>} */
  const inside = new Map();
  for (const [title, name] of foldedNames(byTitle.keys())) {
    const part = {name, title};
    const path = depth ? `${outer}/${name}` : name;
    const members = inside.get(path) ?? [];
    inside.set(path, members);
    for (const op of byTitle.get(title) ?? []) {
      op.folded.name = path;
      op.folded.isRepeated ||= name !== title;
      op.folded.parts.push(part);
      members.push(op);
    }
  }
  return [...inside.values()];
}

/**
 * Return the title of folded names: `h_0 … h_95 ×96`.
 * @param {Iterable<string>} names distinct
 * @returns {string}
 */
export function foldedTitle(names) {
  const sorted = [...names].sort(IN_NUMERICAL_ORDER.compare);
  if (sorted.length === 1) return sorted[0];
  return `${sorted[0]} … ${sorted[sorted.length - 1]} ×${sorted.length}`;
}
