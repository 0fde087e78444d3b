// A button above each table that copies it.
import {tabSeparated} from './tab_separated.js';

const SHOWN_MS = 1600;

// Pages that are opened as files may have no clipboard of the newer kind.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'copied';
    document.body.append(area);
    area.focus();
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

export function addCopyButton(figure) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.title = 'Copy the table as tab-separated text';
  button.addEventListener('click', async () => {
    const done = await copyText(tabSeparated(figure.querySelector('table')));
    button.textContent = done ? 'Copied' : 'Not copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, SHOWN_MS);
  });
  figure.append(button);
}
