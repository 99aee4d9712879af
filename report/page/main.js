/** Shows the part of the page that its fragment names. */

import {element, replace} from './elements/dom.js';
import {readFragment} from './fragment.js';
import {loadPart} from './plan/pack.js';
import {rememberTheme, storedTheme} from './theme.js';
import {CompilationView} from './views/compilation.js';
import {ComparisonView} from './views/comparison.js';
import {showList} from './views/list.js';

const root = document.getElementById('page') ?? document.body.appendChild(element('div', {id: 'page'}));

/** @type {{key: string, close: () => void} | null} */
let open = null;

document.documentElement.dataset.scripted = '';
rememberTheme(storedTheme());

async function show() {
  const key = readFragment().get('c');
  if (open && key === open.key) return;
  open?.close();
  open = null;
  const start = await loadPart('start');
  const overview = start.facts.kind === 'comparison' ? await loadPart('compilations') : start;
  const {columns, rows} = overview.tables.compilations;
  if (start.facts.kind === 'comparison' && !key) {
    const carried = [...Array(rows).keys()].filter((row) => columns.carried.flag(row));
    const view = new ComparisonView(root, start, new Set(carried.map((row) => columns.compilation.text(row))));
    open = {key: '', close: () => view.close()};
    return;
  }
  const only = rows === 1 && columns.carried.flag(0) ? columns.compilation.text(0) : null;
  const wanted = key ?? only;
  if (!wanted) {
    showList(root, overview);
    return;
  }
  const view = new CompilationView(root, await loadPart(wanted), overview, start.facts.kind === 'comparison');
  open = {key: key ?? wanted, close: () => view.close()};
}

async function showOrFail() {
  try {
    await show();
  } catch (error) {
    console.error(error);
    replace(root, element('main.list', null, element('h1', null, 'This view cannot be shown'), element('p', null, String(error)), element('p', null, element('a', {href: '#'}, 'start again'))));
  }
  requestAnimationFrame(() => (document.documentElement.dataset.ready = ''));
}

window.addEventListener('hashchange', showOrFail);
void showOrFail();
