/** Colours of boxes, and readable colours of the text on them. */

/** Tones of a colour: plain, lighter, darker. Neighbouring boxes differ in tone. */
export const TONES = 3;
/** Minimum contrast of text and background: WCAG 2.2, level AA. */
export const LEAST_CONTRAST = 4.5;
/** Share of a group's colour in a part of the icicle that is not a value. */
export const TINT = 0.22;

const [WHITE, BLACK] = ['#ffffff', '#000000'];
const FADED = 0.84;

/**
 * The colours of boxes, a tone after the other for each group, and of the text on them.
 * @typedef {{fills: string[], edges: string[], labels: string[]}} BoxColours
 */

/**
 * Mix two colours.
 * @param {string} colour `#rrggbb`
 * @param {number} share of the other
 * @param {string} other
 * @returns {string}
 */
export function mixed(colour, share, other) {
  const channels = channelsOf(colour).map((channel, index) => Math.round(channel * (1 - share) + channelsOf(other)[index] * share));
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * Write a colour as one pixel of a canvas.
 * @param {string} colour `#rrggbb`
 * @returns {number}
 */
export function pixelOf(colour) {
  const [red, green, blue] = channelsOf(colour);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/**
 * Return the relative luminance of a colour: 0 is black, 1 is white.
 * @param {string} colour `#rrggbb`
 * @returns {number}
 */
export function luminance(colour) {
  const [red, green, blue] = channelsOf(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * Return the contrast of two colours: 1 if they are the same, 21 for black and white.
 * @param {string} one
 * @param {string} other
 * @returns {number}
 */
export function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/**
 * Return the colour of text on a box: the preferred one if it is readable, else black or white,
 * whichever has more contrast. One of the two always has enough contrast.
 * @param {string} fill
 * @param {string} [preferred]
 * @returns {string}
 */
export function labelColour(fill, preferred) {
  if (preferred && contrast(fill, preferred) >= LEAST_CONTRAST) return preferred;
  return contrast(fill, BLACK) >= contrast(fill, WHITE) ? BLACK : WHITE;
}

/**
 * Return the colours of the boxes of the address map.
 * @param {string[]} colours by group
 * @param {import('./axis.js').Ink} ink
 * @returns {BoxColours}
 */
export function boxColours(colours, ink) {
  const fills = colours.flatMap(tones);
  return {
    fills,
    edges: colours.map((colour) => mixed(colour, 0.45, ink.theme === 'dark' ? BLACK : '#1b1d21')),
    labels: fills.map((fill) => labelColour(fill)),
  };
}

/**
 * Return the colours of boxes that do not match the search.
 * @param {string[]} colours by group
 * @param {import('./axis.js').Ink} ink
 * @returns {BoxColours}
 */
export function fadedBoxColours(colours, ink) {
  const fills = colours.flatMap(tones).map((fill) => mixed(fill, FADED, ink.plot));
  return {
    fills,
    edges: colours.map((colour) => mixed(colour, 0.7, ink.plot)),
    labels: fills.map((fill) => labelColour(fill, ink.faint)),
  };
}

/** @param {string} colour */
function tones(colour) {
  return [colour, mixed(colour, 0.13, WHITE), mixed(colour, 0.1, BLACK)];
}

/**
 * Write a computed colour in hexadecimal: `rgb(255, 0, 16)` is `#ff0010`.
 * @param {string} colour
 * @returns {string}
 */
export function hexOf(colour) {
  const channels = (colour.match(/[\d.]+/g) ?? []).slice(0, 3);
  return `#${channels.map((channel) => Math.round(Number(channel)).toString(16).padStart(2, '0')).join('')}`;
}

/** @param {string} colour `#rrggbb` */
function channelsOf(colour) {
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
}
