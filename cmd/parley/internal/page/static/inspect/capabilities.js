// What a server declares, in words.

const words = {
  tools: "tools that can be called",
  resources: "resources that can be read",
  prompts: "prompts to fill in",
  completions: "completes arguments",
  logging: "sends log messages",
  tasks: "runs calls as tasks",
  listChanged: "says when its list changes",
  subscribe: "says when a resource changes",
  list: "lists tasks",
  cancel: "cancels tasks",
  requests: "for certain requests",
};

/**
 * capabilitiesOf lists what is declared.
 * @param {unknown} declared
 * @returns {{name: string, about: string[]}[]}
 */
export function capabilitiesOf(declared) {
  if (declared === null || typeof declared !== "object" || Array.isArray(declared)) return [];
  return Object.entries(declared).flatMap(([name, value]) => (name === "extensions" || name === "experimental" ? inner(name, value) : [{ name, about: [word(name), ...settings(value)].filter(Boolean) }]));
}

function inner(kind, value) {
  if (value === null || typeof value !== "object") return [];
  return Object.keys(value).map((name) => ({ name, about: [kind === "extensions" ? "extension" : "experimental"] }));
}

const word = (name) => (Object.hasOwn(words, name) ? words[name] : "");

function settings(value) {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, set]) => (set === false || set === null ? [] : [word(name) || name.slice(0, 100)]));
}
