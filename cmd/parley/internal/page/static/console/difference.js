// The difference of two texts, line by line and, in lines that have changed, where.

const maxWork = 4_000_000;

/**
 * difference pairs the lines of two texts: [old, new], of which one is undefined if it has no other.
 * @param {string} before
 * @param {string} after
 * @returns {[string|undefined, string|undefined][]}
 */
export function difference(before, after) {
  const a = before === "" ? [] : before.replace(/\n$/, "").split("\n");
  const b = after === "" ? [] : after.replace(/\n$/, "").split("\n");
  let begin = 0;
  while (begin < a.length && begin < b.length && a[begin] === b[begin]) begin++;
  let end = 0;
  while (end < a.length - begin && end < b.length - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = between(a.slice(begin, a.length - end), b.slice(begin, b.length - end));
  return [...a.slice(0, begin).map((line) => [line, line]), ...middle, ...a.slice(a.length - end).map((line) => [line, line])];
}

/** between pairs lines by their longest common subsequence, unless that would take too long. */
function between(a, b) {
  if (a.length * b.length > maxWork) return beside(a, b);
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  const pairs = [];
  let [i, j, removed, added] = [0, 0, [], []];
  const flush = () => {
    pairs.push(...beside(removed, added));
    removed = [];
    added = [];
  };
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      flush();
      pairs.push([a[i++], b[j++]]);
    } else if (j >= b.length || (i < a.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) removed.push(a[i++]);
    else added.push(b[j++]);
  }
  flush();
  return pairs;
}

const beside = (a, b) => Array.from({ length: Math.max(a.length, b.length) }, (_, i) => [a[i], b[i]]);

/**
 * parts splits two lines into what they have in common at both ends, and what is between.
 * @returns {{head: string, old: string, now: string, tail: string}}
 */
export function parts(old, now) {
  const [a, b] = [[...old], [...now]];
  let begin = 0;
  while (begin < a.length && begin < b.length && a[begin] === b[begin]) begin++;
  let end = 0;
  while (end < a.length - begin && end < b.length - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const text = (of, from, to) => of.slice(from, to).join("");
  return { head: text(a, 0, begin), old: text(a, begin, a.length - end), now: text(b, begin, b.length - end), tail: text(a, a.length - end) };
}
