/** Start the page and show the view that the fragment names. */

import {element, replace} from './elements/dom.js';
import {readFragment} from './fragment.js';
import {loadPart} from './data/parts.js';
import {setTheme, storedTheme} from './theme.js';
import {CompilationView} from './views/compilation.js';
import {ComparisonView} from './views/comparison.js';
import {showList} from './views/list.js';

const root = document.getElementById('page') ?? document.body.appendChild(element('div', {id: 'page'}));

/** @type {{key: string, close: () => void} | null} */
let open = null;

document.documentElement.dataset.scripted = '';
setTheme(storedTheme());

/** Number of requested views: a view that loads slowly does not replace a later one. */
let asked = 0;

/** Milliseconds until a view that is not there yet says so. */
const WORDLESS_MS = 300;

/** The timer of the latest requested view: an earlier one must not write over a later view. */
let wait = 0;

/**
 * Load the compilation with a key, or the start page if null; return the function that shows it.
 * @param {string | null} key
 * @returns {Promise<() => typeof open>}
 */
async function loaded(key) {
  const start = await loadPart('start');
  const overview = start.facts.kind === 'comparison' ? await loadPart('compilations') : start;
  const {columns, rows} = overview.tables.compilations;
  if (start.facts.kind === 'comparison' && !key) {
    const carried = [...Array(rows).keys()].filter((row) => columns.carried.flag(row));
    const keys = new Set(carried.map((row) => columns.compilation.text(row)));
    return () => {
      const view = new ComparisonView(root, start, keys);
      return {key: '', close: () => view.close()};
    };
  }
  const only = rows === 1 && columns.carried.flag(0) ? columns.compilation.text(0) : null;
  const wanted = key ?? only;
  if (!wanted) {
    return () => {
      showList(root, overview);
      return null;
    };
  }
  const part = await loadPart(wanted);
  return () => {
    const view = new CompilationView(root, part, overview, start.facts.kind === 'comparison');
    return {key: wanted, close: () => view.close()};
  };
}

async function show() {
  const key = readFragment().get('c');
  if (open && key === open.key) return;
  open?.close();
  open = null;
  const number = (asked += 1);
  clearTimeout(wait);
  wait = setTimeout(() => replace(root, element('p.loading', {role: 'status'}, `loading ${key ?? 'the view'} …`)), WORDLESS_MS);
  try {
    const render = await loaded(key);
    if (number !== asked) return;
    clearTimeout(wait);
    open = render();
    document.title = titleOf(key);
  } catch (error) {
    if (number !== asked) return;
    clearTimeout(wait);
    console.error(error);
    showError(error);
  }
  requestAnimationFrame(() => (document.documentElement.dataset.ready = ''));
}

const ownTitle = document.title;

/**
 * Return the title of a view, which the browser's tabs and history show.
 * @param {string | null} key
 */
function titleOf(key) {
  return key ? `${key} – xlagraph` : ownTitle;
}

/** @param {unknown} error */
function showError(error) {
  // the address does not change if it is already the start page
  const again = () => {
    if (!location.hash) void show();
  };
  replace(
    root,
    element(
      'main.list',
      null,
      element('h1', null, 'This view cannot be shown'),
      element('p', null, String(error)),
      element('p', null, element('a', {href: '#', onclick: again}, 'start again')),
    ),
  );
}

window.addEventListener('hashchange', show);
void show();
