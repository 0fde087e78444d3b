// The state of the page and what follows from it: what is drawn, when, and how much of it.
import {drawBox, drawCorner, drawNumbers} from './axes.js';
import {between, depthsOf, eyeOf, framing, halfHeight, pan, screenMatrix, turn, zoom} from './camera.js';
import {colorChoices, findChoice, makeColoring} from './coloring.js';
import {GREY, mapTable} from './colors.js';
import {drawMarks} from './marks.js';
import {add, clamp, scaled, transform} from './matrix.js';
import {pickPoint} from './pick.js';
import {makeRenderer} from './renderer.js';
import {boxOf, cloudMatrix, placed, placeOfRow, rowAt, screenMatrices, sphereOf, toScene} from './scene.js';
import {valueAt} from './decode.js';
import {readTheme} from './theme.js';

const NOBODY = 4294967295;
const REST = 140;             // ms without motion after which all points are drawn
const FEWEST_POINTS = 50000;  // of a frame
const SIZES = [0.5, 24];

/** Points that are few are drawn large. */
const usualSize = (count) => clamp(Math.round(60 * Math.max(count, 1) ** -0.22) / 2, 1.5, 10);

/**
 * @param {object} scene of makeScene()
 * @param {{under: HTMLCanvasElement, points: HTMLCanvasElement, over: HTMLCanvasElement}} canvases
 */
