// What scripts may do with the page: globalThis.kithView, see README.md.
import {chooseColor} from './panel.js';
import {takePicture} from './picture.js';
import {placeOfRow, toScene} from './scene.js';
import {setTheme} from './theme.js';

const PLAIN = ['size', 'slider', 'shading', 'axes', 'turning', 'range'];

function stateOf(view) {
  const {coloring, picked, scene} = view;
  return {
    camera: view.realCamera(),
    color: coloring.choice.id,
    kind: coloring.choice.kind,
    map: view.map,
    range: [...view.range],
    domain: [coloring.low, coloring.high],
    hidden: coloring.entries ? [...coloring.hidden].map((number) => coloring.entries[number].word) : [],
    size: view.size,
    slider: view.slider,
    shading: view.shading,
    axes: view.axes,
    turning: view.turning,
    visible: scene.clouds.map((cloud) => cloud.visible),
    picked: picked && {
      cloud: picked.cloud,
      row: picked.row,
      of: picked.of,
      neighbors: picked.neighbors.map(({row}) => row),
      distances: picked.neighbors.map(({distance}) => distance),
    },
    drawn: view.drawnPoints(),
    total: scene.total,
  };
}

function change(view, wanted) {
  const {camera, color, map, visible, hidden, theme} = wanted;
  if (camera) {
    const {target, distance, ...rest} = camera;
    if (target) rest.target = toScene(view.scene, target);
    if (distance) rest.distance = distance / view.scene.size;
    view.moveTo(rest, true);
  }
  if (color) chooseColor(view, color);
  if (map) view.setMap(map);
  visible?.forEach((value, number) => {
    view.scene.clouds[number].visible = Boolean(value);
  });
  if (hidden && view.coloring.entries) {
    view.setHidden(
        [...view.coloring.entries.keys()].filter((number) => hidden.includes(view.coloring.entries[number].word)));
  }
  if (theme) {
    setTheme(theme);
    view.restyle();
  }
  view.set(Object.fromEntries(PLAIN.filter((name) => name in wanted).map((name) => [name, wanted[name]])));
}

/** @returns {object} the functions of kithView that need a view */
export function makeApi(view) {
  return {
    state: () => stateOf(view),
    isResting: () => view.isResting(),
    set: (wanted) => change(view, wanted),
    project(cloud, row) {
      const place = placeOfRow(view.scene.clouds[cloud], row);
      return place < 0 ? null : view.project(cloud, place);
    },
    pick: (cloud, row) => view.pickRow(cloud, row),
    clear: () => view.pick(null),
    picture: (factor) => takePicture(view, factor),
  };
}
