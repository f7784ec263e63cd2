// What a form for connecting holds, and what the API takes.

/** blank is an empty form. */
export const blank = {
  title: "",
  server: "",
  dir: "",
  env: [],
  headers: [],
  transport: "auto",
  revision: "auto",
  login: { id: "", secret: "", metadataUrl: "", issuer: "", scopes: "", dpop: false },
  advanced: false,
  entry: null,
  inputs: [],
};

/** isURL says whether a server is named by a URL, and not by a command. */
export const isURL = (text) => /^\s*https?:\/\//i.test(text);

const filled = (list) => list.filter(({ name, value }) => name.trim() || value).map(({ name, value }) => ({ name: name.trim(), value }));

/** bodyOf is what the API takes. */
export function bodyOf(form) {
  const body = { title: form.title, transport: form.transport, revision: form.revision };
  if (form.entry) return { ...body, entry: form.entry, env: filled(form.env), headers: filled(form.headers) };
  if (!isURL(form.server)) return { ...body, transport: "auto", command: form.server, dir: form.dir, env: filled(form.env) };
  const { scopes, ...as } = form.login;
  return { ...body, url: form.server.trim(), headers: filled(form.headers), login: { ...as, scopes: scopes.split(/\s+/).filter(Boolean) } };
}

const quoted = (word) => (/^[A-Za-z0-9/._:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** formOf is the form of a connection that there is. Its secrets are masked, and stay what they are. */
export function formOf({ title, target, asked }) {
  const form = { title: title === target.text || target.entry ? "" : title, server: target.url ?? (target.command ?? []).map(quoted).join(" "), dir: target.dir ?? "", env: target.env ?? [], headers: target.headers ?? [], transport: asked.transport, revision: asked.revision };
  return target.login ? { ...form, login: { ...blank.login, ...target.login, scopes: (target.login.scopes ?? []).join(" ") }, advanced: true } : form;
}

/** withoutSecrets is what may be kept of a form. */
export function withoutSecrets(form) {
  const named = (list) => list.map(({ name }) => ({ name, value: "" }));
  return { ...form, server: withoutPassword(form.server), env: named(form.env), headers: named(form.headers), login: { ...form.login, secret: "" } };
}

function withoutPassword(server) {
  return isURL(server) ? server.replace(/^(\s*https?:\/\/)[^/@]*@/i, "$1") : server;
}
