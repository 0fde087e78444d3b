// What the page does besides being read.
import {addCopyButton} from './copy.js';

for (const figure of document.querySelectorAll('figure.table')) addCopyButton(figure);

// On paper nothing can be opened.
addEventListener('beforeprint', () => {
  for (const details of document.querySelectorAll('details')) details.open = true;
});

// As pages of clouds do, for programs that wait.
document.documentElement.dataset.state = 'ready';
