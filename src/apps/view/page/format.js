// Numbers and texts as people read them. Texts come from files of strangers: they are cut, and what could hide or turn
// letters around is replaced.

/** A text of at most `limit` characters without control characters. */
export function shown(text, limit = 60) {
  const letters = [...String(text).slice(0, 4 * limit).replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd')];
  return letters.length > limit ? `${letters.slice(0, limit - 1).join('')}\u2026` : letters.join('');
}

/** A count with thin spaces between thousands, as the command prints it. */
export function grouped(count) { return String(count).replace(/\B(?=(\d{3})+$)/gu, '\u2009'); }

/** "1 point", "2 points". */
export function counted(count, word) { return `${grouped(count)} ${word}${count === 1 ? '' : 's'}`; }

/** A number in few characters. */
export function brief(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'none' : String(value).replace('Infinity', '\u221e');
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential(digits - 1).replace(/\.?0+e/u, 'e');
  return String(Number(value.toPrecision(Math.max(digits, size >= 1 ? Math.ceil(Math.log10(size + 1)) : 0))));
}

/** The digits of a number that a step of this size leaves meaningful. */
export function toStep(value, step) {
  const digits = Math.ceil(-Math.log10(step) - 1e-9);
  if (!Number.isFinite(digits) || digits > 12 || Math.abs(value) >= 1e15) return String(Number(value.toPrecision(12)));
  return value.toFixed(Math.max(0, digits));
}

/** All digits of a value that was a float or a double. */
export function exact(value) {
  if (Math.fround(value) !== value) return String(value);
  for (let digits = 6; digits < 9; ++digits) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}
