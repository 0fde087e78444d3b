// The classes of a label: their colours, how many points they have, and a switch for each.
import {hexOf} from './colors.js';
import {make} from './elements.js';
import {grouped, shown} from './format.js';

const MOST = 300;

/** The element; its update() follows the view. */
export function makeLegend(view) {
  const list = make('ul', {class: 'classes'});
  const all = make('button', {type: 'button', class: 'text', textContent: 'All'});
  const none = make('button', {type: 'button', class: 'text', textContent: 'None'});
  const more = make('p', {class: 'hint'});
  const element = make('div', {class: 'legend'}, list, more, make('div', {class: 'row'}, all, none));
  let filledWith = null;
  let boxes = [];

  function toggle(number, isOn) {
    const hidden = new Set(view.coloring.hidden);
    if (isOn) {
      hidden.delete(number);
    } else {
      hidden.add(number);
    }
    view.setHidden(hidden);
  }
  all.addEventListener('click', () => view.setHidden([]));
  none.addEventListener('click', () => view.setHidden(view.coloring.entries.keys()));

  function fill() {
    const {entries} = view.coloring;
    boxes = entries.slice(0, MOST).map((entry, number) => {
      const box = make('input', {type: 'checkbox'});
      box.addEventListener('change', () => toggle(number, box.checked));
      return box;
    });
    list.replaceChildren(...boxes.map((box, number) => {
      const {word, count, color} = entries[number];
      const swatch = make('span', {class: 'swatch'});
      swatch.style.background = hexOf(color);
      const name = make('bdi', {class: 'name', textContent: shown(word, 40) || '(empty)', title: shown(word, 300)});
      return make(
          'li', {}, make('label', {}, box, swatch, name, make('span', {class: 'number', textContent: grouped(count)})));
    }));
    more.textContent = entries.length > MOST ? `and ${grouped(entries.length - MOST)} more` : '';
    more.hidden = entries.length <= MOST;
  }

  function update() {
    const {entries, hidden} = view.coloring;
    element.hidden = !entries;
    if (!entries) return;
    if (filledWith !== view.coloring) fill();
    filledWith = view.coloring;
    boxes.forEach((box, number) => {
      box.checked = !hidden.has(number);
    });
  }
  return {element, update};
}
