// The camera turns around a target, with z up. Both projections show the plane of the target at the same size.
import {add, clamp, dot, mix, multiply, scaled} from './matrix.js';

const HALF_ANGLE = Math.tan(Math.PI / 8);  // half of a field of view of 45 degrees
const LIMIT = Math.PI / 2;
const FILLED = 0.8;        // of the screen, by a box that is framed: numbers along its edges need the rest
const LEAST_FRAME = 0.01;  // distance to a box without extent

/** @typedef {{target: number[], yaw: number, pitch: number, distance: number, perspective: boolean}} Camera */

/** The directions right, up and towards the eye. */
export function basisOf({yaw, pitch}) {
  const [sy, cy, sp, cp] = [Math.sin(yaw), Math.cos(yaw), Math.sin(pitch), Math.cos(pitch)];
  return {right: [-sy, cy, 0], up: [-sp * cy, -sp * sy, cp], eye: [cp * cy, cp * sy, sp]};
}

export const eyeOf = (camera) => add(camera.target, scaled(basisOf(camera).eye, camera.distance));

/** How far the smaller side of the screen reaches from its middle, in the plane of the target. */
export const halfSide = (camera) => camera.distance * HALF_ANGLE;

/** Half of the height of what is seen in the plane of the target. */
export const halfHeight = (camera, aspect) => halfSide(camera) / Math.min(1, aspect);

/** The least and the largest distance from the eye, along the view, at which there are points. */
export function depthsOf(camera, spheres) {
  const {eye} = basisOf(camera);
  const from = dot(eyeOf(camera), eye);
  let near = Infinity;
  let far = -Infinity;
  for (const {centre, radius} of spheres) {
    const depth = from - dot(centre, eye);
    near = Math.min(near, depth - radius * 1.01);
    far = Math.max(far, depth + radius * 1.01);
  }
  if (near > far) [near, far] = [0, camera.distance];
  const size = Math.max(camera.distance, far - near) * 1e-4;
  if (camera.perspective) {
    far = Math.max(far, size);
    near = Math.max(near, far * 2e-4);
  }
  return far - near > size ? [near, far] :
                             [camera.perspective ? Math.max(near - size, size / 2) : near - size, far + size];
}

/** The matrix from the scene to the screen, whose corners are -1 and 1. */
export function screenMatrix(camera, aspect, [near, far]) {
  const {right, up, eye} = basisOf(camera);
  const position = eyeOf(camera);
  const view = [
    right[0], up[0], eye[0], 0, right[1], up[1], eye[1], 0, right[2], up[2], eye[2], 0, -dot(right, position),
    -dot(up, position), -dot(eye, position), 1
  ];
  const depth = far - near;
  if (camera.perspective) {
    const y = Math.min(1, aspect) / HALF_ANGLE;
    return multiply(
        [y / aspect, 0, 0, 0, 0, y, 0, 0, 0, 0, -(far + near) / depth, -1, 0, 0, -2 * far * near / depth, 0], view);
  }
  const y = 1 / halfHeight(camera, aspect);
  return multiply([y / aspect, 0, 0, 0, 0, y, 0, 0, 0, 0, -2 / depth, 0, 0, 0, -(far + near) / depth, 1], view);
}

export function turn(camera, yaw, pitch) {
  camera.yaw = (camera.yaw + yaw) % (2 * Math.PI);
  camera.pitch = clamp(camera.pitch + pitch, -LIMIT, LIMIT);
}

/** Moves what is seen by shares of half of the smaller side of the screen. */
export function pan(camera, right, up) {
  const basis = basisOf(camera);
  const step = halfSide(camera);
  camera.target = add(camera.target, add(scaled(basis.right, -right * step), scaled(basis.up, -up * step)));
}

/** Brings the target nearer by a factor; what lies at (right, up) in the plane of the target stays there. */
export function zoom(camera, factor, right = 0, up = 0) {
  const distance = clamp(camera.distance / factor, 1e-6, 1e4);
  const share = 1 - distance / camera.distance;
  pan(camera, -right * share, -up * share);
  camera.distance = distance;
}

/** The distance at which a box around the target fills a screen, of whose width this share is free. */
export function framing(camera, aspect, half, free) {
  const {right, up, eye} = basisOf(camera);
  const [wide, high] = [aspect * free, 1].map((side) => FILLED * HALF_ANGLE * side / Math.min(1, aspect));
  let distance = LEAST_FRAME;
  for (let corner = 0; corner < 8; ++corner) {
    const place = half.map((value, axis) => corner >> axis & 1 ? value : -value);
    const needed = Math.max(Math.abs(dot(place, right)) / wide, Math.abs(dot(place, up)) / high);
    distance = Math.max(distance, needed + (camera.perspective ? dot(place, eye) : 0));
  }
  return distance;
}

/** A camera on the way from one to another. */
export function between(from, to, share) {
  const turned = Math.atan2(Math.sin(to.yaw - from.yaw), Math.cos(to.yaw - from.yaw));
  return {
    target: from.target.map((value, axis) => mix(value, to.target[axis], share)),
    yaw: from.yaw + turned * share,
    pitch: mix(from.pitch, to.pitch, share),
    distance: Math.exp(mix(Math.log(from.distance), Math.log(to.distance), share)),
    perspective: to.perspective,
  };
}
