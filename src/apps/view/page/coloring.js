// What a choice of colour means for the points: a value or a colour for each of them, and what the legend says.
import {distinctColor, GREY} from './colors.js';
import {valueAt, valuesInOrder} from './decode.js';

export const BINS = 128;
const MISSING = -9;  // far below all shares, which are 0..1
const SAMPLE = 20000;

/**
 * All that points can be coloured by. `of` has what each cloud contributes, null where it has nothing of that name.
 * @returns {{id: string, label: string, kind: string, of: Array<object|null>}[]}
 */
export function colorChoices(scene) {
  const choices = [{id: 'cloud', label: 'cloud', kind: 'cloud', of: scene.clouds.map(() => null)}];
  for (let axis = 0; axis < scene.dims; ++axis) {
    const of = scene.clouds.map((cloud) => cloud.axes[axis] ? {values: cloud.axes[axis]} : null);
    choices.push({id: `axis ${axis}`, label: 'xyz'[axis], kind: 'number', of});
  }
  const columns = new Map();
  scene.clouds.forEach((cloud, number) => {
    for (const column of cloud.columns) {
      const id = `${column.kind} ${column.name}`;
      if (!columns.has(id)) {
        columns.set(id, {id, label: column.name, kind: column.kind, of: scene.clouds.map(() => null), column: true});
      }
      columns.get(id).of[number] ??= column;
    }
  });
  return [...choices, ...columns.values()];
}

/** The choice that {by: 'cloud'|'axis'|'column', axis, name} means; the first of all if there is no such. */
export function findChoice(choices, {by, axis, name}) {
  const found = choices.find((choice) => {
    if (by === 'axis') return choice.id === `axis ${axis}`;
    if (by === 'column') return choice.column && choice.label === name;
    return choice.id === by;
  });
  return found ?? choices[0];
}

/** Where the middle 98 % of values lie, if that is far less than where all of them do; else all of them. */
function usefulRange(values, low, high) {
  const sample = values.flatMap((part) => [...part.subarray(0, SAMPLE)]);
  const finite = Float64Array.from(sample.filter((value) => Number.isFinite(value))).toSorted();
  if (finite.length < 50) return [low, high];
  const middle = [finite[Math.floor(finite.length * 0.01)], finite[Math.floor(finite.length * 0.99)]];
  const isNarrow = middle[1] > middle[0] && middle[1] - middle[0] < 0.4 * (high - low);
  return isNarrow ? middle : [low, high];
}

function byNumber(scene, choice) {
  const values = choice.of.map((source, i) => source && valuesInOrder(source.values, scene.clouds[i].order));
  let low = Infinity;
  let high = -Infinity;
  for (const part of values.filter(Boolean)) {
    for (let i = 0; i < part.length; ++i) {
      const value = part[i];
      if (value < low && value !== -Infinity) low = value;
      if (value > high && value !== Infinity) high = value;
    }
  }
  if (low > high) low = high = 0;
  const middle = usefulRange(values.filter(Boolean), low, high);
  const histogram = new Uint32Array(BINS);
  const factor = 1 / (high - low || 1);
  const clouds = values.map((part) => {
    if (!part) return {mode: 'none'};
    const shares = new Float32Array(part.length);
    for (let i = 0; i < part.length; ++i) {
      const share = (part[i] - low) * factor;
      if (share >= 0 && share <= 1) ++histogram[Math.min(Math.floor(share * BINS), BINS - 1)];
      shares[i] = Number.isNaN(share) ? MISSING : Math.min(Math.max(share, -1), 2);
    }
    return {mode: 'number', values: shares};
  });
  return {clouds, low, high, middle, histogram};
}

function byLabel(scene, choice) {
  const numbers = new Map();
  const entries = [];
  const clouds = choice.of.map((source, i) => {
    if (!source) return {mode: 'none'};
    const shared = source.words.map((word) => {
      if (!numbers.has(word)) {
        numbers.set(word, entries.length);
        entries.push({word, count: 0, color: distinctColor(entries.length)});
      }
      return numbers.get(word);
    });
    const codes =
        Float32Array.from(valuesInOrder(source.values, scene.clouds[i].order), (code) => shared[code] ?? MISSING);
    for (const code of codes) {
      if (code >= 0) ++entries[code].count;
    }
    return {mode: 'label', values: codes};
  });
  return {clouds, entries};
}

function byColor(scene, choice) {
  const clouds = choice.of.map((source, i) => {
    if (!source) return {mode: 'none'};
    const {order} = scene.clouds[i];
    const colors = new Uint8Array(4 * order.length);
    const [red, green, blue] = source.parts.map((part) => valuesInOrder(part, order));
    for (let j = 0; j < order.length; ++j) {
      const isWhole = red[j] + green[j] + blue[j] >= 0;
      colors[4 * j] = isWhole ? red[j] : GREY[0];
      colors[4 * j + 1] = isWhole ? green[j] : GREY[1];
      colors[4 * j + 2] = isWhole ? blue[j] : GREY[2];
    }
    return {mode: 'color', colors};
  });
  return {clouds};
}

function byDirection(scene, choice) {
  const clouds = choice.of.map((source, i) => {
    if (!source) return {mode: 'none'};
    const {order} = scene.clouds[i];
    const colors = new Uint8Array(4 * order.length);
    const [x, y, z] = [0, 1, 2].map((axis) => source.parts[axis] && valuesInOrder(source.parts[axis], order));
    for (let j = 0; j < order.length; ++j) {
      const [a, b, c] = [x[j], y ? y[j] : 0, z ? z[j] : 0];
      const length = Math.sqrt(a * a + b * b + c * c);
      const factor = 127.5 / length;
      const isWhole = length > 0 && factor > 0;
      colors[4 * j] = isWhole ? 127.5 + a * factor : GREY[0];
      colors[4 * j + 1] = isWhole ? 127.5 + b * factor : GREY[1];
      colors[4 * j + 2] = isWhole ? 127.5 + c * factor : GREY[2];
    }
    return {mode: 'color', colors};
  });
  return {clouds};
}

const MAKERS = {
  cloud: (scene) => ({clouds: scene.clouds.map(() => ({mode: 'cloud'}))}),
  number: byNumber,
  label: byLabel,
  color: byColor,
  direction: byDirection,
};

/** What the clouds look like by a choice: `clouds` have a mode with values or colours in the order of the points. */
export function makeColoring(scene, choice) {
  return {choice, hidden: new Set(), ...MAKERS[choice.kind](scene, choice)};
}

/** What a column says of a point, as text parts: [name, value] with numbers as they are. */
export function columnValue(column, place) {
  if (column.kind === 'label') return column.words[valueAt(column.values, place)] ?? 'none';
  if (column.kind === 'number') return valueAt(column.values, place);
  return column.parts.map((part) => valueAt(part, place));
}
