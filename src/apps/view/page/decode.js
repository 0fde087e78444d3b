// From the text of the page to arrays: base64, deflate, planes of bytes, differences.

const TYPES = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array
};

/**
 * An array of the page. Values of a step are `low + step * raw`, and NaN where raw equals `missing`; others are raw.
 * @typedef {{raw: ArrayLike<number>, type: string, count: number, low?: number, step?: number, missing?: number}}
 * Values
 */

/** @returns {number} value `place` of an array */
export function valueAt(values, place) {
  const raw = values.raw[place];
  if (values.step === undefined) return raw;
  return raw === values.missing ? NaN : values.low + values.step * raw;
}

/** Where a value is for the first time, -1 if nowhere. */
export function placeOfValue({raw, low, step}, value) {
  if (step === undefined) return raw.indexOf(value);
  if (step === 0) return value === low && raw.length > 0 ? 0 : -1;
  return raw.indexOf((value - low) / step);
}

/** All values, in the order of `order`. */
export function valuesInOrder({raw, low, step, missing}, order) {
  const values = new Float64Array(order.length);
  if (step === undefined) {
    for (let i = 0; i < values.length; ++i) values[i] = raw[order[i]];
  } else {
    for (let i = 0; i < values.length; ++i) {
      const stored = raw[order[i]];
      values[i] = stored === missing ? NaN : low + step * stored;
    }
  }
  return values;
}

/** The least and the largest finite value, or null if there is none. */
export function boundsOf(values) {
  const {raw, step, missing} = values;
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < raw.length; ++i) {
    const value = raw[i];
    if (step !== undefined && value === missing) continue;
    if (value < low && value !== -Infinity) low = value;
    if (value > high && value !== Infinity) high = value;
  }
  if (low > high) return null;
  return step === undefined ? [low, high] :
                              [values.low + step * low, values.low + step * high].toSorted((a, b) => a - b);
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Puts the bytes of every value together, which lie in planes: the lowest bytes of all values first. */
function joined(planes, type, count) {
  const Type = TYPES[type];
  const size = Type.BYTES_PER_ELEMENT;
  if (planes.length !== count * size) throw new Error('the page is damaged: a block has the wrong length');
  if (size === 1) return planes;
  const values = new Type(count);
  if (size === 2) {
    for (let i = 0; i < count; ++i) values[i] = planes[i] | planes[count + i] << 8;
    return values;
  }
  const bytes = new Uint8Array(values.buffer);
  for (let plane = 0; plane < size; ++plane) {
    const first = plane * count;
    for (let i = 0, to = plane; i < count; ++i, to += size) bytes[to] = planes[first + i];
  }
  return values;
}

/** Turns differences into values; typed arrays wrap around as the differences do. */
function sumUp(values) {
  for (let i = 1; i < values.length; ++i) values[i] += values[i - 1];
}

/**
 * Reads the scene of the page and every array of it, and removes their texts from the page.
 * @param {(share: number) => void} progress
 */
export async function readScene(progress) {
  const scene = JSON.parse(document.getElementById('scene').textContent);
  if (scene.version !== 1)
    throw new Error(`this page has data of version ${scene.version}, its script reads version 1`);
  const blocks = [...document.querySelectorAll('script.block')];
  let done = 0;
  const decode = async (array) => {
    if (!array) return undefined;
    const element = blocks[array.block];
    const bytes = bytesOf(element.textContent);
    element.remove();
    const raw = joined(await inflated(bytes), array.type, array.count);
    if (array.delta) sumUp(raw);
    progress(++done / blocks.length);
    return {...array, raw};
  };
  const decodeAll = async (arrays) => {
    const all = [];
    for (const array of arrays) all.push(await decode(array));
    return all;
  };
  for (const cloud of scene.clouds) {
    cloud.rows = await decode(cloud.rows);
    cloud.axes = await decodeAll(cloud.axes);
    for (const column of cloud.columns ?? []) {
      if (column.values) column.values = await decode(column.values);
      if (column.parts) column.parts = await decodeAll(column.parts);
    }
    if (cloud.neighbors) {
      cloud.neighbors.indices = await decode(cloud.neighbors.indices);
      cloud.neighbors.distances = await decode(cloud.neighbors.distances);
    }
  }
  return scene;
}
