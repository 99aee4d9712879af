/** The panel with the icicle: bytes at a step by op scope, call stack or source line. */

import {PATHS} from '../data/origins.js';
import {choice, element} from '../elements/dom.js';
import {humanBytes, shareText} from '../elements/format.js';
import {Icicle, UNATTRIBUTED, branchAt, branches, pathTo} from '../plots/icicle.js';

/** @typedef {import('../data/origins.js').PathBy} PathBy */
/** @typedef {import('../data/scopes.js').ScopePart} ScopePart */

/**
 * @typedef {object} HoldersPicture
 * @property {import('../data/compilation.js').Shares} shares the bytes that each value holds
 * @property {(value: number) => ScopePart[]} pathOf
 * @property {PathBy} by
 * @property {boolean} isFolded
 * @property {string[]} path path of the branch that fills the width
 * @property {import('../views/scene.js').GroupPicture} group
 * @property {import('../plots/axis.js').Ink} ink
 */

/**
 * @typedef {object} HoldersActions
 * @property {(by: PathBy) => void} sumUpBy
 * @property {(isFolded: boolean) => void} fold
 * @property {(path: string[]) => void} open
 * @property {(value: number) => void} pin
 * @property {(value: number | null, text: string | null, x: number, y: number) => void} hover
 */

export class HoldersPanel {
  /**
   * @param {(value: number) => string} labelOf
   * @param {HoldersActions} actions
   */
  constructor(labelOf, actions) {
    this.labelOf = labelOf;
    this.actions = actions;
    this.canvas = /** @type {HTMLCanvasElement} */ (element('canvas.icicle', {tabindex: 0, role: 'img', 'aria-label': 'icicle'}));
    this.icicle = new Icicle(this.canvas, {
      open: (branch) => actions.open(pathTo(branch)),
      pin: actions.pin,
      hover: (branch, x, y) => {
        const value = branch && branch.value >= 0 ? branch.value : null;
        actions.hover(value, branch && this.icicle.sentence(branch), x, y);
      },
      redraw: () => this.redraw(),
    });
    this.unattributed = element('span.faint');
    this.fold = /** @type {HTMLInputElement} */ (
      element('input', {type: 'checkbox', onchange: () => actions.fold(this.fold.checked)})
    );
    this.foldLabel = element('label.choice', null, this.fold, element('span', null, 'fold repeated layers'));
    const by = choice('by', PATHS, 'scope', (chosen) => actions.sumUpBy(/** @type {PathBy} */ (chosen)));
    this.by = /** @type {HTMLSelectElement} */ (by.querySelector('select'));
    this.node = element('div.holders', null, element('div.tools', null, by, this.foldLabel, this.unattributed), this.canvas);
    /** @type {HoldersPicture | null} */
    this.picture = null;
    /** @type {import('../plots/icicle.js').Branch | null} */
    this.root = null;
    this.isWaiting = false;
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.node);
  }

  close() {
    this.observer.disconnect();
  }

  /** @param {HoldersPicture} picture */
  update(picture) {
    const {shares, pathOf, by, isFolded, group} = picture;
    const shown = this.picture;
    const isSame = shown?.shares === shares && shown.pathOf === pathOf && shown.group === group;
    this.picture = picture;
    this.by.value = by;
    this.fold.checked = isFolded;
    this.foldLabel.hidden = by !== 'scope';
    if (!isSame || !this.root) this.root = branches(shares, pathOf, this.labelOf, group.of, group.groups.length);
    const unknown = this.root.children.get(UNATTRIBUTED)?.bytes ?? 0;
    const share = shareText(unknown / (this.root.bytes || 1));
    this.unattributed.textContent = unknown ? `${humanBytes(unknown)}, ${share}, is unattributed` : 'all bytes are attributed';
    this.redraw();
  }

  /** Draw in the next frame. */
  redraw() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      const {root, picture} = this;
      if (root && picture && this.canvas.isConnected) this.draw(root, picture);
    });
  }

  /**
   * @param {import('../plots/icicle.js').Branch} root
   * @param {HoldersPicture} picture
   */
  draw(root, picture) {
    this.icicle.draw(root, branchAt(root, picture.path), picture.group.colours, picture.ink);
    this.canvas.setAttribute('aria-label', `bytes by ${PATHS.find(([by]) => by === picture.by)?.[1]}: ${this.icicle.sentence(root)}; move with the arrow keys`);
  }
}
