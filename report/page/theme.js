/** Light or dark: the system's setting until the user chooses. */

const STORED = 'xlagraph-theme';

/** @returns {string | null} */
export function storedTheme() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

/**
 * Use a theme; null for the system's theme.
 * @param {string | null} theme
 */
export function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try {
    if (theme) localStorage.setItem(STORED, theme);
  } catch {
    // a page from disk may not be allowed to store anything
  }
}

/** @returns {'light' | 'dark'} the theme that is shown */
export function shownTheme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Change from light to dark, or back. */
export function toggleTheme() {
  setTheme(shownTheme() === 'dark' ? 'light' : 'dark');
}
