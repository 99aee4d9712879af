/** Show the page of the service at the current address. */

import {setTheme, storedTheme} from '../theme.js';
import {root} from './api.js';
import {showCatalogue} from './catalogue.js';
import {showCypher} from './cypher.js';
import {errorLine, showPage} from './layout.js';
import {showHome} from './home.js';
import {showQuery} from './query.js';

async function show() {
  const path = decodeURIComponent(location.pathname.slice(root().length));
  if (path === '/queries') await showCatalogue();
  else if (path === '/cypher') showCypher();
  else if (path.startsWith('/query/')) await showQuery(path.slice('/query/'.length));
  else await showHome();
}

document.documentElement.dataset.scripted = '';
setTheme(storedTheme());
try {
  await show();
} catch (error) {
  showPage('xlagraph', errorLine(error));
}
requestAnimationFrame(() => (document.documentElement.dataset.ready = ''));
