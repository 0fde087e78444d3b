// The panel at the side: clouds, colours, points, the way to a row, notes; and the buttons above the picture.
import {findChoice} from './coloring.js';
import {hexOf, MAP_NAMES, parseColor} from './colors.js';
import {byId, make} from './elements.js';
import {counted, grouped, shown} from './format.js';
import {makeHistogram} from './histogram.js';
import {makeLegend} from './legend.js';
import {savePicture} from './picture.js';
import {isDark, setTheme} from './theme.js';

function cloudItem(view, cloud) {
  const box = make('input', {type: 'checkbox', checked: cloud.visible});
  box.addEventListener('change', () => {
    cloud.visible = box.checked;
    view.set({});
  });
  const color =
      make('input', {type: 'color', value: hexOf(cloud.color), 'aria-label': `Colour of ${shown(cloud.name)}`});
  color.addEventListener('input', () => {
    cloud.color = parseColor(color.value);
    view.set({});
  });
  const name = make('bdi', {class: 'name', textContent: shown(cloud.name), title: shown(cloud.name, 300)});
  const count = make('span', {class: 'number', textContent: grouped(cloud.count)});
  const update = () => {
    box.checked = cloud.visible;
    color.value = hexOf(cloud.color);
  };
  return {element: make('li', {}, make('label', {}, box, name, count), color), update};
}

function makeClouds(view) {
  const items = view.scene.clouds.map((cloud) => cloudItem(view, cloud));
  byId('clouds').append(...items.map(({element}) => element));
  return {update: () => items.forEach((item) => item.update())};
}

function makeColors(view) {
  const choice = byId('color-by');
  choice.append(...view.choices.map(
      ({label}, i) => make('option', {value: String(i), textContent: shown(label, 40), title: shown(label, 300)})));
  choice.addEventListener('change', () => view.setChoice(view.choices[Number(choice.value)]));
  const map = byId('color-map');
  map.append(...MAP_NAMES.map((name) => make('option', {value: name, textContent: name})));
  map.addEventListener('change', () => view.setMap(map.value));
  const parts = [makeHistogram(view), makeLegend(view)];
  byId('color-parts').append(...parts.map(({element}) => element));
  return {
    update() {
      choice.value = String(view.choices.indexOf(view.coloring.choice));
      map.value = view.map;
      byId('map-row').hidden = !view.coloring.histogram;
      parts.forEach((part) => part.update());
    },
  };
}

/** Checkboxes and sliders that show one property of the view each. */
function makeSettings(view) {
  const size = byId('point-size');
  size.addEventListener('input', () => view.set({size: Number(size.value)}));
  const slider = byId('pose-slider');
  slider.addEventListener('input', () => view.set({slider: Number(slider.value)}, true));
  byId('pose').hidden = !view.scene.hasPoses;
  const boxes = ['shading', 'axes', 'turning'].map((name) => {
    const box = byId(name);
    box.addEventListener(
        'change', () => name === 'turning' ? view.setTurning(box.checked) : view.set({[name]: box.checked}));
    return [name, box];
  });
  byId('turning-row').hidden = view.scene.dims === 3;
  return {
    update() {
      size.value = String(view.size);
      byId('point-size-text').textContent = `${view.size} px`;
      slider.value = String(view.slider);
      for (const [name, box] of boxes) box.checked = view[name];
      byId('directions').hidden = !view.turning;
    },
  };
}

function makeGoTo(view) {
  const [cloud, row, answer] = ['goto-cloud', 'goto-row', 'goto-answer'].map(byId);
  cloud.append(
      ...view.scene.clouds.map(({name}, i) => make('option', {value: String(i), textContent: shown(name, 40)})));
  cloud.hidden = view.scene.clouds.length < 2;
  byId('goto').addEventListener('submit', (event) => {
    event.preventDefault();
    const text = row.value.replaceAll(',', '').trim();
    const isFound = /^\d+$/u.test(text) && view.pickRow(Number(cloud.value), Number(text));
    answer.textContent = isFound ? '' : `Row ${shown(row.value, 20)} is not on this page.`;
  });
}

/** What the buttons above the picture do; input.js has keys for most of it. */
export const ACTIONS = {
  reset: (view) => view.reset(),
  frame: (view) => view.frame(),
  perspective: (view) => view.setPerspective(!view.camera.perspective),
  top: (view, other) => view.turning && view.lookAlong(2, other),
  front: (view, other) => view.turning && view.lookAlong(1, other),
  side: (view, other) => view.turning && view.lookAlong(0, other),
  save: (view, other) => savePicture(view, other ? 2 : 1),
  theme(view) {
    setTheme(isDark() ? 'light' : 'dark');
    view.restyle();
  },
  help: () => byId('help').showModal(),
  panel() {
    const {dataset} = document.body;
    const isOpen = getComputedStyle(byId('panel')).display !== 'none';
    dataset.panel = isOpen ? 'closed' : 'open';
    byId('panel-button').setAttribute('aria-expanded', String(!isOpen));
  },
};

function makeButtons(view) {
  for (const button of document.querySelectorAll('[data-action]')) {
    button.addEventListener('click', (event) => ACTIONS[button.dataset.action](view, event.shiftKey));
  }
  byId('save-large').addEventListener('click', () => savePicture(view, 2));
  byId('help').addEventListener('click', ({target}) => {
    if (target === byId('help')) target.close();
  });
  return {
    update() {
      const button = document.querySelector('[data-action=perspective]');
      button.setAttribute('aria-pressed', String(view.camera.perspective));
    },
  };
}

function writeTitles({title, clouds, total, notes, generator}) {
  byId('title').textContent = shown(title, 80) || 'Point clouds';
  byId('title').title = shown(title, 300);
  byId('summary').textContent =
      counted(total, 'point') + (clouds.length > 1 ? ` in ${counted(clouds.length, 'cloud')}` : '');
  byId('notes').append(...notes.map((note) => make('li', {textContent: shown(note, 300)})));
  byId('notes-section').hidden = notes.length === 0;
  byId('generator').textContent = generator ? `Written by ${shown(generator, 60)}` : '';
}

/** Fills the panel of body.html; update() follows the view. */
export function makePanel(view) {
  writeTitles(view.scene);
  makeGoTo(view);
  const parts = [makeClouds(view), makeColors(view), makeSettings(view), makeButtons(view)];
  return {update: () => parts.forEach((part) => part.update())};
}

/** The choice of colour by what a script or the scene calls it. */
export const chooseColor = (view, wanted) => view.setChoice(findChoice(view.choices, wanted));
