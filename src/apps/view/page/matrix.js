// Vectors of 3, matrices of 4 x 4 (column-major, as WebGL reads them) and quaternions (x, y, z, w), all in double.

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scaled = (a, factor) => [a[0] * factor, a[1] * factor, a[2] * factor];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const mix = (a, b, share) => a + (b - a) * share;
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

export function multiply(a, b) {
  const product = [];
  for (let column = 0; column < 16; column += 4) {
    for (let row = 0; row < 4; ++row) {
      product[column + row] =
          a[row] * b[column] + a[row + 4] * b[column + 1] + a[row + 8] * b[column + 2] + a[row + 12] * b[column + 3];
    }
  }
  return product;
}

/** The homogeneous coordinates [x, y, z, w] of a point. */
export function transform(m, [x, y, z]) {
  return [0, 1, 2, 3].map((row) => m[row] * x + m[row + 4] * y + m[row + 8] * z + m[row + 12]);
}

/** Three rows of a 3 x 3 matrix times a vector. */
export const rotate = (rows, vector) => rows.map((row) => dot(row, vector));

/** The rotation in a 3 x 3 matrix (rows) without reflection: its quaternion. */
export function quaternionOf([[a, b, c], [d, e, f], [g, h, i]]) {
  const trace = a + e + i;
  let q;
  if (trace > 0) {
    q = [h - f, c - g, d - b, 1 + trace];
  } else if (a >= e && a >= i) {
    q = [1 + a - e - i, b + d, c + g, h - f];
  } else if (e >= i) {
    q = [b + d, 1 + e - a - i, f + h, c - g];
  } else {
    q = [c + g, f + h, 1 + i - a - e, d - b];
  }
  const length = Math.hypot(...q);
  return q.map((part) => part / length);
}

export function rowsOf([x, y, z, w]) {
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
    [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
    [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
  ];
}

/** The share of the way from no rotation to this one, by the shorter way around. */
export function partOf(q, share) {
  const sign = q[3] < 0 ? -1 : 1;
  const axis = Math.hypot(q[0], q[1], q[2]);
  if (axis < 1e-12) return [0, 0, 0, 1];
  const half = Math.atan2(axis, sign * q[3]) * share;
  const factor = sign * Math.sin(half) / axis;
  return [q[0] * factor, q[1] * factor, q[2] * factor, Math.cos(half)];
}
