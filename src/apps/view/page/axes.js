// The box around the clouds, drawn behind the points: its far sides with a grid, numbers along its edges; a bar of
// round length and the directions of the axes in the corner.
import {basisOf, eyeOf, halfSide} from './camera.js';
import {toStep} from './format.js';
import {toScene} from './scene.js';

const MOST_TICKS = 200;
export const AXIS_COLORS = ['#e5604d', '#3fae6a', '#4f8ff7'];

/** The largest of 1, 2, 5 times a power of ten that is at most `length`. */
export function roundLength(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  const digit = [5, 2, 1].find((factor) => factor * power <= length * (1 + 1e-9)) ?? 1;
  return digit * power;
}

function ticksBetween(low, high, step) {
  const ticks = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let i = first; i * step <= high + step * 1e-9 && ticks.length < MOST_TICKS; ++i) ticks.push(i * step);
  return ticks;
}

/** The ticks of the axes of a box: steps are the same for all, so that cells of the grid are squares. */
function ticksOf({low, high}, dims) {
  const extent = Math.max(...low.map((value, axis) => high[axis] - value));
  if (!(extent > 0 && extent < Infinity)) return null;
  const step = roundLength(extent / 4);
  return {step, of: [0, 1, 2].map((axis) => axis < dims ? ticksBetween(low[axis], high[axis], step) : [])};
}

/** Whether the side of the box at the low or high end of an axis is turned away from the eye. */
function isFar(view, axis, end) {
  const {camera, scene} = view;
  const {low, high} = scene.box;
  if (!camera.perspective) {
    const direction = basisOf(camera).eye[axis];
    return end === 0 ? direction >= 0 : direction < 0;
  }
  const eye = eyeOf(camera)[axis] * scene.size + scene.centre[axis];
  return end === 0 ? eye > low[axis] || low[axis] === high[axis] : eye < high[axis];
}

function line(context, from, to) {
  if (!from || !to) return;
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
}

/** Draws the far sides of the box with their grid. */
export function drawBox(context, view) {
  const {scene, theme} = view;
  const {box, dims} = scene;
  const ticks = ticksOf(box, dims);
  if (!ticks) return;
  const at = (point) => view.screenOf(toScene(scene, point));
  const ends = [box.low, box.high];
  for (const [width, color] of [[1, theme.grid], [1, theme.edge]]) {
    context.beginPath();
    for (let axis = 0; axis < 3; ++axis) {
      for (const end of [0, 1]) {
        if (!isFar(view, axis, end)) continue;
        if (box.low[axis] === box.high[axis] && end === 1) continue;
        const [a, b] = [0, 1, 2].filter((other) => other !== axis);
        for (const [along, across] of [[a, b], [b, a]]) {
          const places = color === theme.grid ? ticks.of[across] : [box.low[across], box.high[across]];
          for (const place of places) {
            const from = [0, 0, 0];
            from[axis] = ends[end][axis];
            from[across] = place;
            const to = [...from];
            from[along] = box.low[along];
            to[along] = box.high[along];
            line(context, at(from), at(to));
          }
        }
      }
    }
    context.lineWidth = width;
    context.strokeStyle = color;
    context.stroke();
  }
}

/** The edge along an axis that has the outside of the box next to it on the screen: where numbers disturb least. */
function edgeForNumbers(view, axis, middle) {
  const {scene} = view;
  const ends = [scene.box.low, scene.box.high];
  const [a, b] = [0, 1, 2].filter((other) => other !== axis);
  let best = null;
  for (const i of [0, 1]) {
    for (const j of [0, 1]) {
      if (scene.dims === 3 && isFar(view, a, i) === isFar(view, b, j)) continue;
      const from = [...scene.box.low];
      from[a] = ends[i][a];
      from[b] = ends[j][b];
      const to = [...from];
      to[axis] = scene.box.high[axis];
      const [start, end] = [from, to].map((point) => view.screenOf(toScene(scene, point)));
      if (!start || !end) continue;
      const [dx, dy] = [end.x - start.x, end.y - start.y];
      const length = Math.hypot(dx, dy);
      if (length < 40) continue;
      const centre = {x: (start.x + end.x) / 2, y: (start.y + end.y) / 2};
      const away = {x: dy / length, y: -dx / length};
      if (away.x * (centre.x - middle.x) + away.y * (centre.y - middle.y) < 0) [away.x, away.y] = [-away.x, -away.y];
      // Numbers are best below the box, then to its left.
      const rank = 2 * away.y - away.x;
      if (!best || rank > best.rank) best = {rank, from, length, centre, away};
    }
  }
  return best;
}

