/** The canned queries by theme: each has a question and a form. */

import {element, replace} from '../elements/dom.js';
import {ask, root} from './api.js';
import {showPage} from './layout.js';

/** @typedef {import('./api.js').Query} Query */

export async function showCatalogue() {
  const queries = /** @type {Query[]} */ ((await ask('queries')).rows);
  const list = element('div.themes');
  const field = /** @type {HTMLInputElement} */ (
    element('input', {type: 'search', placeholder: 'find a question', 'aria-label': 'find a question', oninput: () => show()})
  );
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = queries.filter((query) => {
      const text = `${query.id} ${query.question} ${query.title}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const sections = [...byTheme(found)].map(([theme, members]) => themeSection(theme, members));
    replace(list, sections.length ? sections : element('p', {role: 'status'}, `No question has the words “${field.value.trim()}”.`));
  };
  show();
  showPage('Queries', element('h1', null, 'What do you want to know?'), field, list);
}

/**
 * @param {Query[]} queries
 * @returns {Map<string, Query[]>}
 */
function byTheme(queries) {
  /** @type {Map<string, Query[]>} */
  const themes = new Map();
  for (const query of queries) {
    const theme = query.id.slice(0, query.id.indexOf('/'));
    themes.set(theme, [...(themes.get(theme) ?? []), query]);
  }
  return themes;
}

/**
 * @param {string} theme
 * @param {Query[]} queries
 * @returns {HTMLElement}
 */
function themeSection(theme, queries) {
  const lines = queries.map((query) =>
    element('li', null, element('a', {href: `${root()}/query/${query.id}`}, query.question), ' ', element('code.faint', null, query.id)),
  );
  return element('section', {'aria-label': theme}, element('h2', null, theme), element('ul', null, lines));
}
