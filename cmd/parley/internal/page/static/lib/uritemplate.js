// URI templates as RFC 6570 has them, all four levels: parsed, and filled in.

// What each operator means: RFC 6570, appendix A.
const operators = {
  "": { first: "", separator: ",", named: false, empty: "", reserved: false },
  "+": { first: "", separator: ",", named: false, empty: "", reserved: true },
  ".": { first: ".", separator: ".", named: false, empty: "", reserved: false },
  "/": { first: "/", separator: "/", named: false, empty: "", reserved: false },
  ";": { first: ";", separator: ";", named: true, empty: "", reserved: false },
  "?": { first: "?", separator: "&", named: true, empty: "=", reserved: false },
  "&": { first: "&", separator: "&", named: true, empty: "=", reserved: false },
  "#": { first: "#", separator: ",", named: false, empty: "", reserved: true },
};

const variable = /^((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*)(?::([1-9]\d{0,3})|(\*))?$/;
const longest = 8192; // characters
const most = 256; // variables

/** TemplateError says what is wrong with a template. */
export class TemplateError extends Error {}

/**
 * parse reads a template.
 * @param {string} template
 * @returns {{parts: (string|object)[], names: string[], lists: Set<string>}} its parts; the names of its variables,
 *   in order, each once; and which of them are lists
 * @throws {TemplateError}
 */
export function parse(template) {
  if (template.length > longest) throw new TemplateError(`the template is longer than ${longest} characters`);
  const parts = [];
  const names = [];
  const lists = new Set();
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf("{", at);
    const end = open < 0 ? template.length : open;
    if (end > at) parts.push(literal(template.slice(at, end)));
    if (open < 0) break;
    const close = template.indexOf("}", open);
    if (close < 0) throw new TemplateError(`"{" at ${open} is not closed`);
    const part = expression(template.slice(open + 1, close));
    for (const { name, explode } of part.variables) {
      if (!names.includes(name)) names.push(name);
      if (explode) lists.add(name);
    }
    if (names.length > most) throw new TemplateError(`the template has more than ${most} variables`);
    parts.push(part);
    at = close + 1;
  }
  return { parts, names, lists };
}

function literal(text) {
  if (text.includes("}")) throw new TemplateError(`"}" without "{" in "${text}"`);
  return text;
}

function expression(text) {
  const operator = operators[text[0]] === undefined ? "" : text[0];
  if (/^[=,!@|]/.test(text)) throw new TemplateError(`the operator "${text[0]}" in "{${text}}" is reserved`);
  const variables = text.slice(operator.length).split(",").map((spec) => {
    const found = variable.exec(spec);
    if (!found) throw new TemplateError(`"${spec}" in "{${text}}" is not a variable`);
    return { name: found[1], prefix: found[2] === undefined ? undefined : Number(found[2]), explode: found[3] !== undefined };
  });
  return { operator, variables };
}

const unreserved = /[A-Za-z0-9\-._~]/;
const reserved = /[:/?#[\]@!$&'()*+,;=]/;

// What is encoded already stays so where reserved characters do.
function encode(text, keep) {
  let out = "";
  for (let i = 0; i < text.length; ) {
    const triplet = keep && /^%[0-9A-Fa-f]{2}/.exec(text.slice(i, i + 3));
    if (triplet) {
      out += triplet[0];
      i += 3;
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(i));
    out += unreserved.test(character) || (keep && reserved.test(character)) ? character : percent(character);
    i += character.length;
  }
  return out;
}

const percent = (character) => Array.from(new TextEncoder().encode(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");

/**
 * expand fills in a template.
 * @param {{parts: (string|object)[]}} parsed what parse returned
 * @param {Map<string, string|string[]>} values by name; those that are missing, and empty lists, are left out
 * @returns {string}
 */
export function expand({ parts }, values) {
  return parts.map((part) => (typeof part === "string" ? encode(part, true) : fill(part, values))).join("");
}

function fill({ operator, variables }, values) {
  const how = operators[operator];
  const filled = variables.map((spec) => one(how, spec, values.get(spec.name))).filter((text) => text !== undefined);
  return filled.length === 0 ? "" : how.first + filled.join(how.separator);
}

function one(how, { name, prefix, explode }, value) {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return undefined;
  const named = (text) => (how.named ? name + (text === "" ? how.empty : `=${text}`) : text);
  if (!Array.isArray(value)) {
    const text = prefix === undefined ? value : Array.from(value).slice(0, prefix).join("");
    return named(encode(text, how.reserved));
  }
  const items = value.map((item) => encode(item, how.reserved));
  return explode ? items.map(named).join(how.separator) : named(items.join(","));
}
