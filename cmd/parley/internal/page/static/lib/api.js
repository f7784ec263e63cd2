// The API of the page: JSON below /api/v1. The key stands in the page's storage, where no
// other origin can read it.

import { parse, stringify } from "./json.js";
import { live } from "./live.js";
import { useCallback, useLayoutEffect, useRef, useState } from "./preact.js";
import { base, headers, turnedAway } from "./key.js";

/** ApiError is a failure that the server explains. */
export class ApiError extends Error {
  constructor({ status = 0, code = "failed", message = "", hint = "", field = "" }) {
    super(message);
    Object.assign(this, { name: "ApiError", status, code, hint, field });
  }
}

const gone = () => new ApiError({ code: "gone", message: "parley does not answer", hint: "Is it still running? Start it again, and open the address that it prints." });

async function send(method, path, body, signal) {
  const init = { method, headers: headers(), signal, cache: "no-store", credentials: "same-origin", redirect: "error" };
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = stringify(body);
  }
  let response;
  try {
    response = await fetch(base + path, init);
  } catch (error) {
    throw error.name === "AbortError" ? error : gone();
  }
  if (response.ok) return response;
  throw await failure(response);
}

async function failure(response) {
  if (response.status === 401) turnedAway();
  try {
    return new ApiError({ status: response.status, ...parse(await response.text()).error });
  } catch {
    return new ApiError({ status: response.status, message: `parley answered with status ${response.status}` });
  }
}

/** withParams appends a query, without what is undefined, null or "". */
export function withParams(path, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

async function json(response) {
  let text;
  try {
    text = await response.text();
  } catch (error) {
    throw error.name === "AbortError" ? error : gone();
  }
  return text === "" ? undefined : parse(text);
}

const call = async (method, path, body, signal) => json(await send(method, path, body, signal));

/** api calls routes; paths are below /api/v1. Without a body nothing is sent. Everything throws ApiError. */
export const api = {
  get: (path, params, { signal } = {}) => call("GET", withParams(path, params), undefined, signal),
  post: (path, body, { signal } = {}) => call("POST", path, body, signal),
  put: (path, body, { signal } = {}) => call("PUT", path, body, signal),
  del: (path, params, { signal } = {}) => call("DELETE", withParams(path, params), undefined, signal),
  /** text returns the body of an answer as it is. */
  text: async (path, params, { signal } = {}) => (await send("GET", withParams(path, params), undefined, signal)).text(),
  /** blob returns the body of an answer as bytes. */
  blob: async (path, params, { signal } = {}) => (await send("GET", withParams(path, params), undefined, signal)).blob(),
  /** download has the browser save an answer as a file. */
  async download(path, filename, params) {
    save(await api.blob(path, params), filename);
  },
};

/** save has the browser save bytes as a file. */
export function save(blob, filename) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * useGet reads a route, and again when one of topics says so, at most four times a second. A
 * path of null reads nothing. What was read last stays while it is read anew or fails.
 * @param {string|null} path
 * @param {object} [params]
 * @param {string[]|Record<string, (event: object) => boolean>} [topics] topics, or for each topic which events count
 * @returns {{data: any, error: ApiError|undefined, loading: boolean, reload: () => void}}
 */
export function useGet(path, params, topics = []) {
  const address = path === null ? null : withParams(path, params);
  return useRead(address, (known, signal) => api.get(address, undefined, { signal }), topics);
}

/**
 * useRead is useGet for what is read in a way of its own: get is given what was read last at the
 * address, and returns what takes its place.
 * @param {string|null} address
 * @param {(known: any, signal: AbortSignal) => Promise<any>} get
 * @param {string[]|Record<string, (event: object) => boolean>} [topics]
 */
export function useRead(address, get, topics = []) {
  const [state, setState] = useState({ address: null, data: undefined, error: undefined, loading: true });
  const reader = useRef(null);
  const reload = useCallback(() => reader.current?.(), []);
  // Before the browser paints what is there without the answer: painting takes longer than most answers do.
  useLayoutEffect(() => {
    if (address === null) return undefined;
    const ended = new AbortController();
    let busy = false;
    let again = false;
    let known;
    const read = async () => {
      if (busy) {
        again = true;
        return;
      }
      busy = true;
      setState((s) => (s.loading ? s : { ...s, loading: true }));
      try {
        known = await get(known, ended.signal);
        if (!ended.signal.aborted) setState({ address, data: known, error: undefined, loading: false });
      } catch (error) {
        if (!ended.signal.aborted) setState((s) => ({ address, data: s.address === address ? s.data : undefined, error, loading: false }));
      }
      busy = false;
      if (again && !ended.signal.aborted) {
        again = false;
        read();
      }
    };
    reader.current = read;
    read();
    const offs = follow(topics, read);
    return () => {
      ended.abort();
      for (const off of offs) off();
    };
    // Whoever passes get and topics passes the same ones for an address each time.
  }, [address]);
  const current = state.address === address;
  return { data: current ? state.data : undefined, error: current ? state.error : undefined, loading: address !== null && (state.loading || !current), reload };
}

/** follow calls read soon after an event that counts, and when events were lost. */
function follow(topics, read) {
  let timer;
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      read();
    }, 250);
  };
  const counts = Array.isArray(topics) ? Object.fromEntries(topics.map((topic) => [topic, () => true])) : topics;
  const offs = Object.entries(counts).map(([topic, wanted]) => live.on(topic, (event) => wanted(event) && soon()));
  return [...offs, live.on("lost", read), () => clearTimeout(timer)];
}
