/** Load a page's parts from script elements of the file or from the service. */

/** @typedef {Float64Array | Int32Array | Uint8Array | Uint16Array | Uint32Array} Cells */

const UNKNOWN_NUMBER = -(2 ** 31);
const UNKNOWN_FLAG = 2;

const ARRAYS = {
  wide: Float64Array,
  number: Int32Array,
  flag: Uint8Array,
  text8: Uint8Array,
  text16: Uint16Array,
  text32: Uint32Array,
};

/** A column of a table; an unknown cell is null. */
export class Column {
  /**
   * @param {keyof typeof ARRAYS} kind
   * @param {Cells} cells
   * @param {string[]} strings
   */
  constructor(kind, cells, strings) {
    this.kind = kind;
    /** Packed cells; a text is its index in `strings`. */
    this.cells = cells;
    this.strings = strings;
    this.isText = kind.startsWith('text');
  }

  /**
   * Return a number; NaN if it is unknown.
   * @param {number} row
   */
  number(row) {
    const cell = this.cells[row];
    return cell === UNKNOWN_NUMBER && this.kind === 'number' ? NaN : cell;
  }

  /**
   * Return a whole number such as an index, a step or a line; -1 if it is unknown.
   * @param {number} row
   */
  integer(row) {
    const number = this.number(row);
    return Number.isNaN(number) ? -1 : number;
  }

  /**
   * @param {number} row
   * @returns {string}
   */
  text(row) {
    return this.strings[this.cells[row]];
  }

  /**
   * @param {number} row
   * @returns {boolean | null}
   */
  flag(row) {
    return this.cells[row] === UNKNOWN_FLAG ? null : this.cells[row] === 1;
  }

  /**
   * @param {number} row
   * @returns {string | number | boolean | null}
   */
  at(row) {
    if (this.isText) return this.text(row) || null;
    if (this.kind === 'flag') return this.flag(row);
    const number = this.number(row);
    return Number.isNaN(number) ? null : number;
  }
}

/** A table of a part. */
export class Table {
  /**
   * @param {number} rows
   * @param {Record<string, Column>} columns
   */
  constructor(rows, columns) {
    this.rows = rows;
    this.columns = columns;
  }

  /**
   * @param {string} name
   * @returns {Column}
   */
  column(name) {
    const found = this.columns[name];
    if (!found) throw new Error(`no column ${name}`);
    return found;
  }
}

/**
 * @typedef {object} Part
 * @property {Record<string, any>} facts
 * @property {Record<string, Table>} tables
 */

/** @type {Map<string, Promise<Part>>} */
const loaded = new Map();

/**
 * Return true if a service provides the parts; a file contains all of its parts.
 * @returns {boolean}
 */
export function isServed() {
  return document.querySelector('script[data-part]') === null;
}

/**
 * Load a part by name, once; a part that failed to load is loaded again next time.
 * @param {string} name
 * @returns {Promise<Part>}
 */
export function loadPart(name) {
  let part = loaded.get(name);
  if (!part) {
    part = packedBytes(name).then(unzipped).then(unpacked);
    loaded.set(name, part);
    part.catch(() => loaded.delete(name));
  }
  return part;
}

/**
 * @param {string} name
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function packedBytes(name) {
  for (const script of document.querySelectorAll('script[data-part]')) {
    if (/** @type {HTMLElement} */ (script).dataset.part === name) {
      return fromBase64(script.textContent ?? '');
    }
  }
  const answer = await fetch(`parts/${encodeURIComponent(name)}`);
  if (!answer.ok) throw new Error(`${name} was not found: ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
function fromBase64(text) {
  const decode = /** @type {any} */ (Uint8Array).fromBase64;
  if (decode) return decode(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = characters.charCodeAt(index);
  return bytes;
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<ArrayBuffer>}
 */
async function unzipped(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/**
 * Read a part from its uncompressed bytes.
 * @param {ArrayBuffer} buffer
 * @returns {Part}
 */
export function unpacked(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  /** @type {Record<string, Table>} */
  const tables = {};
  for (const [name, table] of Object.entries(/** @type {Record<string, any>} */ (head.tables))) {
    /** @type {Record<string, Column>} */
    const columns = {};
    for (const [key, {kind, offset}] of Object.entries(/** @type {Record<string, any>} */ (table.columns))) {
      const type = ARRAYS[/** @type {keyof typeof ARRAYS} */ (kind)];
      columns[key] = new Column(kind, new type(buffer, 4 + length + offset, table.rows), head.strings);
    }
    tables[name] = new Table(table.rows, columns);
  }
  return {facts: head.facts, tables};
}
