// The colour bar of a number: how often which value is there, and two handles for the ends of the colours.
import {mapColor} from './colors.js';
import {BINS} from './coloring.js';
import {make} from './elements.js';
import {brief} from './format.js';
import {clamp} from './matrix.js';

const HEIGHT = 56;
const KEY_STEPS = {
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  PageDown: -0.1,
  PageUp: 0.1
};

/** The element; its update() follows the view. */
export function makeHistogram(view) {
  const canvas = make('canvas', {'aria-hidden': 'true'});
  const handles = ['Start', 'End'].map((name) => make('button', {
                                         type: 'button',
                                         class: 'handle',
                                         role: 'slider',
                                         'aria-label': `${name} of the colours`,
                                         'aria-orientation': 'horizontal',
                                       }));
  const texts = [make('output', {class: 'number'}), make('output', {class: 'number'})];
  const whole = make('button', {type: 'button', class: 'text', textContent: 'All values'});
  const middle = make('button', {type: 'button', class: 'text', textContent: 'Middle 98 %'});
  const track = make('div', {class: 'track'}, canvas, ...handles);
  const element = make(
      'div', {class: 'histogram'}, track, make('div', {class: 'ends'}, texts[0], texts[1]),
      make('div', {class: 'row'}, whole, middle));

  const domain = () => [view.coloring.low, view.coloring.high];
  const shareOf = (value) => {
    const [low, high] = domain();
    return high > low ? clamp((value - low) / (high - low), 0, 1) : 0.5;
  };
  function setEnd(end, share) {
    const [low, high] = domain();
    const range = [...view.range];
    range[end] = low + clamp(share, 0, 1) * (high - low);
    range[end] = end === 0 ? Math.min(range[0], range[1]) : Math.max(range[0], range[1]);
    view.set({range}, true);
  }

  handles.forEach((handle, end) => {
    handle.addEventListener('pointerdown', (event) => {
      handle.setPointerCapture(event.pointerId);
      handle.focus();
      event.preventDefault();
    });
    handle.addEventListener('pointermove', (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const box = canvas.getBoundingClientRect();
      setEnd(end, (event.clientX - box.left) / box.width);
    });
    handle.addEventListener('keydown', (event) => {
      const share = shareOf(view.range[end]);
      if (event.key in KEY_STEPS) {
        setEnd(end, share + KEY_STEPS[event.key]);
      } else if (event.key === 'Home' || event.key === 'End') {
        setEnd(end, event.key === 'Home' ? 0 : 1);
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    });
  });
  whole.addEventListener('click', () => view.set({range: domain()}));
  middle.addEventListener('click', () => view.set({range: view.coloring.middle}));

  function draw() {
    const {width} = canvas.getBoundingClientRect();
    const ratio = globalThis.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = HEIGHT * ratio;
    const context = canvas.getContext('2d');
    context.scale(ratio, ratio);
    const {histogram} = view.coloring;
    const most = Math.max(...histogram, 1);
    const [from, to] = view.range.map(shareOf);
    const each = width / BINS;
    for (let bin = 0; bin < BINS; ++bin) {
      const share = (bin + 0.5) / BINS;
      context.fillStyle = mapColor(view.map, (share - from) / Math.max(to - from, 1e-9));
      context.fillRect(bin * each, HEIGHT - 8, each + 0.5, 8);
      context.globalAlpha = share < from || share > to ? 0.45 : 1;
      // Square roots: rare values stay visible.
      const height = histogram[bin] > 0 ? Math.max(1.5, Math.sqrt(histogram[bin] / most) * (HEIGHT - 12)) : 0;
      context.fillRect(bin * each, HEIGHT - 10 - height, Math.max(each - 0.4, 0.6), height);
      context.globalAlpha = 1;
    }
  }

  function update() {
    element.hidden = !view.coloring.histogram;
    if (element.hidden) return;
    const [low, high] = domain();
    handles.forEach((handle, end) => {
      const value = view.range[end];
      handle.style.left = `${100 * shareOf(value)}%`;
      handle.setAttribute('aria-valuemin', low);
      handle.setAttribute('aria-valuemax', high);
      handle.setAttribute('aria-valuenow', value);
      handle.setAttribute('aria-valuetext', brief(value));
      handle.disabled = !(high > low);
      texts[end].textContent = brief(value, 5);
    });
    const [a, b] = view.coloring.middle;
    middle.hidden = a === low && b === high;
    whole.disabled = view.range[0] === low && view.range[1] === high;
    draw();
  }
  new ResizeObserver(update).observe(canvas);
  return {element, update};
}
