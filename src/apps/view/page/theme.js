// Light and dark: which of the two, and its colours for what is drawn on canvases.

const KEYS = ['ground-1', 'ground-2', 'grid', 'edge', 'number', 'accent', 'halo', 'mark', 'haze'];

/** Follows the system until the page's switch was used. */
export function setTheme(choice) {
  if (choice === 'system') {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = choice;
  }
}

export function isDark() {
  const choice = document.documentElement.dataset.theme;
  return choice ? choice === 'dark' : globalThis.matchMedia('(prefers-color-scheme: dark)').matches;
}

/** The colours that page.css gives to the canvases. */
export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const [inner, outer, grid, edge, number, accent, halo, mark, haze] =
      KEYS.map((key) => style.getPropertyValue(`--${key}`).trim());
  const family = style.getPropertyValue('--font').trim();
  return {
    ground: [inner, outer],
    grid,
    edge,
    number,
    accent,
    halo,
    mark,
    haze: haze.split(' ').map((part) => Number(part) / 255),
    font: `11px ${family}`,
    boldFont: `600 11px ${family}`,
  };
}
