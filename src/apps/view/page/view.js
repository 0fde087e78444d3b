// The state of the page and what changes it.
import {between, depthsOf, eyeOf, framing, pan, screenMatrix, turn, zoom} from './camera.js';
import {colorChoices, findChoice, makeColoring} from './coloring.js';
import {mapTable} from './colors.js';
import {valueAt} from './decode.js';
import {makeFrames, USUAL_DISTANCE} from './frames.js';
import {add, clamp, multiply, scaled, subtract, transform} from './matrix.js';
import {pickPoint} from './pick.js';
import {makeRenderer} from './renderer.js';
import {boxOf, cloudMatrix, placed, placeOfRow, rowAt, sphereOf, toScene} from './scene.js';
import {readTheme} from './theme.js';

const NO_ROW = 4294967295;
const FLIGHT = 260;  // ms that the camera takes to a new place
const SIZES = [0.5, 24];

/** Points that are few are drawn large. */
const usualSize = (count) => clamp(Math.round(60 * Math.max(count, 1) ** -0.22) / 2, 1.5, 10);

/**
 * @param {object} scene of makeScene()
 * @param {{under: HTMLCanvasElement, points: HTMLCanvasElement, over: HTMLCanvasElement}} canvases
 * @param {WebGL2RenderingContext} context of the one with the points
 */
