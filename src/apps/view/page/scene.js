// The clouds in numbers that a GPU can work with: coordinates around the centre of each cloud, in units of its size, in
// a fixed random order, so that any first part of them is an even sample. Where a cloud is comes in with its matrix.
import {distinctColor} from './colors.js';
import {boundsOf, placeOfValue, valueAt, valuesInOrder} from './decode.js';
import {add, mix, partOf, quaternionOf, rotate, rowsOf, scaled, subtract, transform} from './matrix.js';

const IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

/** The numbers below `count`, shuffled; always in the same way. */
function shuffled(count) {
  const order = new Uint32Array(count);
  for (let i = 0; i < count; ++i) order[i] = i;
  let state = 0x9e3779b9;
  for (let i = count - 1; i > 0; --i) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const other = Math.floor((state >>> 0) / 4294967296 * (i + 1));
    const kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  return order;
}

const unit = (vector) => scaled(vector, 1 / (Math.hypot(...vector) || 1));

/** A pose apart: where it moves the centre, what it turns, and what is left of its linear part (scale, shear). */
function splitPose(pose, centre) {
  if (!pose) return null;
  const linear = [pose.slice(0, 3), pose.slice(4, 7), pose.slice(8, 11)];
  const moved = add(rotate(linear, centre), [pose[3], pose[7], pose[11]]);
  const columns = [0, 1, 2].map((column) => linear.map((row) => row[column]));
  // The rotation nearest to the first two columns; the rest is what remains of the linear part without it.
  const x = unit(columns[0]);
  const y = unit(subtract(columns[1], scaled(x, x[0] * columns[1][0] + x[1] * columns[1][1] + x[2] * columns[1][2])));
  const z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
  const turn = quaternionOf([0, 1, 2].map((row) => [x[row], y[row], z[row]]));
  const back = [x, y, z];
  const rest = [0, 1, 2].map((row) => [0, 1, 2].map((column) => rotate(back, columns[column])[row]));
  return {linear, moved, turn, rest};
}

/**
 * The linear part (rows) and the place of the centre of a cloud on its way from before its pose (0) to after it (1).
 */
export function poseAt(cloud, share) {
  const {pose, centre} = cloud;
  if (!pose || share === 0) return {linear: IDENTITY, centre};
  if (share === 1) return {linear: pose.linear, centre: pose.moved};
  const turn = rowsOf(partOf(pose.turn, share));
  const rest = pose.rest.map((row, i) => row.map((value, j) => mix(IDENTITY[i][j], value, share)));
  const linear =
      turn.map((row) => [0, 1, 2].map((j) => row[0] * rest[0][j] + row[1] * rest[1][j] + row[2] * rest[2][j]));
  return {linear, centre: centre.map((value, axis) => mix(value, pose.moved[axis], share))};
}

/** The matrix from the stored positions of a cloud to the units of the scene. */
export function cloudMatrix(scene, cloud, share) {
  const {linear, centre} = poseAt(cloud, share);
  const factor = cloud.size / scene.size;
  const place = scaled(subtract(centre, scene.centre), 1 / scene.size);
  const column = (axis) => [...linear.map((row) => row[axis] * factor), 0];
  return [...column(0), ...column(1), ...column(2), ...place, 1];
}

/** The coordinates of a point in the cloud's own frame; missing axes are 0. */
export function coordinates(cloud, place) {
  return [0, 1, 2].map((axis) => axis < cloud.dims ? valueAt(cloud.axes[axis], place) : 0);
}

/** Where a point is in space, at this place of the slider. */
export function placed(cloud, place, share) {
  const {linear, centre} = poseAt(cloud, share);
  return add(rotate(linear, subtract(coordinates(cloud, place), cloud.centre)), centre);
}

/** The original row number of a point, and the point of a row: -1 if it is not shown. */
export const rowAt = (cloud, place) => cloud.rows ? valueAt(cloud.rows, place) : place;
export function placeOfRow(cloud, row) {
  if (cloud.rows) return placeOfValue(cloud.rows, row);
  return Number.isInteger(row) && row >= 0 && row < cloud.count ? row : -1;
}

function prepare(data, number) {
  const {name, count, dims, axes, rows, columns = [], resolution, neighbors} = data;
  const bounds = axes.map((axis) => boundsOf(axis) ?? [0, 0]);
  const low = [0, 1, 2].map((axis) => bounds[axis]?.[0] ?? 0);
  const high = [0, 1, 2].map((axis) => bounds[axis]?.[1] ?? 0);
  const centre = low.map((value, axis) => value / 2 + high[axis] / 2);
  const size = Math.max(...low.map((value, axis) => high[axis] / 2 - value / 2)) || 1;
  const order = shuffled(count);
  const positions = new Float32Array(3 * count);
  for (let axis = 0; axis < dims; ++axis) {
    const values = valuesInOrder(axes[axis], order);
    for (let i = 0, to = axis; i < count; ++i, to += 3) positions[to] = (values[i] - centre[axis]) / size;
  }
  return {
    name,
    count,
    dims,
    axes,
    rows,
    columns,
    resolution,
    neighbors,
    centre,
    size,
    order,
    positions,
    pose: splitPose(data.pose, centre),
    color: distinctColor(number),
    visible: true,
  };
}

/** Extends a box by all points of a cloud as they are placed. */
function extend(box, cloud, share) {
  const {linear, centre} = poseAt(cloud, share);
  for (let axis = 0; axis < 3; ++axis) {
    const [a, b, c] = linear[axis].map((value) => value * cloud.size);
    let low = Infinity;
    let high = -Infinity;
    for (let i = 0; i < cloud.positions.length; i += 3) {
      const value = a * cloud.positions[i] + b * cloud.positions[i + 1] + c * cloud.positions[i + 2];
      if (value < low) low = value;
      if (value > high) high = value;
    }
    box.low[axis] = Math.min(box.low[axis], centre[axis] + low);
    box.high[axis] = Math.max(box.high[axis], centre[axis] + high);
  }
}

/** The box around clouds, or null if they have no points. */
export function boxOf(clouds, share) {
  const box = {low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity]};
  for (const cloud of clouds) {
    if (cloud.count > 0) extend(box, cloud, share);
  }
  return box.low[0] <= box.high[0] ? box : null;
}

/** Makes the scene of what readScene() returned. */
export function makeScene(data) {
  const clouds = data.clouds.map(prepare);
  const box = boxOf(clouds, 1) ?? {low: [0, 0, 0], high: [0, 0, 0]};
  return {
    clouds,
    title: data.title ?? '',
    notes: data.notes ?? [],
    generator: data.generator ?? '',
    color: data.color ?? {by: 'cloud'},
    box,
    centre: box.low.map((value, axis) => value / 2 + box.high[axis] / 2),
    size: Math.hypot(...box.low.map((value, axis) => box.high[axis] / 2 - value / 2)) || 1,
    dims: Math.max(1, ...clouds.map((cloud) => cloud.dims)),
    total: clouds.reduce((sum, cloud) => sum + cloud.count, 0),
    hasPoses: clouds.some((cloud) => cloud.pose),
  };
}

/** From coordinates in space to the units of the scene, and a sphere around a cloud in these. */
export const toScene = (scene, point) => scaled(subtract(point, scene.centre), 1 / scene.size);
export function sphereOf(matrix) {
  const reach = Math.hypot(...[0, 1, 2].map((axis) => Math.hypot(matrix[axis], matrix[axis + 4], matrix[axis + 8])));
  return {centre: transform(matrix, [0, 0, 0]).slice(0, 3), radius: reach};
}
