// The card of the picked point: what it is, where it is, its columns and its neighbours.
import {columnValue} from './coloring.js';
import {byId, make} from './elements.js';
import {brief, exact, shown, toStep} from './format.js';
import {coordinates, placed} from './scene.js';

const MOST_NEIGHBORS = 200;

/** A coordinate with the digits that are known: those of its type, or of the step it was rounded to. */
function coordinateText(cloud, axis, value) {
  const step = cloud.resolution?.[axis];
  return step > 0 ? toStep(value, step) : exact(value);
}

function valueText(column, value) {
  if (column.kind === 'label') return shown(value, 80);
  if (column.kind === 'number')
    return Number.isNaN(value) ? 'none' : column.rounded ? toStep(value, column.values.step) : exact(value);
  if (column.kind === 'color') return value.map((part) => Number.isNaN(part) ? 'none' : Math.round(part)).join(', ');
  return value.map((part) => brief(part, 4)).join(', ');
}

function row(name, text, note) {
  const value = make('dd', {}, make('bdi', {textContent: text, title: text}));
  if (note) value.append(make('small', {textContent: note}));
  return [make('dt', {}, make('bdi', {textContent: shown(name, 30), title: shown(name, 300)})), value];
}

function pointRows(view, {cloud: number, place}) {
  const cloud = view.scene.clouds[number];
  const own = coordinates(cloud, place);
  const rows = [];
  for (let axis = 0; axis < cloud.dims; ++axis) rows.push(...row('xyz'[axis], coordinateText(cloud, axis, own[axis])));
  const steps = cloud.resolution?.filter((step) => step > 0) ?? [];
  if (steps.length > 0) rows.push(...row('rounded to', brief(Math.max(...steps), 2)));
  if (cloud.pose) {
    // Moved coordinates carry the rounding of a turn: a millionth of the size of the cloud is what they are good for.
    const step = Math.max(...steps, cloud.size * 1e-6);
    placed(cloud, place, 1).forEach((value, axis) => rows.push(...row(`${'xyz'[axis]} moved`, toStep(value, step))));
  }
  for (const column of cloud.columns) {
    const value = columnValue(column, place);
    rows.push(...row(column.name, valueText(column, value), column.rounded ? 'rounded' : ''));
  }
  return rows;
}

function neighborItem(view, {row: number, place, distance, isMeasured}, of) {
  const label = `row ${number}`;
  const apart = Number.isNaN(distance) ? '' : (isMeasured ? '\u2248 ' : '') + brief(distance, isMeasured ? 4 : 6);
  const texts = [make('span', {textContent: label}), make('span', {class: 'number', textContent: apart})];
  if (place < 0) return make('li', {class: 'absent', title: 'not shown'}, ...texts);
  const button = make('button', {type: 'button', 'data-row': String(number)}, ...texts);
  button.addEventListener('click', () => view.pick(of, place));
  return make('li', {}, button);
}

/** Fills the card that body.html has; update() follows the view. */
export function makeCard(view) {
  const card = byId('card');
  const [title, facts, list, heading] =
      ['card-title', 'card-facts', 'card-neighbors', 'card-neighbors-title'].map(byId);
  byId('card-close').addEventListener('click', () => view.pick(null));
  let filledWith = null;

  function update() {
    const {picked, scene} = view;
    card.hidden = !picked;
    if (!picked || picked === filledWith) return;
    filledWith = picked;
    const {name} = scene.clouds[picked.cloud];
    title.replaceChildren(
        make('bdi', {class: 'name', textContent: shown(name, 60), title: shown(name, 300)}),
        make('span', {class: 'number', textContent: `row ${picked.row}`}));
    facts.replaceChildren(...pointRows(view, picked));
    const {neighbors, of} = picked;
    const elsewhere = of === picked.cloud ? '' : ` in ${shown(scene.clouds[of].name, 40)}`;
    heading.textContent = `${neighbors.length} ${neighbors.length === 1 ? 'neighbour' : 'neighbours'}${elsewhere}`;
    heading.hidden = list.hidden = !scene.clouds[picked.cloud].neighbors;
    list.replaceChildren(...neighbors.slice(0, MOST_NEIGHBORS).map((neighbor) => neighborItem(view, neighbor, of)));
    card.scrollTop = 0;
  }
  return {update};
}
