// When something is drawn, and how much of it: fewer points while something moves, all of them at rest, nothing if
// nothing changed.
import {drawBox, drawCorner, drawNumbers} from './axes.js';
import {GREY} from './colors.js';
import {drawMarks} from './marks.js';
import {clamp} from './matrix.js';

export const USUAL_DISTANCE = 2.6;  // at which points have their size, in units of the scene
const REST = 140;                   // ms without motion after which all points are drawn
const FEWEST_POINTS = 50000;        // of a frame
const FIRST_BUDGET = 1e6;
const SLOW = 21;  // ms: a frame that takes longer has too many points
const FAST = 18;
const HAZE = 0.25;
const RELIEF = 9;

/** The range of colours as shares of the range of values: where it starts, and 1 / its width. */
function rangeShares({coloring: {low, high}, range}) {
  if (!(high > low)) return [-0.5, 1];
  const [from, to] = range.map((value) => (value - low) / (high - low));
  return [from, 1 / Math.max(to - from, 1e-9)];
}

function sliceOptions(view) {
  const {depths, matrices} = view.screen();
  const size = view.size * view.ratio;
  return {
    clouds: view.scene.clouds.map(({visible, count, color}, i) => {
      return {visible, count, matrix: matrices[i], color: color.map((part) => part / 255)};
    }),
    range: rangeShares(view),
    grey: GREY.map((part) => part / 255),
    size,
    distance: USUAL_DISTANCE,
    haze: [...view.theme.haze, view.shading ? HAZE : 0],
    depths,
    perspective: view.camera.perspective,
    rim: view.shading && size > 3 ? 0.25 : 0,
  };
}

function present(view) {
  const {camera, ratio, scene, shading} = view;
  view.renderer.present({
    depths: view.screen().depths,
    distance: camera.distance,
    perspective: camera.perspective,
    strength: shading && scene.dims === 3 ? RELIEF : 0,
    reach: Math.max(1, 1.3 * ratio),
  });
}

function contextOf(canvas, ratio) {
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** Draws what lies behind the points and what lies above them. */
function drawPlain(view) {
  const {width, height, theme, ratio, canvases} = view;
  const under = contextOf(canvases.under, ratio);
  const [x, y] = [width / 2, height * 0.42];
  const gradient = under.createRadialGradient(x, y, 0, x, y, Math.hypot(width, height) * 0.6);
  theme.ground.forEach((color, stop) => gradient.addColorStop(stop, color));
  under.fillStyle = gradient;
  under.fillRect(0, 0, width, height);
  if (view.axes) drawBox(under, view);

  const over = contextOf(canvases.over, ratio);
  over.clearRect(0, 0, width, height);
  if (view.axes) {
    drawNumbers(over, view);
    drawCorner(over, view);
  }
  drawMarks(over, view);
}

/** Draws everything at once, now: for a picture. */
export function drawAll(view) {
  drawPlain(view);
  view.renderer.drawSlice(0, 1, sliceOptions(view));
  present(view);
}

/**
 * The frames of a view. `advance(now)` may move the camera before a frame; it returns whether it will do so again.
 * @param {(now: number) => boolean} advance
 */
export function makeFrames(view, advance) {
  let isWanted = false;
  let isDirty = false;
  let isMoving = false;
  let drawn = 0;  // the share of the points in the picture
  let budget = FIRST_BUDGET;
  let lastFrame = 0;  // when the last one of a motion began
  let lastMotion = -Infinity;
  let timer = 0;
  let settle;
  const settled = new Promise((resolve) => {
    settle = resolve;
  });

  const countOf = () => view.scene.clouds.reduce((sum, {visible, count}) => sum + (visible ? count : 0), 0);

  /** The budget follows how long the last frame of a motion took. */
  function adapt(now) {
    const took = now - lastFrame;
    if (took > SLOW) budget *= took > 2 * SLOW ? 0.5 : 0.8;
    if (took < FAST) budget *= 1.1;
    budget = clamp(budget, FEWEST_POINTS, 2 * Math.max(view.scene.total, FEWEST_POINTS));
  }

  function drawNext(now) {
    isMoving = advance(now);
    if (isMoving) {
      lastMotion = now;
      isDirty = true;
    }
    if (isDirty) {
      if (lastFrame > 0 && now - lastMotion < REST) adapt(now);
      lastFrame = now;
      isDirty = false;
      drawn = 0;
      view.forgetScreen();
      drawPlain(view);
    } else {
      lastFrame = 0;
    }
    if (drawn < 1) {
      const to = Math.min(1, drawn + Math.min(1, budget / Math.max(countOf(), 1)));
      view.renderer.drawSlice(drawn, to, sliceOptions(view));
      drawn = to;
      present(view);
    }
    clearTimeout(timer);
    if (isMoving) {
      want();
    } else if (drawn < 1) {
      const wait = lastMotion + REST - now;
      if (wait > 0) {
        timer = setTimeout(want, wait);
      } else {
        want();
      }
    } else {
      settle();
    }
  }

  function want() {
    if (isWanted) return;
    isWanted = true;
    requestAnimationFrame((now) => {
      isWanted = false;
      if (!view.renderer.isLost()) drawNext(now);
    });
  }

  return {
    settled,
    isResting: () => !isWanted && !isDirty && !isMoving && drawn === 1,
    drawnPoints: () => Math.floor(countOf() * drawn),
    /** Something is to be drawn anew; while it moves fewer points will do. */
    changed(moves) {
      isDirty = true;
      if (moves) lastMotion = performance.now();
      want();
    },
  };
}
