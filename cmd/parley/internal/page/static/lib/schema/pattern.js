// Regular expressions of servers. The browser's own engine tries alternatives one after
// the other, so that a few characters of a malicious pattern keep it busy for years; this
// one follows all of them at once. What it cannot follow (looking around, references
// back) it does not judge.

const mostStates = 4000;
const mostSteps = 4_000_000;

/** Unjudged says that a pattern cannot be followed here. */
class Unjudged extends Error {}

/**
 * matcher returns a function that says whether a text contains a match of the pattern, or
 * undefined if that is not known here.
 * @param {string} pattern
 * @returns {((text: string) => boolean|undefined)|undefined}
 */
export function matcher(pattern) {
  try {
    new RegExp(pattern, "u"); // compiles in a time that its length bounds
    const parser = new Parser(pattern);
    const piece = parser.alternatives();
    if (parser.more()) return undefined;
    const end = {};
    const start = piece(end);
    return (text) => run(start, end, text);
  } catch {
    return undefined;
  }
}

// A piece of the machine is a function of what comes after it, and returns the state to
// begin with. A state is {test, next} or {forks: [...]} or {edge, next}; null is the end.

class Parser {
  constructor(pattern) {
    this.pattern = pattern;
    this.at = 0;
    this.states = 0;
  }

  more = () => this.at < this.pattern.length;
  sees = (text) => this.pattern.startsWith(text, this.at);
  takes = (text) => this.sees(text) && ((this.at += text.length), true);

  state(made) {
    if (++this.states > mostStates) throw new Unjudged();
    return made;
  }

  /** alternatives reads up to the end of a group. */
  alternatives() {
    const branches = [this.sequence()];
    while (this.takes("|")) branches.push(this.sequence());
    if (branches.length === 1) return branches[0];
    return (next) => this.state({ forks: branches.map((branch) => branch(next)) });
  }

  sequence() {
    const pieces = [];
    while (this.more() && !this.sees("|") && !this.sees(")")) pieces.push(this.repeated(this.atom()));
    return (next) => pieces.reduceRight((after, piece) => piece(after), next);
  }

  repeated(piece) {
    const bounds = this.quantifier();
    if (!bounds) return piece;
    this.takes("?"); // a lazy one matches the same texts
    const [least, most] = bounds;
    if (least > mostStates || (most !== Infinity && most > mostStates)) throw new Unjudged();
    return (next) => {
      let state = most === Infinity ? this.loop(piece, next) : next;
      for (let i = least; i < most && most !== Infinity; i++) state = this.state({ forks: [piece(state), next] });
      for (let i = 0; i < least; i++) state = piece(state);
      return state;
    };
  }

  loop(piece, next) {
    const fork = this.state({ forks: [next] });
    fork.forks.push(piece(fork));
    return fork;
  }

  quantifier() {
    if (this.takes("*")) return [0, Infinity];
    if (this.takes("+")) return [1, Infinity];
    if (this.takes("?")) return [0, 1];
    const counted = /^\{(\d+)(,?)(\d*)\}/.exec(this.pattern.slice(this.at, this.at + 40));
    if (!counted) return undefined;
    this.at += counted[0].length;
    const [, least, comma, most] = counted;
    return [Number(least), most ? Number(most) : comma ? Infinity : Number(least)];
  }

  atom() {
    if (this.takes("(")) return this.group();
    if (this.takes("^")) return this.edge((at) => at === 0);
    if (this.takes("$")) return this.edge((at, length) => at === length);
    if (this.takes(".")) return this.one((c) => !/[\n\r\u2028\u2029]/.test(c));
    if (this.sees("[")) return this.tested(/^\[(?:\\[^]|[^\]\\])*\]/);
    if (this.sees("\\")) return this.escape();
    const c = String.fromCodePoint(this.pattern.codePointAt(this.at));
    this.at += c.length;
    return this.one((other) => other === c);
  }

  group() {
    if (this.sees("?")) {
      const opened = /^\?(?::|<(?![=!])[^>]*>)/.exec(this.pattern.slice(this.at));
      if (!opened) throw new Unjudged(); // it looks around
      this.at += opened[0].length;
    }
    const piece = this.alternatives();
    if (!this.takes(")")) throw new Unjudged();
    return piece;
  }

  escape() {
    if (/^\\[bBk1-9]/.test(this.pattern.slice(this.at, this.at + 2))) throw new Unjudged();
    return this.tested(/^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[^])/);
  }

  /** tested reads what stands for one character, and leaves it to the browser to say which. */
  tested(form) {
    const [source] = form.exec(this.pattern.slice(this.at)) ?? [];
    if (!source) throw new Unjudged();
    this.at += source.length;
    const single = new RegExp(`^${source}$`, "u");
    return this.one((c) => single.test(c));
  }

  one = (test) => (next) => this.state({ test, next });
  edge = (edge) => (next) => this.state({ edge, next });
}

/** run follows all ways through the machine at once; undefined means that it is too much. */
function run(start, end, text) {
  const characters = Array.from(text);
  let steps = 0;
  let now = new Set();
  for (let at = 0; at <= characters.length; at++) {
    const reached = new Set();
    const waiting = [start, ...now];
    while (waiting.length > 0) {
      if (++steps > mostSteps) return undefined;
      const state = waiting.pop();
      if (reached.has(state)) continue;
      reached.add(state);
      if (state === end) return true;
      if (state.forks) waiting.push(...state.forks);
      else if (state.edge?.(at, characters.length)) waiting.push(state.next);
    }
    now = new Set();
    for (const state of reached) if (state.test && at < characters.length && state.test(characters[at])) now.add(state.next);
  }
  return false;
}
