// Which point is meant by a place on the screen: of those whose disc covers it the one in front, else the nearest.

/**
 * @param {object[]} clouds with positions, matrix, visible and isHidden(i), null if no point is
 * @param {{x: number, y: number, width: number, height: number, reach: number, radius: (w: number) => number}} at
 *     in CSS pixels; `radius` is that of the disc of a point at depth w
 * @returns {{cloud: number, number: number}|null} `number` counts in the order of the positions
 */
export function pickPoint(clouds, {x, y, width, height, reach, radius}) {
  let covering = null;
  let frontmost = Infinity;
  let nearest = null;
  let least = reach * reach;
  clouds.forEach(({positions, matrix: m, visible, isHidden}, cloud) => {
    if (!visible) return;
    const count = positions.length / 3;
    for (let i = 0, at = 0; i < count; ++i, at += 3) {
      const [a, b, c] = [positions[at], positions[at + 1], positions[at + 2]];
      const w = m[3] * a + m[7] * b + m[11] * c + m[15];
      if (w <= 0) continue;
      const dx = ((m[0] * a + m[4] * b + m[8] * c + m[12]) / w + 1) * width / 2 - x;
      if (dx > reach || dx < -reach) continue;
      const dy = (1 - (m[1] * a + m[5] * b + m[9] * c + m[13]) / w) * height / 2 - y;
      const apart = dx * dx + dy * dy;
      if (apart > reach * reach || isHidden?.(i)) continue;
      const z = (m[2] * a + m[6] * b + m[10] * c + m[14]) / w;
      if (z < -1 || z > 1) continue;
      const disc = radius(w);
      if (apart <= disc * disc) {
        // Discs are the fronts of small balls: of two at the same depth the one whose middle is nearer wins.
        const front = z - 1e-7 * Math.sqrt(disc * disc - apart) / disc;
        if (front < frontmost) {
          frontmost = front;
          covering = {cloud, number: i};
        }
      }
      if (apart < least) {
        least = apart;
        nearest = {cloud, number: i};
      }
    }
  });
  return covering ?? nearest;
}
