/** The frame of all pages of the service: links between the pages, and error texts. */

import {element, replace} from '../elements/dom.js';
import {toggleTheme} from '../theme.js';

/** @typedef {import('../elements/dom.js').Child} Child */

/**
 * Show a page below the links to the other pages.
 * @param {string} title
 * @param {...(Child | Child[])} children
 */
export function showPage(title, ...children) {
  document.title = `${title} – xlagraph`;
  for (const link of document.querySelectorAll('.pages a:not(.name)')) {
    if (link.getAttribute('href') === location.pathname) link.setAttribute('aria-current', 'page');
  }
  const links = document.querySelector('.pages');
  if (links && !links.querySelector('button')) {
    links.append(element('button.icon', {type: 'button', title: 'light or dark', 'aria-label': 'light or dark', onclick: toggleTheme}, '◐'));
  }
  replace(document.getElementById('page') ?? document.body, element('main.list.service', null, ...children));
}

/**
 * @param {unknown} error
 * @returns {HTMLElement}
 */
export function errorLine(error) {
  return element('p.error', {role: 'alert'}, error instanceof Error ? error.message : String(error));
}

/**
 * Fill an element with content when it is ready, or with the error.
 * @param {HTMLElement} parent
 * @param {() => Promise<Child | Child[]>} make
 */
export async function fillLater(parent, make) {
  replace(parent, element('p.faint', null, 'loading …'));
  try {
    replace(parent, await make());
  } catch (error) {
    replace(parent, errorLine(error));
  }
}

/**
 * Run something when Ctrl+Enter or ⌘+Enter is pressed in a field.
 * @param {HTMLElement} field
 * @param {() => void} run
 */
export function onCtrlEnter(field, run) {
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    run();
  });
}
