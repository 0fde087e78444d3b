// Starts the page: reads the scene, shows the first picture, and says so if something is in the way.
import {makeApi} from './api.js';
import {makeCard} from './card.js';
import {readScene} from './decode.js';
import {byId, make} from './elements.js';
import {shown} from './format.js';
import {addInput} from './input.js';
import {makePanel} from './panel.js';
import {openContext} from './renderer.js';
import {makeScene} from './scene.js';
import {makeView} from './view.js';

const LARGEST_RATIO = 2;  // device pixels per CSS pixel; more cost time and are hard to see

function say(text) {
  byId('status').hidden = !text;
  byId('status-text').textContent = text;
}

/** An icon of its own, so that browsers do not ask a server for one. */
function addIcon() {
  const picture =
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="#3b7cf0"><circle cx="4" cy="11" r="2.5"/>' +
      '<circle cx="11.5" cy="4.5" r="3"/><circle cx="12.5" cy="12" r="1.8"/><circle cx="4.5" cy="4" r="1.5"/></g></svg>';
  document.head.append(make('link', {rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(picture)}`}));
}

function follow(view) {
  const stage = byId('stage');
  const canvas = byId('points');
  const fit = () => {
    const {offsetWidth, offsetHeight} = byId('tools');
    view.margin = offsetHeight > offsetWidth ? offsetWidth : 0;
    view.resize(stage.clientWidth, stage.clientHeight, Math.min(globalThis.devicePixelRatio || 1, LARGEST_RATIO));
  };
  fit();
  new ResizeObserver(fit).observe(stage);
  globalThis.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => view.restyle());
  canvas.addEventListener('webglcontextlost', (event) => {
    event.preventDefault();
    say('The graphics driver was reset. Waiting for it\u2026');
  });
  canvas.addEventListener('webglcontextrestored', () => {
    view.restore();
    say('');
  });
}

async function start(progress) {
  if (!globalThis.DecompressionStream)
    throw new Error('This browser is too old for this page: it has no DecompressionStream.');
  const canvases = {under: byId('under'), points: byId('points'), over: byId('over')};
  const context = openContext(canvases.points);
  if (!context) {
    throw new Error(
        'This page needs WebGL 2, which this browser does not offer. It may be switched off in its settings.');
  }
  const view = makeView(makeScene(await readScene(progress)), canvases, context);
  const parts = [makePanel(view), makeCard(view)];
  view.listen(() => parts.forEach((part) => part.update()));
  follow(view);
  view.reset(true);
  view.set({});
  addInput(view);
  await view.settled;
  return view;
}

const page = document.documentElement.dataset;
page.state = 'loading';
addIcon();
const kithView = {
  version: 1
};
globalThis.kithView = kithView;
kithView.ready = start((share) => say(`Reading points: ${Math.round(100 * share)} %`))
                     .then((view) => {
                       Object.assign(kithView, makeApi(view));
                       say(view.scene.total === 0 ? 'There are no points to show.' : '');
                       page.state = 'ready';
                       return true;
                     })
                     .catch((error) => {
                       page.state = 'failed';
                       byId('status').classList.add('failed');
                       say(shown(error.message, 300));
                       return false;
                     });