/** Writes the numbers along the edges of the box. */
export function drawNumbers(context, view) {
  const {scene, theme} = view;
  const ticks = ticksOf(scene.box, scene.dims);
  const middle = view.screenOf([0, 0, 0]);
  if (!ticks || !middle) return;
  context.font = theme.font;
  context.textBaseline = 'middle';
  for (let axis = 0; axis < scene.dims; ++axis) {
    const edge = edgeForNumbers(view, axis, middle);
    if (!edge || ticks.of[axis].length === 0) continue;
    const {from, length, centre, away} = edge;
    const texts = ticks.of[axis].map((tick) => toStep(tick, ticks.step));
    const widest = Math.max(...texts.map((text) => context.measureText(text).width));
    // Texts are boxes: how far apart they must be along the edge, and how far from it.
    const needed = Math.min((widest + 12) / Math.max(Math.abs(away.y), 1e-9), 18 / Math.max(Math.abs(away.x), 1e-9));
    const gap = length * ticks.step / (scene.box.high[axis] - scene.box.low[axis]);
    const every = [1, 2, 5, 10, 20, 50, 100].find((count) => count * gap >= needed) ?? 1000;
    const write = (text, {x, y}, room) => {
      const half = context.measureText(text).width / 2;
      context.fillText(text, x + away.x * (room + half), y + away.y * (room + 4));
    };
    context.textAlign = 'center';
    context.fillStyle = theme.number;
    const first = Math.round(ticks.of[axis][0] / ticks.step);
    texts.forEach((text, i) => {
      if ((first + i) % every !== 0) return;
      const point = [...from];
      point[axis] = ticks.of[axis][i];
      const place = view.screenOf(toScene(scene, point));
      if (place) write(text, place, 8);
    });
    context.fillStyle = AXIS_COLORS[axis];
    write('xyz'[axis], centre, 16 + Math.abs(away.x) * widest + Math.abs(away.y) * 12);
  }
}

/** The directions of the axes and a bar of round length, in the lower left corner. */
export function drawCorner(context, view) {
  const {scene, camera, theme, width, height} = view;
  const {right, up, eye} = basisOf(camera);
  const [x, y] = [44, height - 44];
  context.font = theme.boldFont;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.lineWidth = 2;
  const axes =
      [0, 1, 2].slice(0, scene.dims === 1 ? 1 : 3).filter((axis) => scene.dims === 3 || axis < 2 || view.turning);
  axes.sort((a, b) => eye[a] - eye[b]);
  for (const axis of axes) {
    const [dx, dy] = [right[axis], -up[axis]];
    context.strokeStyle = context.fillStyle = AXIS_COLORS[axis];
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + 22 * dx, y + 22 * dy);
    context.stroke();
    if (Math.hypot(dx, dy) > 0.2) context.fillText('xyz'[axis], x + 31 * dx, y + 31 * dy);
  }
  const perPixel = 2 * halfSide(camera) * scene.size / Math.min(width, height);
  const length = roundLength(perPixel * Math.min(140, width / 4));
  if (!(length > 0 && length < Infinity)) return;
  const [from, to] = [92, 92 + length / perPixel];
  context.strokeStyle = context.fillStyle = theme.number;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const [a, b] of [
           [[from, y + 12], [from, y + 18]], [[from, y + 18], [to, y + 18]], [[to, y + 18], [to, y + 12]]]) {
    context.moveTo(...a);
    context.lineTo(...b);
  }
  context.stroke();
  context.font = theme.font;
  context.textBaseline = 'bottom';
  context.fillText(`${camera.perspective ? '\u2248 ' : ''}${toStep(length, length)}`, (from + to) / 2, y + 14);
}