export function makeView(scene, canvases) {
  const renderer = makeRenderer(canvases.points, scene.clouds.map((cloud) => cloud.positions));
  if (!renderer) return null;
  const listeners = [];
  const choices = colorChoices(scene);
  const isFlat = scene.dims < 3;
  const home = {yaw: isFlat ? -Math.PI / 2 : -Math.PI / 3, pitch: isFlat ? Math.PI / 2 : Math.PI / 7};
  const still = globalThis.matchMedia('(prefers-reduced-motion: reduce)');
  let frameWanted = false;
  let dirty = false;
  let drawn = 0;          // the share of the points in the picture
  let budget = 1e6;       // points of a frame in motion
  let lastFrame = 0;      // when the last one in motion began
  let lastMotion = -1e9;  // when something moved last
  let timer = 0;
  let flight = null;  // of the camera: {from, to, start}
  let settle;
  const settled = new Promise((resolve) => {
    settle = resolve;
  });

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
    settled,
    canvases,
    renderer,
    isResting: () => !dirty && !flight && drawn === 1,
    drawnPoints: () => visibleClouds().reduce((sum, cloud) => sum + Math.floor(cloud.count * drawn), 0),
  };

  const visibleClouds = () => scene.clouds.filter((cloud) => cloud.visible);
  const aspect = () => view.width / view.height;

  // --- what is known of the screen, for the state as it is

  let known = null;
  function current() {
    if (known) return known;
    const matrices = scene.clouds.map((cloud) => cloudMatrix(scene, cloud, view.slider));
    const depths = depthsOf(view.camera, matrices.filter((matrix, i) => scene.clouds[i].count > 0).map(sphereOf));
    const toScreen = screenMatrix(view.camera, aspect(), depths);
    known = {depths, toScreen, matrices: screenMatrices(scene, view.slider, toScreen)};
    return known;
  }

  /** Where a point of the scene is on the screen, in CSS pixels; null if behind the eye. */
  view.screenOf = (point) => {
    const [x, y, , w] = transform(current().toScreen, point);
    if (w <= 0) return null;
    return {x: (x / w + 1) * view.width / 2, y: (1 - y / w) * view.height / 2};
  };
  view.project = (cloud, place) => view.screenOf(toScene(scene, placed(scene.clouds[cloud], place, view.slider)));

  // --- drawing

  /** The range of colours as shares of the range of values: where it starts, and 1 / its width. */
  function rangeShares() {
    const {low, high} = view.coloring;
    if (!(high > low)) return [-0.5, 1];
    const [from, to] = view.range.map((value) => (value - low) / (high - low));
    return [from, 1 / Math.max(to - from, 1e-9)];
  }

  function sliceOptions() {
    const {depths, matrices} = current();
    return {
      clouds: scene.clouds.map(
          ({visible, count, color}, i) => ({visible, count, matrix: matrices[i], color: color.map((part) => part / 255)})),
      range: rangeShares(),
      grey: GREY.map((part) => part / 255),
      size: view.size * view.ratio,
      distance: framing(1, aspect()),
      haze: [...view.theme.haze, view.shading ? 0.25 : 0],
      depths,
      perspective: view.camera.perspective,
      rim: view.shading && view.size * view.ratio > 3 ? 0.25 : 0,
    };
  }

  function present() {
    const {depths} = current();
    const strength = view.shading && !isFlat ? 9 : 0;
    renderer.present(
        {depths, distance: view.camera.distance, perspective: view.camera.perspective, strength, reach: Math.max(1, 1.3 * view.ratio)});
  }

  function drawPlain() {
    for (const [canvas, isUnder] of [[canvases.under, true], [canvases.over, false]]) {
      const context = canvas.getContext('2d');
      context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
      if (isUnder) {
        const {width, height, theme} = view;
        const gradient = context.createRadialGradient(width / 2, height * 0.42, 0, width / 2, height * 0.42, Math.hypot(width, height) * 0.6);
        gradient.addColorStop(0, theme.ground[0]);
        gradient.addColorStop(1, theme.ground[1]);
        context.fillStyle = gradient;
        context.fillRect(0, 0, width, height);
        if (view.axes) drawBox(context, view);
      } else {
        context.clearRect(0, 0, view.width, view.height);
        if (view.axes) {
          drawNumbers(context, view);
          drawCorner(context, view);
        }
        drawMarks(context, view);
      }
    }
  }

  /** The budget follows how long the last frame of a motion took. */
  function adapt(now) {
    const took = now - lastFrame;
    if (took > 21) budget = Math.max(FEWEST_POINTS, budget * (took > 40 ? 0.5 : 0.8));
    if (took < 18) budget = Math.min(budget * 1.1, 2 * Math.max(scene.total, FEWEST_POINTS));
  }

  function drawNext(now) {
    const count = visibleClouds().reduce((sum, cloud) => sum + cloud.count, 0);
    const share = count > 0 ? Math.min(1, budget / count) : 1;
    if (flight) fly(now);
    if (dirty) {
      if (lastFrame > 0 && now - lastMotion < REST) adapt(now);
      lastFrame = now;
      dirty = false;
      known = null;
      drawn = 0;
      drawPlain();
    } else {
      lastFrame = 0;
    }
    if (drawn < 1) {
      const to = Math.min(1, drawn + share);
      renderer.drawSlice(drawn, to, sliceOptions());
      drawn = to;
      present();
    }
    if (drawn < 1) {
      const wait = lastMotion + REST - now;
      clearTimeout(timer);
      if (wait > 0) {
        timer = setTimeout(wantFrame, wait);
      } else {
        wantFrame();
      }
    } else {
      settle();
    }
    if (flight) view.changed(true);
  }

  function wantFrame() {
    if (frameWanted) return;
    frameWanted = true;
    requestAnimationFrame((now) => {
      frameWanted = false;
      if (!renderer.isLost()) drawNext(now);
    });
  }

  /** Something is to be drawn anew; while it moves fewer points will do. */
  view.changed = (moves = false) => {
    dirty = true;
    known = null;
    if (moves) lastMotion = performance.now();
    wantFrame();
  };

  /** Draws all points at once, now: for a picture. */
  view.drawAll = () => {
    known = null;
    drawPlain();
    renderer.drawSlice(0, 1, sliceOptions());
    present();
  };

  view.resize = (width, height, ratio) => {
    const limit = renderer.largest;
    Object.assign(view, {width: Math.max(width, 1), height: Math.max(height, 1), ratio: Math.min(ratio, limit / Math.max(width, height, 1))});
    for (const canvas of Object.values(canvases)) {
      canvas.width = Math.max(1, Math.round(view.width * view.ratio));
      canvas.height = Math.max(1, Math.round(view.height * view.ratio));
    }
    view.changed();
  };

  // --- the camera

  function fly(now) {
    const share = clamp((now - flight.start) / 260, 0, 1);
    const eased = share * share * (3 - 2 * share);
    Object.assign(view.camera, share < 1 ? between(flight.from, flight.to, eased) : flight.to);
    if (share === 1) flight = null;
    dirty = true;
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

  function frameOf(clouds) {
    const box = boxOf(clouds, view.slider);
    if (!box) return {target: [0, 0, 0], distance: framing(1, aspect())};
    const middle = box.low.map((value, axis) => value / 2 + box.high[axis] / 2);
    const radius = Math.hypot(...box.low.map((value, axis) => box.high[axis] / 2 - value / 2)) / scene.size;
    return {target: toScene(scene, middle), distance: framing(radius || 1, aspect())};
  }
  /** All that is visible fills the screen. */
  view.frame = (atOnce) => view.moveTo(frameOf(visibleClouds()), atOnce);
  view.reset = (atOnce) => view.moveTo({...frameOf(scene.clouds), ...home, perspective: !isFlat}, atOnce);
  /** Looks along an axis, from its positive end or from the other. */
  view.lookAlong = (axis, fromBelow = false) => {
    const sign = fromBelow ? -1 : 1;
    const yaw = [fromBelow ? Math.PI : 0, -sign * Math.PI / 2, -Math.PI / 2][axis];
    view.moveTo({yaw, pitch: axis === 2 ? sign * Math.PI / 2 : 0});
  };
  view.centreOn = ({cloud, place}) => view.moveTo({target: toScene(scene, placed(scene.clouds[cloud], place, view.slider))});

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
  /** The driver lost everything and is back. */
  view.restore = () => {
    renderer.prepare();
    upload();
    view.set({});
  };

  // --- picking

  function neighborsOf(cloud, place) {
    const {neighbors} = scene.clouds[cloud];
    if (!neighbors) return [];
    const found = [];
    for (let at = place * neighbors.k; at < (place + 1) * neighbors.k; ++at) {
      const row = valueAt(neighbors.indices, at);
      if (row === NOBODY) continue;
      const distance = neighbors.distances && valueAt(neighbors.distances, at);
      found.push({row, place: placeOfRow(scene.clouds[neighbors.of], row), distance});
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
    const {matrices} = current();
    const {hidden, entries} = view.coloring;
    const distance = framing(1, aspect());
    const {perspective} = view.camera;
    const found = pickPoint(
        scene.clouds.map(({positions, visible}, i) => {
          const {values} = view.coloring.clouds[i];
          const isHidden = entries && values && hidden.size > 0 ? (number) => hidden.has(values[number]) : null;
          return {positions, visible, matrix: matrices[i], isHidden};
        }),
        {
          x, y, reach, width: view.width, height: view.height,
          radius: (w) => Math.max(view.size / 2 * (perspective ? clamp(Math.sqrt(distance / w), 0.75, 4) : 1), 1),
        });
    return found && {cloud: found.cloud, place: scene.clouds[found.cloud].order[found.number]};
  };

  // The parts of the camera as a script of the page's user sees them: in the coordinates of the clouds.
  view.realCamera = () => ({
    ...view.camera,
    target: add(scaled(view.camera.target, scene.size), scene.centre),
    distance: view.camera.distance * scene.size,
    eye: add(scaled(eyeOf(view.camera), scene.size), scene.centre),
    halfHeight: halfHeight(view.camera) * scene.size,
  });

  view.setChoice(findChoice(choices, scene.color));
  return view;
}
