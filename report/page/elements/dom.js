/** Make elements. Text from a dump stays text and never becomes markup. */

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Make an element. Properties such as `onclick` are listeners, `text` is text, others are attributes.
 * @param {string} tag with classes: `div.card.wide`
 * @param {Record<string, unknown> | null} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function element(tag, properties, ...children) {
  const [name, ...classes] = tag.split('.');
  const made = document.createElement(name || 'div');
  if (classes.length) made.className = classes.join(' ');
  fill(made, properties, children);
  return made;
}

/**
 * Make an SVG element.
 * @param {string} name
 * @param {Record<string, unknown> | null} [properties]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(name, properties, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  fill(made, properties, children);
  return made;
}

/**
 * @param {Element} made
 * @param {Record<string, unknown> | null | undefined} properties
 * @param {(Child | Child[])[]} children
 */
function fill(made, properties, children) {
  for (const [key, setting] of Object.entries(properties ?? {})) {
    if (setting === null || setting === undefined || setting === false) continue;
    if (key.startsWith('on')) {
      made.addEventListener(key.slice(2), /** @type {EventListener} */ (setting));
    } else if (key === 'text') {
      made.textContent = String(setting);
    } else {
      made.setAttribute(key, setting === true && !key.startsWith('aria-') ? '' : String(setting));
    }
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) {
      made.append(child instanceof Node ? child : String(child));
    }
  }
}

/**
 * Replace the children of an element.
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function replace(parent, ...children) {
  parent.replaceChildren();
  fill(parent, null, children);
}

/**
 * Fit a canvas to its layout size, and return its context in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 * @returns {{context: CanvasRenderingContext2D, width: number, height: number, ratio: number}}
 */
export function fitted(canvas) {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const width = Math.max(1, canvas.clientWidth);
  const height = Math.max(1, canvas.clientHeight);
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return {context, width, height, ratio};
}

/**
 * Make a button that copies a text and announces it.
 * @param {string} label
 * @param {() => string} text
 * @returns {HTMLElement}
 */
export function copyButton(label, text) {
  const button = element('button.small', {type: 'button', onclick: copy}, label);
  async function copy() {
    const wanted = text();
    try {
      await navigator.clipboard.writeText(wanted);
    } catch {
      copyBySelection(wanted);
    }
    button.textContent = 'copied';
    announce(`copied ${wanted}`);
    setTimeout(() => (button.textContent = label), 1200);
  }
  return button;
}

/** @param {string} text */
function copyBySelection(text) {
  const area = /** @type {HTMLTextAreaElement} */ (element('textarea.offscreen'));
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

/**
 * Announce a text to screen readers.
 * @param {string} text
 */
export function announce(text) {
  let line = document.getElementById('announcer');
  if (!line) {
    line = element('div.offscreen', {id: 'announcer', 'aria-live': 'polite'});
    document.body.append(line);
  }
  line.textContent = text;
}

/**
 * Make a select field with a label.
 * @param {string} label
 * @param {[string, string][]} choices value and shown text of each option
 * @param {string} chosen
 * @param {(value: string) => void} choose
 * @returns {HTMLElement}
 */
export function choice(label, choices, chosen, choose) {
  const select = /** @type {HTMLSelectElement} */ (
    element(
      'select',
      {
        'aria-label': label,
        onchange: () => choose(select.value),
      },
      choices.map(([value, shown]) => element('option', {value, selected: value === chosen}, shown)),
    )
  );
  return element('label.choice', null, element('span', null, label), select);
}
