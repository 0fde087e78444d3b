// What is drawn above the points: the picked point, its neighbours and the lines to them.

function dotAt(context, {x, y}, radius, fill, ring) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = ring;
  context.stroke();
}

/** Draws the marks of view.picked, whose neighbours are points of the cloud `of`. */
export function drawMarks(context, view) {
  const {picked, theme} = view;
  if (!picked) return;
  const own = view.project(picked.cloud, picked.place);
  if (!own) return;
  const others =
      picked.neighbors.filter(({place}) => place >= 0 && (picked.of !== picked.cloud || place !== picked.place));
  const places = others.map(({place}) => view.project(picked.of, place)).filter(Boolean);
  context.lineCap = 'round';
  for (const [width, color] of [[3.5, theme.halo], [1.5, theme.accent]]) {
    context.beginPath();
    for (const {x, y} of places) {
      context.moveTo(own.x, own.y);
      context.lineTo(x, y);
    }
    context.lineWidth = width;
    context.strokeStyle = color;
    context.stroke();
  }
  for (const place of places) dotAt(context, place, 4, theme.accent, theme.halo);
  dotAt(context, own, 6, theme.mark, theme.halo);
  context.beginPath();
  context.arc(own.x, own.y, 12, 0, 2 * Math.PI);
  context.lineWidth = 2;
  context.strokeStyle = theme.mark;
  context.stroke();
}
