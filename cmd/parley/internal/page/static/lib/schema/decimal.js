// Exact decimal numbers, as JSON writes them: 0.1 is a tenth, and
// 9007199254740993 is not 9007199254740992.

const form = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

// Beyond these, a number is compared as if it were this large: nobody waits for the
// powers of ten in 1e1000000000.
const mostDigits = 5000;

/** isNumeral says whether a text is a number in JSON. */
export const isNumeral = (text) => form.test(text);

/**
 * decimal reads a number: its value is coefficient × 10^exponent.
 * @param {string} text
 * @returns {{coefficient: bigint, exponent: number}}
 */
export function decimal(text) {
  const parts = form.exec(text);
  if (!parts) throw new TypeError(`${JSON.stringify(text)} is not a number`);
  const [, sign, whole, fraction = "", power = "0"] = parts;
  const digits = (whole + fraction).replace(/^0+(?=.)/, "");
  const kept = digits.slice(0, mostDigits);
  const trimmed = kept.replace(/0+$/, "") || "0";
  if (trimmed === "0") return { coefficient: 0n, exponent: 0 };
  const shift = Number(power) - fraction.length + (digits.length - kept.length) + (kept.length - trimmed.length);
  const exponent = Math.max(-mostDigits, Math.min(mostDigits, shift));
  return { coefficient: BigInt(sign + trimmed), exponent };
}

/** canonicalNumber returns a text that is the same for numbers of the same value. */
export function canonicalNumber(text) {
  const { coefficient, exponent } = decimal(text);
  return `${coefficient}e${exponent}`;
}

/** aligned returns the coefficients of two numbers for the same exponent. */
function aligned(a, b) {
  const [x, y] = [decimal(a), decimal(b)];
  const least = Math.min(x.exponent, y.exponent);
  const scale = (d) => d.coefficient * 10n ** BigInt(d.exponent - least);
  return [scale(x), scale(y)];
}

/** compare returns a negative number, 0 or a positive one, as a is less than b, equal or more. */
export function compare(a, b) {
  const [x, y] = aligned(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

/** isInteger says whether a number has no fraction, however it is written: 1.0 has none. */
export const isInteger = (text) => decimal(text).exponent >= 0;

/** isMultiple says whether a is b times an integer. */
export function isMultiple(a, b) {
  const [x, y] = aligned(a, b);
  return y !== 0n && x % y === 0n;
}