export function makeView(scene, canvases, context) {
  const renderer = makeRenderer(context, scene.clouds.map((cloud) => cloud.positions));
  const listeners = [];
  const choices = colorChoices(scene);
  const isFlat = scene.dims < 3;
  const home = {yaw: isFlat ? -Math.PI / 2 : -Math.PI / 3, pitch: isFlat ? Math.PI / 2 : Math.PI / 7};
  const still = globalThis.matchMedia('(prefers-reduced-motion: reduce)');
  let flight = null;  // of the camera: {from, to, start}
  let known = null;   // see view.screen()

  const view = {
    scene,
    choices,
    camera: {target: [0, 0, 0], ...home, distance: 1, perspective: !isFlat},
    coloring: null,
    map: 'viridis',
    range: [0, 1],
    size: usualSize(scene.total),
    slider: 1,
    shading: true,
    axes: true,
    turning: !isFlat,
    picked: null,
    theme: readTheme(),
    width: 1,
    height: 1,
    ratio: 1,
    margin: 0,  // pixels that buttons cover at the right
    canvases,
    renderer,
  };
  const frames = makeFrames(view, fly);
  Object.assign(view, {settled: frames.settled, isResting: frames.isResting, drawnPoints: frames.drawnPoints});

  const visibleClouds = () => scene.clouds.filter((cloud) => cloud.visible);
  const aspect = () => view.width / view.height;

  // --- the screen

  /** The depths that are seen and the matrices up to the screen, for the state as it is. */
  view.screen = () => {
    if (known) return known;
    const matrices = scene.clouds.map((cloud) => cloudMatrix(scene, cloud, view.slider));
    const depths = depthsOf(view.camera, matrices.filter((matrix, i) => scene.clouds[i].count > 0).map(sphereOf));
    const toScreen = screenMatrix(view.camera, aspect(), depths);
    known = {depths, toScreen, matrices: matrices.map((matrix) => multiply(toScreen, matrix))};
    return known;
  };
  view.forgetScreen = () => {
    known = null;
  };

  /** Where a point of the scene is on the screen, in CSS pixels; null if behind the eye. */
  view.screenOf = (point) => {
    const [x, y, , w] = transform(view.screen().toScreen, point);
    if (w <= 0) return null;
    return {x: (x / w + 1) * view.width / 2, y: (1 - y / w) * view.height / 2};
  };
  view.project = (cloud, place) => view.screenOf(toScene(scene, placed(scene.clouds[cloud], place, view.slider)));

  view.changed = (moves = false) => {
    known = null;
    frames.changed(moves);
  };

  view.resize = (width, height, ratio) => {
    const limit = renderer.largest;
    Object.assign(view, {
      width: Math.max(width, 1),
      height: Math.max(height, 1),
      ratio: Math.min(ratio, limit / Math.max(width, height, 1))
    });
    for (const canvas of Object.values(canvases)) {
      canvas.width = Math.max(1, Math.round(view.width * view.ratio));
      canvas.height = Math.max(1, Math.round(view.height * view.ratio));
    }
    view.changed();
  };

  // --- the camera

  /** Brings the camera on its way to where it shall go, if it is on the way. */
  function fly(now) {
    if (!flight) return false;
    const share = clamp((now - flight.start) / FLIGHT, 0, 1);
    Object.assign(
        view.camera, share < 1 ? between(flight.from, flight.to, share * share * (3 - 2 * share)) : flight.to);
    known = null;
    if (share === 1) flight = null;
    return true;
  }

  /** Moves the camera, smoothly unless that is not wanted. */
  view.moveTo = (change, atOnce = false) => {
    const to = {...view.camera, ...change};
    if (atOnce || still.matches) {
      flight = null;
      Object.assign(view.camera, to);
    } else {
      flight = {from: {...view.camera}, to, start: performance.now()};
    }
    view.changed(!atOnce);
  };
  view.move = (action, ...amounts) => {
    flight = null;
    action(view.camera, ...amounts);
    view.changed(true);
  };
  view.turnBy = (yaw, pitch) => {
    if (view.turning) view.move(turn, yaw, pitch);
  };
  view.panBy = (right, up) => view.move(pan, right, up);
  view.zoomBy = (factor, right = 0, up = 0) => view.move(zoom, factor, right, up);

  function frameOf(clouds, camera) {
    const box = boxOf(clouds, view.slider);
    if (!box) return {target: [0, 0, 0], distance: USUAL_DISTANCE};
    const middle = box.low.map((value, axis) => value / 2 + box.high[axis] / 2);
    const half = box.low.map((value, axis) => (box.high[axis] / 2 - value / 2) / scene.size);
    return {
      target: toScene(scene, middle),
      distance: framing(camera, aspect(), half, Math.max(0.6, 1 - 2 * view.margin / view.width))
    };
  }
  /** All that is visible fills the screen. */
  view.frame = (atOnce) => view.moveTo(frameOf(visibleClouds(), view.camera), atOnce);
  view.reset = (atOnce) => {
    const start = {...home, perspective: !isFlat};
    view.moveTo({...start, ...frameOf(scene.clouds, start)}, atOnce);
  };
  /** Looks along an axis, from its positive end or from the other. */
  view.lookAlong = (axis, fromBelow = false) => {
    const sign = fromBelow ? -1 : 1;
    const yaw = [fromBelow ? Math.PI : 0, -sign * Math.PI / 2, -Math.PI / 2][axis];
    view.moveTo({yaw, pitch: axis === 2 ? sign * Math.PI / 2 : 0});
  };
  view.centreOn = ({cloud, place}) =>
      view.moveTo({target: toScene(scene, placed(scene.clouds[cloud], place, view.slider))});

  // --- choices

  view.listen = (listener) => listeners.push(listener);
  const tell = () => listeners.forEach((listener) => listener(view));

  /** Changes what the panel offers, and tells it. */
  view.set = (change, moves = false) => {
    Object.assign(view, change);
    view.size = clamp(view.size, ...SIZES);
    view.slider = clamp(view.slider, 0, 1);
    view.changed(moves);
    tell();
  };

  function setPalette() {
    const {entries, hidden} = view.coloring;
    if (!entries) return renderer.setPalette(mapTable(view.map));
    const table = new Uint8Array(4 * Math.max(entries.length, 1));
    entries.forEach(({color}, i) => table.set([...color, hidden.has(i) ? 0 : 255], 4 * i));
    return renderer.setPalette(table);
  }
  function upload() {
    view.coloring.clouds.forEach((cloud, number) => renderer.setColors(number, cloud));
    setPalette();
  }
  view.setChoice = (choice) => {
    view.coloring = makeColoring(scene, choice);
    upload();
    view.set({range: view.coloring.middle ?? [0, 1]});
  };
  view.setMap = (map) => {
    view.map = map;
    setPalette();
    view.set({});
  };
  /** Switches classes on or off: `hidden` has their numbers. */
  view.setHidden = (hidden) => {
    view.coloring.hidden = new Set(hidden);
    setPalette();
    view.set({});
  };
  view.setPerspective = (perspective) => {
    flight = null;
    view.camera.perspective = perspective;
    view.set({});
  };
  view.restyle = () => view.set({theme: readTheme()});
  /** What the panel calls it when the turning of a flat cloud is switched off: back to above. */
  view.setTurning = (turning) => {
    view.set({turning});
    if (!turning) view.moveTo(home);
  };
  /** The driver lost everything and is back. */
  view.restore = () => {
    renderer.prepare();
    upload();
    view.set({});
  };

  // --- picking

  /** How far a point is from another one, as they are shown: where distances are not on the page. */
  function distanceTo(own, cloud, place) {
    return place < 0 ? NaN : Math.hypot(...subtract(placed(scene.clouds[cloud], place, 1), own));
  }
  function neighborsOf(cloud, place) {
    const {neighbors} = scene.clouds[cloud];
    if (!neighbors) return [];
    const own = placed(scene.clouds[cloud], place, 1);
    const found = [];
    for (let at = place * neighbors.k; at < (place + 1) * neighbors.k; ++at) {
      const row = valueAt(neighbors.indices, at);
      if (row === NO_ROW) continue;
      const other = placeOfRow(scene.clouds[neighbors.of], row);
      const stored = neighbors.distances && valueAt(neighbors.distances, at);
      found.push({
        row,
        place: other,
        distance: stored ?? distanceTo(own, neighbors.of, other),
        isMeasured: stored === undefined || Boolean(neighbors.rounded)
      });
    }
    return found;
  }
  /** Picks a point by its place in the cloud; `null` picks none. */
  view.pick = (cloud, place) => {
    if (cloud === null) return view.set({picked: null});
    const row = rowAt(scene.clouds[cloud], place);
    const of = scene.clouds[cloud].neighbors?.of ?? cloud;
    return view.set({picked: {cloud, place, row, of, neighbors: neighborsOf(cloud, place)}});
  };
  view.pickRow = (cloud, row) => {
    const place = placeOfRow(scene.clouds[cloud], row);
    if (place >= 0) view.pick(cloud, place);
    return place >= 0;
  };
  /** The point at a place of the screen, or null. */
  view.pointAt = (x, y, reach) => {
    const {matrices} = view.screen();
    const {hidden, entries} = view.coloring;
    const {perspective} = view.camera;
    const found = pickPoint(
        scene.clouds.map(({positions, visible}, i) => {
          const {values} = view.coloring.clouds[i];
          const isHidden = entries && values && hidden.size > 0 ? (number) => hidden.has(values[number]) : null;
          return {positions, visible, matrix: matrices[i], isHidden};
        }),
        {
          x,
          y,
          reach,
          width: view.width,
          height: view.height,
          radius: (w) => Math.max(view.size / 2 * (perspective ? clamp(Math.sqrt(USUAL_DISTANCE / w), 0.75, 4) : 1), 1),
        });
    return found && {cloud: found.cloud, place: scene.clouds[found.cloud].order[found.number]};
  };

  // The parts of the camera as a script of the page's user sees them: in the coordinates of the clouds.
  view.realCamera = () => ({
    ...view.camera,
    target: add(scaled(view.camera.target, scene.size), scene.centre),
    distance: view.camera.distance * scene.size,
    eye: add(scaled(eyeOf(view.camera), scene.size), scene.centre),
  });

  view.setChoice(findChoice(choices, scene.color));
  return view;
}
