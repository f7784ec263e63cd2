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

const scheme = /^([a-z][a-z0-9+.-]*):\/\//i;
const host = /^(localhost|\[[0-9a-f:]+\]|[a-z0-9-]+(\.[a-z0-9-]+)+)(:\d+)?(\/\S*)?$|^[a-z0-9-]+:\d+(\/\S*)?$/i;
const isHost = (text) => host.test(text) && (/[:\]]|^localhost/i.test(text) || text.includes("/"));

/** misread says why what was typed is neither a URL nor a command; "" if it may be one. */
export function misread(text) {
  const trimmed = text.trim();
  const [, name] = scheme.exec(trimmed) ?? [];
  if (trimmed.startsWith("{")) return serversOf(trimmed) ? "This is a configuration. Pick one of its servers below." : "This is JSON, but names no servers by mcpServers.";
  if (name && !isURL(trimmed)) return `A server cannot be reached by ${name}://. Its URL begins with http:// or https://.`;
  if (isHost(trimmed)) return "http:// or https:// is missing. If it is a command, write ./ before it.";
  return "";
}

const pairs = (of) => Object.entries(of ?? {}).map(([name, value]) => ({ name, value: String(value) }));

/** serversOf are the forms of the servers in a configuration that was pasted; undefined if it is none. */
export function serversOf(text) {
  let all;
  try {
    const { mcpServers, servers } = JSON.parse(text);
    all = Object.entries(mcpServers ?? servers);
  } catch {
    return undefined;
  }
  const forms = all.filter(([, one]) => one?.url || one?.command).map(([title, { url, command, args = [], cwd, env, headers }]) => ({ ...blank, title, server: url ?? [command, ...args].map(quoted).join(" "), dir: cwd ?? "", env: pairs(env), headers: pairs(headers) }));
  return forms.length > 0 ? forms : undefined;
}

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
