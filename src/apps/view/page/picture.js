// Saves what is on the screen as a PNG, with the colour bar that the panel shows.
import {mapColor} from './colors.js';
import {brief, shown} from './format.js';
import {drawAll} from './frames.js';

/** The colour bar of numbers, in the lower right corner. */
function drawScale(context, {coloring, map, range, theme, width, height}) {
  if (!coloring.histogram) return;
  const [long, thick] = [Math.min(180, width / 3), 8];
  const [x, y] = [width - long - 24, height - 36 - thick];
  for (let i = 0; i < long; ++i) {
    context.fillStyle = mapColor(map, i / long);
    context.fillRect(x + i, y, Math.min(1.5, long - i), thick);
  }
  context.fillStyle = theme.number;
  context.font = theme.font;
  context.textBaseline = 'top';
  context.textAlign = 'left';
  context.fillText(brief(range[0]), x, y + thick + 5);
  context.textAlign = 'right';
  context.fillText(brief(range[1]), x + long, y + thick + 5);
  context.textAlign = 'left';
  context.textBaseline = 'bottom';
  context.fillText(shown(coloring.choice.label, 30), x, y - 5);
}

/** The picture as a Blob, `factor` times as many pixels wide and high as the screen shows. */
export function takePicture(view, factor = 1) {
  const {width, height, ratio, canvases} = view;
  view.resize(width, height, ratio * factor);
  drawAll(view);
  const picture = document.createElement('canvas');
  picture.width = canvases.points.width;
  picture.height = canvases.points.height;
  const context = picture.getContext('2d');
  for (const canvas of [canvases.under, canvases.points, canvases.over]) context.drawImage(canvas, 0, 0);
  context.scale(view.ratio, view.ratio);
  drawScale(context, view);
  view.resize(width, height, ratio);
  drawAll(view);
  return new Promise((resolve, reject) => {
    picture.toBlob((blob) => blob ? resolve(blob) : reject(new Error('the picture is too large')), 'image/png');
  });
}

/** Offers the picture as a download. */
export async function savePicture(view, factor) {
  const blob = await takePicture(view, factor);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `${view.scene.title.replaceAll(/[^\p{L}\p{N}._-]+/gu, '_').slice(0, 60) || 'clouds'}.png`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
