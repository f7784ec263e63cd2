// What servers say of arguments that do not fit, put to the fields that it is about. There is
// no rule for that; these are the forms in which the common libraries say it.

import { parse } from "../json.js";
import { at, has, isObject, member, pointer } from "./value.js";

const mostText = 100_000;
const most = 100;

/**
 * serverProblems returns what the texts of an error say of fields.
 * @param {string[]} texts messages of the error
 * @param {unknown} data what else it has
 * @param {unknown} schema of the arguments: only its fields are looked for in sentences
 * @returns {{pointer: string, message: string}[]}
 */
export function serverProblems(texts, data, schema) {
  const found = issues(data);
  for (const text of texts) {
    if (typeof text !== "string" || text.length > mostText) continue;
    const listed = issues(embedded(text));
    found.push(...(listed.length > 0 ? listed : lines(text, schema)));
  }
  return found.slice(0, most);
}

/** embedded returns the array that stands in a text, as zod's messages do. */
function embedded(text) {
  const from = text.indexOf("[");
  const to = text.lastIndexOf("]");
  if (from < 0 || to < from) return undefined;
  try {
    return parse(text.slice(from, to + 1));
  } catch {
    return undefined;
  }
}

/** issues reads lists of problems: each has a path, a pointer, or the like, and a message. */
function issues(value, depth = 0) {
  if (depth > 3) return [];
  if (Array.isArray(value)) return value.slice(0, most).map(issue).filter(Boolean);
  if (!isObject(value)) return [];
  return ["errors", "issues", "problems", "detail", "details"].flatMap((name) => issues(member(value, name), depth + 1));
}

function issue(value) {
  const message = member(value, "message") ?? member(value, "msg");
  if (typeof message !== "string") return undefined;
  const path = member(value, "path") ?? member(value, "loc");
  if (Array.isArray(path)) return { pointer: path.reduce((to, step) => pointer(to, step), ""), message };
  for (const name of ["pointer", "instancePath", "instanceLocation", "path"]) {
    if (typeof member(value, name) === "string") return { pointer: pointerOf(value[name]), message };
  }
  return undefined;
}

/** pointerOf reads a place: a pointer, or a.b[0].c. */
function pointerOf(text) {
  if (text === "" || text.startsWith("/")) return text;
  return [...text.matchAll(/([^.[\]]+)/g)].reduce((to, [step]) => pointer(to, step.replace(/^"|"$/g, "")), "");
}

/** lines reads lines such as "items[0].name: must be text", "must be text at items[0].name", "missing required argument "name"", and those of pydantic. */
function lines(text, schema) {
  const all = text
    .split("\n")
    .slice(0, 500)
    .map((line) => line.slice(0, 2000));
  const found = [];
  all.forEach((line, i) => {
    const [, place, message] = /^\W*([\w$./[\]"-]+): (\S.*)$/.exec(line) ?? [];
    const missing = /(?:missing|required|unknown)[^"'`]*["'`]([^"'`]+)["'`]/i.exec(line)?.[1];
    const [before, after] = placed(line);
    if (place && known(schema, pointerOf(place))) found.push({ pointer: pointerOf(place), message });
    else if (before && known(schema, pointerOf(after))) found.push({ pointer: pointerOf(after), message: before });
    else if (missing && known(schema, pointer("", missing))) found.push({ pointer: pointer("", missing), message: line.trim() });
    else if (known(schema, pointerOf(line.trim())) && /\[type=/.test(all[i + 1] ?? "")) found.push({ pointer: pointerOf(line.trim()), message: all[i + 1].trim() });
  });
  return found;
}

/** placed splits "must be text at items[0].name", of which the first may stand behind what it is about. */
function placed(line) {
  const at = line.lastIndexOf(" at ");
  if (at < 0) return [];
  return [line.slice(0, at).replace(/^.*Invalid arguments for tool [^:]*: /, ""), line.slice(at + 4).trim()];
}

/** known says whether a place begins with a property of the schema. */
function known(schema, place) {
  if (place === "") return false;
  const first = place.split("/")[1];
  return has(at(schema, "/properties"), first.replaceAll("~1", "/").replaceAll("~0", "~"));
}
