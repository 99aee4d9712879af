/** Keep the page's state in the URL fragment, so that a link shows the same view. */

const PAUSE_MILLISECONDS = 200;

/** @type {number | undefined} */
let waiting;

/** @returns {URLSearchParams} */
export function readFragment() {
  return new URLSearchParams(location.hash.slice(1));
}

/**
 * Write settings to the fragment after a pause, without null and empty settings.
 *
 * If another address was opened in the pause (a link was clicked), nothing is written: `hashchange` may not have been handled yet, and
 * the view would read its own settings again and stay.
 * @param {Record<string, string | number | null | undefined>} settings
 */
export function writeFragment(settings) {
  clearTimeout(waiting);
  const address = location.href;
  waiting = setTimeout(() => {
    if (location.href === address) history.replaceState(history.state, '', fragmentOf(settings));
  }, PAUSE_MILLISECONDS);
}

/** Begin a step in the browser's history: its back button returns to the settings until now. */
export function beginStep() {
  clearTimeout(waiting);
  history.pushState(history.state, '', location.href);
}

/**
 * Go to another view; the browser's back button returns.
 * @param {Record<string, string | number | null | undefined>} settings
 */
export function goTo(settings) {
  clearTimeout(waiting);
  location.hash = fragmentOf(settings).slice(1);
}

/**
 * @param {Record<string, string | number | null | undefined>} settings
 * @returns {string}
 */
export function fragmentOf(settings) {
  const kept = new URLSearchParams();
  for (const [name, setting] of Object.entries(settings)) {
    if (setting !== null && setting !== undefined && setting !== '') kept.set(name, String(setting));
  }
  return `#${kept}`;
}
