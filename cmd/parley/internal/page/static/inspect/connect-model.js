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

// mask stands where the API leaves out a secret.
const mask = "***";

const unlessSecret = (value) => (value === mask ? mask : "");

/**
 * withoutSecrets is what may be kept of a form. What is a secret in a URL or a command only the API knows: server is
 * what it has made of that.
 */
export function withoutSecrets(form, server) {
  const named = (list) => list.map(({ name, value }) => ({ name, value: unlessSecret(value) }));
  return { ...form, server, env: named(form.env), headers: named(form.headers), login: { ...form.login, secret: unlessSecret(form.login.secret) } };
}

/** recentOf is what may be kept of a connection that was made by a form: what the API shows of it. */
export const recentOf = (connection, form) => ({ text: connection.title, form: form.entry ? form : { ...blank, ...formOf(connection) } });

/** lacksSecrets says whether there were secrets in a form that was kept. */
export const lacksSecrets = ({ server, env, headers, login }) => server.includes(mask) || login.secret === mask || [...env, ...headers].some(({ value }) => value === mask);
