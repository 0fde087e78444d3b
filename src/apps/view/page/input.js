// Mouse, wheel, touch and keys over the picture.
import {byId} from './elements.js';
import {ACTIONS} from './panel.js';

const CLICK = 5;  // pixels that a click may move
const TURN = 0.0075;
const KEY_TURN = Math.PI / 36;
const KEY_PAN = 0.08;
const REACH = {
  mouse: 8,
  touch: 20,
  pen: 12
};

/** Actions on letters; shift asks for the other side, or the larger picture. */
const KEYS_OF_ACTIONS = {
  KeyR: 'reset',
  Home: 'reset',
  KeyF: 'frame',
  KeyP: 'perspective',
  KeyS: 'save',
  KeyT: 'theme',
  KeyH: 'help',
  Digit1: 'top',
  Digit2: 'front',
  Digit3: 'side',
  Numpad1: 'top',
  Numpad2: 'front',
  Numpad3: 'side',
};
const ARROWS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1]
};

function addKeys(view) {
  globalThis.addEventListener('keydown', (event) => {
    const {target, key, code, shiftKey} = event;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    if (key === 'Escape') {
      view.pick(null);
      return;
    }
    // Fields and switches use keys of their own.
    if (target.matches?.('select, input, [role=slider]')) return;
    if (key in ARROWS) {
      const [x, y] = ARROWS[key];
      if (shiftKey || !view.turning) {
        view.panBy(-x * KEY_PAN, -y * KEY_PAN);
      } else {
        view.turnBy(-x * KEY_TURN, -y * KEY_TURN);
      }
    } else if (key === '+' || key === '=') {
      view.zoomBy(1.15);
    } else if (key === '-' || key === '_') {
      view.zoomBy(1 / 1.15);
    } else if (key === '[' || key === ']') {
      view.set({size: view.size + (key === ']' ? 0.5 : -0.5)});
    } else if (key === '?') {
      ACTIONS.help(view);
    } else if (code in KEYS_OF_ACTIONS) {
      ACTIONS[KEYS_OF_ACTIONS[code]](view, shiftKey);
    } else {
      return;
    }
    event.preventDefault();
  });
}

function addWheel(view, canvas) {
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const pixels = event.deltaY * [1, 16, 400][event.deltaMode];
    const factor = Math.exp(-Math.max(-300, Math.min(300, pixels)) * (event.ctrlKey ? 0.01 : 0.0016));
    view.zoomBy(factor, ...fromMiddle(view, event.offsetX, event.offsetY));
  }, {passive: false});
}

/** A step on the canvas in halves of its smaller side, and a place of it from its middle. */
function inSides({width, height}, x, y) {
  const side = Math.min(width, height) / 2;
  return [x / side, -y / side];
}
const fromMiddle = (view, x, y) => inSides(view, x - view.width / 2, y - view.height / 2);

// Of places [x, y]: the middle of all, how far apart two are, where an event was.
const middleOf = (all) => [0, 1].map((axis) => all.reduce((sum, place) => sum + place[axis], 0) / all.length);
const spreadOf = ([a, b]) => b ? Math.max(Math.hypot(a[0] - b[0], a[1] - b[1]), 1) : 1;
const placeOf = ({offsetX, offsetY}) => [offsetX, offsetY];

/** One pointer turns (or pans), two pan and zoom; one that hardly moves picks. */
function addPointers(view, canvas) {
  const pointers = new Map();
  let isClick = false;
  let start = [0, 0];

  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, placeOf(event));
    isClick = pointers.size === 1 && event.button === 0;
    start = placeOf(event);
    canvas.classList.add('dragging');
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!pointers.has(event.pointerId)) return;
    const before = [...pointers.values()];
    pointers.set(event.pointerId, placeOf(event));
    const after = [...pointers.values()];
    if (Math.hypot(event.offsetX - start[0], event.offsetY - start[1]) > CLICK) isClick = false;
    if (isClick) return;
    const [[x0, y0], [x1, y1]] = [middleOf(before), middleOf(after)];
    const pans = after.length > 1 || event.buttons !== 1 || event.shiftKey || event.ctrlKey || !view.turning;
    if (pans) {
      view.panBy(...inSides(view, x1 - x0, y1 - y0));
    } else {
      view.turnBy((x0 - x1) * TURN, (y1 - y0) * TURN);
    }
    if (after.length > 1) view.zoomBy(spreadOf(after) / spreadOf(before), ...fromMiddle(view, x1, y1));
  });
  for (const name of ['pointerup', 'pointercancel']) {
    canvas.addEventListener(name, (event) => {
      pointers.delete(event.pointerId);
      if (pointers.size === 0) canvas.classList.remove('dragging');
      if (name === 'pointercancel' || !isClick) return;
      isClick = false;
      const found = view.pointAt(event.offsetX, event.offsetY, REACH[event.pointerType] ?? REACH.mouse);
      view.pick(found?.cloud ?? null, found?.place);
    });
  }
  canvas.addEventListener('dblclick', (event) => {
    const found = view.pointAt(event.offsetX, event.offsetY, REACH.mouse);
    if (found) view.centreOn(found);
  });
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
}

export function addInput(view) {
  const canvas = byId('points');
  addKeys(view);
  addWheel(view, canvas);
  addPointers(view, canvas);
}
