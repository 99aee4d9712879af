/** Gestures on a map: drag, pinch with two fingers, wheel. */

const LEAST_DRAG = 4;
const ZOOM_PER_PIXEL = 1.0015;
const PIXELS_PER_LINE = 24;

/**
 * Actions of gestures: positions are pixels of the map, a factor below 1 shows less, larger.
 * @typedef {{hover: (x: number, y: number, event: PointerEvent) => void, leave: () => void,
 *   click: (x: number, y: number, add: boolean) => void, hold: () => void,
 *   drag: (dx: number, dy: number) => void, all: () => void,
 *   zoom: (factor: number, x: number, y: number, across: boolean, up: boolean) => void}} Gestures
 */

/**
 * Listen to the gestures on a map.
 * @param {HTMLElement} map
 * @param {Gestures} gestures a drag is counted from where it began, when `hold` was called
 */
export function listenToGestures(map, gestures) {
  /** @type {Map<number, {x: number, y: number}>} */
  const pointers = new Map();
  /** @type {{x: number, y: number, moved: boolean} | null} */
  let drag = null;
  let distance = 0;

  map.addEventListener('pointerdown', (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
    map.setPointerCapture(event.pointerId);
    drag = pointers.size === 1 ? {x: event.offsetX, y: event.offsetY, moved: false} : null;
    distance = spread(pointers);
    gestures.hold();
  });
  map.addEventListener('pointermove', (event) => {
    if (!pointers.has(event.pointerId)) {
      gestures.hover(event.offsetX, event.offsetY, event);
      return;
    }
    pointers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
    if (pointers.size === 2) {
      const [one, other] = pointers.values();
      const wider = spread(pointers);
      gestures.zoom(distance / wider, (one.x + other.x) / 2, (one.y + other.y) / 2, true, true);
      distance = wider;
    } else if (drag) {
      const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
      drag.moved ||= Math.abs(dx) + Math.abs(dy) >= LEAST_DRAG;
      if (drag.moved) gestures.drag(dx, dy);
    }
  });
  map.addEventListener('pointerup', (event) => {
    pointers.delete(event.pointerId);
    if (drag && !drag.moved) gestures.click(event.offsetX, event.offsetY, event.shiftKey);
    drag = null;
  });
  map.addEventListener('pointercancel', (event) => {
    pointers.delete(event.pointerId);
    drag = null;
  });
  map.addEventListener('pointerleave', () => gestures.leave());
  map.addEventListener('dblclick', () => gestures.all());
  map.addEventListener(
    'wheel',
    (event) => {
      if (!isForMap(event, map)) return;
      event.preventDefault();
      const pixels = event.deltaMode ? event.deltaY * PIXELS_PER_LINE : event.deltaY || event.deltaX;
      gestures.zoom(ZOOM_PER_PIXEL ** pixels, event.offsetX, event.offsetY, !event.shiftKey, !event.altKey);
    },
    {passive: false},
  );
}

/**
 * Return true if a wheel event is for the map: always if the page cannot scroll, else with Ctrl
 * (browsers also add it to a pinch on a touchpad) or after a click on the map.
 * @param {WheelEvent} event
 * @param {HTMLElement} map
 */
function isForMap(event, map) {
  if (event.ctrlKey || event.metaKey || document.activeElement === map) return true;
  for (let around = map.parentElement; around; around = around.parentElement) {
    const {overflowY} = getComputedStyle(around);
    const canScroll = around === document.documentElement || overflowY === 'auto' || overflowY === 'scroll';
    if (canScroll && around.scrollHeight > around.clientHeight + 1) return false;
  }
  return true;
}

/** @param {Map<number, {x: number, y: number}>} pointers */
function spread(pointers) {
  const [one, other] = pointers.values();
  return other ? Math.max(1, Math.hypot(one.x - other.x, one.y - other.y)) : 1;
}
