// Colours: maps for numbers, distinct ones for clouds and classes. Between its anchors a map is straight in Oklab,
// where equal steps look equal.

const MAPS = {
  viridis: ['#4b1a78', '#443c88', '#31688e', '#21918c', '#35b779', '#90d743', '#fde725'],
  ember: ['#34186a', '#63207c', '#a5317a', '#e5525d', '#fb8f4c', '#fccb66', '#fcf7bd'],
  balance: ['#2158c4', '#5d93ea', '#b3cdf4', '#ececec', '#f5bda8', '#e17055', '#ae2335'],
  grey: ['#2b2b2b', '#f4f4f4'],
};
export const MAP_NAMES = Object.keys(MAPS);
export const MAP_SIZE = 256;

// Far apart in hue and lightness, readable on dark and on light ground.
const DISTINCT = [
  '#4f8ff7', '#f58a36', '#2bb88a', '#e3599f', '#d1a821', '#8b6df0', '#1fb3c8', '#e4574c', '#7fb434', '#b07a52',
  '#a3a9b8', '#c45bd6'
];

export const GREY = [140, 144, 152];

export function parseColor(text) {
  const number = Number.parseInt(text.slice(1), 16);
  return [number >> 16, number >> 8 & 255, number & 255];
}

export function hexOf(color) {
  return `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

const toLinear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
const fromLinear = (part) => part <= 0.0031308 ? part * 12.92 : 1.055 * part ** (1 / 2.4) - 0.055;

function toOklab(color) {
  const [r, g, b] = color.map((part) => toLinear(part / 255));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromOklab([lightness, a, b]) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((part) => Math.round(255 * Math.min(Math.max(fromLinear(Math.max(part, 0)), 0), 1)));
}

const tables = new Map();

/** The colours of a map: MAP_SIZE x RGBA. */
export function mapTable(name) {
  if (tables.has(name)) return tables.get(name);
  const anchors = MAPS[name].map((anchor) => toOklab(parseColor(anchor)));
  const table = new Uint8Array(4 * MAP_SIZE);
  for (let i = 0; i < MAP_SIZE; ++i) {
    const place = i / (MAP_SIZE - 1) * (anchors.length - 1);
    const at = Math.min(Math.floor(place), anchors.length - 2);
    table.set(fromOklab(anchors[at].map((part, axis) => part + (anchors[at + 1][axis] - part) * (place - at))), 4 * i);
    table[4 * i + 3] = 255;
  }
  tables.set(name, table);
  return table;
}

/** The colour of a share of the way through a map, for the styles of a canvas. */
export function mapColor(name, share) {
  const at = 4 * Math.round(Math.min(Math.max(share, 0), 1) * (MAP_SIZE - 1));
  return hexOf(Array.from(mapTable(name).subarray(at, at + 3)));
}

/** Colour `number` of as many distinct ones as wanted: chosen ones, then hues that keep away from each other. */
export function distinctColor(number) {
  if (number < DISTINCT.length) return parseColor(DISTINCT[number]);
  const hue = number * 2.399963;  // the golden angle
  const lightness = [0.72, 0.6, 0.8][number % 3];
  return fromOklab([lightness, 0.13 * Math.cos(hue), 0.13 * Math.sin(hue)]);
}
