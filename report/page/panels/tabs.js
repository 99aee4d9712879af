/** The tabs below the map; only the visible panel is updated. */

import {element, replace} from '../elements/dom.js';

/**
 * @typedef {object} Panel
 * @property {string} name
 * @property {() => string} title
 * @property {HTMLElement} node
 * @property {() => void} update called while the panel is visible
 */

export class Tabs {
  /**
   * @param {Panel[]} panels the first is shown if the requested name is unknown
   * @param {(name: string) => void} choose
   */
  constructor(panels, choose) {
    this.panels = panels;
    this.choose = choose;
    this.bar = element('div.tabs', {role: 'tablist'});
    this.panel = element('div.panel', {role: 'tabpanel', id: 'panel', tabindex: 0});
    this.node = element('section.lower', null, this.bar, this.panel);
  }

  /**
   * Show a panel.
   * @param {string} name
   * @param {string} about the step that the panels show
   */
  show(name, about) {
    const shown = this.panels.find((panel) => panel.name === name) ?? this.panels[0];
    replace(
      this.bar,
      this.panels.map((panel, index) => this.tab(panel, index, panel === shown)),
      element('span.about', null, about),
    );
    if (shown.node.parentElement !== this.panel) replace(this.panel, shown.node);
    shown.update();
  }

  /**
   * @param {Panel} panel
   * @param {number} index
   * @param {boolean} isShown
   */
  tab({name, title}, index, isShown) {
    return element(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${name}`,
        'aria-selected': isShown ? 'true' : 'false',
        'aria-controls': 'panel',
        title: `key ${index + 1}`,
        onclick: () => this.choose(name),
      },
      title(),
    );
  }
}
