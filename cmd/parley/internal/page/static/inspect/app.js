// The app of a tool, beside a call of the tool from its beginning on: what it asks for, its frame, what it and
// the page say to each other, and what the person who looks at it allows.

import { api } from "../lib/api.js";
import { label } from "../lib/content.js";
import { linkOf } from "../lib/links.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../lib/preact.js";
import { Badge, Button, ErrorBox, Json, Notice, Spinner } from "../lib/ui.js";
import { Asks } from "./app/asks.js";
import { Bridge, Refusal } from "./app/bridge.js";
import { hostContext, onTheme } from "./app/context.js";
import { connect, within } from "./app/frame.js";
import { Log } from "./app/log.js";

const mostNotes = 500;

/**
 * appOf returns the URI of a tool's app, or undefined.
 * @param {{_meta?: any}} tool as the server lists it
 */
export function appOf(tool) {
  const uri = tool?._meta?.ui?.resourceUri ?? tool?._meta?.["ui/resourceUri"];
  return typeof uri === "string" && uri.startsWith("ui://") ? uri : undefined;
}

/**
 * App shows the app of a tool for one call of it, which may still run: the app is given the arguments at once,
 * and its result, or why there is none, when there is. Give it a key for each call.
 * @param {{connection: string, tool: any, args: object, result?: object, cancelled?: string}} props
 */
export function App({ connection, tool, args, result, cancelled }) {
  const uri = appOf(tool);
  const path = `/connections/${encodeURIComponent(connection)}/apps`;
  const [state, setState] = useState({});
  useEffect(() => {
    let over = false;
    let id;
    api.post(path, { uri }).then(
      (app) => {
        id = app.id;
        if (over) api.del(`${path}/${id}`).catch(() => {});
        else setState({ app });
      },
      (error) => over || setState({ error }),
    );
    return () => {
      over = true;
      if (id) api.del(`${path}/${id}`).catch(() => {}); // it ends with the connection at the latest
    };
  }, [path, uri]);
  const { app, error, frame } = state;
  const open = async (granted) => {
    try {
      setState({ app, frame: await api.post(`${path}/${app.id}/frame`, granted) });
    } catch (error) {
      setState({ app, error });
    }
  };
  return html`<section class="app" aria-label="App">
    <h3>App <code>${label(uri)}</code></h3>
    <${ErrorBox} error=${error} />
    ${!app && !error && html`<${Spinner} label="Reading the app" />`}
    ${app && !frame && html`<${Consent} app=${app} onOpen=${open} />`}
    ${frame && html`<${Shown} key=${frame.id} ...${{ app, frame, tool, args, result, cancelled }} path=${`${path}/${app.id}`} onClose=${() => setState({ app })} />`}
  </section>`;
}

const domains = [
  ["connectDomains", "send requests to"],
  ["resourceDomains", "load scripts, styles, images and fonts from"],
  ["frameDomains", "show pages of"],
  ["baseUriDomains", "resolve links against"],
];
const permissions = { camera: "use the camera", microphone: "use the microphone", geolocation: "learn where you are", clipboardWrite: "write to the clipboard" };

// Consent says what an app asks for, and lets a person choose.
function Consent({ app, onOpen }) {
  const { csp = {}, permissions: wanted = {} } = app.ui;
  const reaches = domains.filter(([member]) => csp[member]?.length > 0);
  const may = Object.keys(wanted).filter((name) => Object.hasOwn(permissions, name));
  const [network, setNetwork] = useState(false);
  const [granted, setGranted] = useState([]);
  const toggle = (name) => setGranted(granted.includes(name) ? granted.filter((one) => one !== name) : [...granted, name]);
  const asks = reaches.length > 0 || may.length > 0;
  const [begun, setBegun] = useState(false);
  const open = () => {
    setBegun(true);
    onOpen({ network, permissions: Object.fromEntries(granted.map((name) => [name, {}])) });
  };
  return html`<div class="app-consent">
    <p>The app is a program of the server's. It runs in a frame of its own, and reaches neither this page nor your files${asks ? "" : ", and nothing on the network"}.</p>
    ${app.wrong && html`<${Notice} kind="warning" title="Part of what it asks for is not valid, and it does not get it">${label(app.wrong, 1000)}<//>`}
    ${asks &&
    html`<fieldset>
      <legend>It asks for</legend>
      ${reaches.length > 0 &&
      html`<label><input type="checkbox" checked=${network} onChange=${() => setNetwork(!network)} /> the network, to</label>
        <ul>
          ${reaches.map(([member, what]) => html`<li>${what} ${csp[member].slice(0, 50).map((origin) => html`<code>${label(origin)}</code> `)}</li>`)}
        </ul>`}
      ${may.map((name) => html`<label><input type="checkbox" checked=${granted.includes(name)} onChange=${() => toggle(name)} /> ${permissions[name]}</label>`)}
    </fieldset>`}
    <${Button} kind="primary" busy=${begun} onClick=${open}>Show the app</${Button}>
  </div>`;
}

// Shown is the frame and all that belongs to it, until it is closed.
function Shown({ app, frame, tool, args, result, cancelled, path, onClose }) {
  const element = useRef(null);
  const live = useRef(null);
  const [view, setView] = useState({ notes: [], count: 0, asks: [], height: 200, said: [], logs: [] });
  const [stopped, setStopped] = useState("");
  const always = useMemo(() => new Set(), []);

  // Before the frame can have sent anything.
  useLayoutEffect(() => {
    const change = (f) => setView((old) => ({ ...old, ...f(old) }));
    const note = (entry) => change(({ notes, count }) => ({ notes: [...notes.slice(1 - mostNotes), { ...entry, number: count + 1, at: new Date() }], count: count + 1 }));
    const ask = (question) =>
      new Promise((done, fail) => {
        const one = { ...question, id: crypto.randomUUID() };
        const settle = (f) => (value) => {
          change(({ asks }) => ({ asks: asks.filter(({ id }) => id !== one.id) }));
          f(value);
        };
        one.allow = settle(done);
        one.refuse = settle(() => fail(new Refusal("the user refused")));
        change(({ asks }) => ({ asks: [...asks, one] }));
      });
    const ended = new AbortController();
    const toServer = async (route, body) => {
      const { result, error } = await api.post(`${path}/${route}`, body, { signal: ended.signal });
      if (error) throw Object.assign(new Error(error.message), { code: Number(error.code), data: error.data });
      return result;
    };
    const keep = (entry) => change(({ said }) => ({ said: [...said.slice(-49), entry] }));
    const host = {
      begins: ({ info }) => change(() => ({ info })),
      async call(name, args) {
        if (!always.has(name)) await ask({ kind: "call", name, args, always: () => always.add(name) });
        return toServer("calls", { name, arguments: args });
      },
      read: (uri) => toServer("reads", { uri }),
      async open(url) {
        const { url: to, host, why } = linkOf(url);
        if (!to) throw new Refusal(`the link is not opened: ${why}`);
        await ask({ kind: "link", url: to, host });
        return {};
      },
      message(message) {
        keep({ kind: "message", ...message });
        return {};
      },
      context(context) {
        change(() => ({ context }));
        return {};
      },
      log: (entry) => change(({ logs }) => ({ logs: [...logs.slice(-99), entry] })),
      size: (height) => change(() => ({ height })),
      leave: onClose,
    };
    const width = element.current.clientWidth;
    const about = () => ({
      hostInfo: { name: "parley-inspect", version: "1" },
      hostCapabilities: {
        openLinks: {},
        serverTools: {},
        serverResources: {},
        logging: {},
        message: { text: {} },
        updateModelContext: { text: {}, structuredContent: {} },
        sandbox: { permissions: frame.permissions ?? {}, csp: frame.csp ?? {} },
      },
      hostContext: { toolInfo: { tool }, ...hostContext(width) },
    });
    let link;
    const bridge = new Bridge({ send: (message) => link.send(message), note, host, about });
    link = connect({
      element: element.current,
      frame,
      html: app.html,
      onMessage: (data) => bridge.receive(data),
      onDropped: ({ count, why }) => note({ from: "app", refused: `${count} messages were dropped: ${label(why)}` }),
      onStop: setStopped,
    });
    live.current = bridge;
    // All of them: nobody here makes up arguments piece by piece, so there is no tool-input-partial.
    bridge.notify("ui/notifications/tool-input", { arguments: args ?? {} });
    const offTheme = onTheme(() => bridge.notify("ui/notifications/host-context-changed", hostContext(width)));
    return () => {
      offTheme();
      bridge.request("ui/resource-teardown", { reason: "the page shows something else" });
      link.end();
      ended.abort();
    };
  }, []);

  // Once: the page may read the same result again.
  const told = useRef(false);
  const over = result !== undefined || cancelled !== undefined;
  useEffect(() => {
    if (!over || told.current) return;
    told.current = true;
    if (result !== undefined) live.current.notify("ui/notifications/tool-result", result);
    else live.current.notify("ui/notifications/tool-cancelled", { reason: cancelled });
  }, [over]);

  const close = async () => {
    await within(live.current.request("ui/resource-teardown", { reason: "the user closed the app" }));
    onClose();
  };
  const { info, asks, height, notes, count, said, context, logs } = view;
  return html`<div class="app-shown">
    <p class="row">
      <${Badge}>sandboxed<//>${info && html`<span>${label(info.title ?? info.name)} ${label(info.version, 40)}</span>`}
      <${Button} kind="plain" onClick=${close}>Close the app</${Button}>
    </p>
    ${stopped && html`<${Notice} kind="error" urgent>${stopped}<//>`}
    ${asks.map((ask) => html`<${Asks} key=${ask.id} ask=${ask} />`)}
    ${!stopped && html`<iframe ref=${element} class="app-frame" src=${frame.url} title=${`App ${label(app.uri)}`} height=${height} sandbox="allow-scripts allow-same-origin allow-forms" allow=${frame.allow} referrerpolicy="no-referrer"></iframe>`}
    ${said.length > 0 && html`<details open><summary>What it would have said in the chat (${said.length})</summary>${said.map(({ role, content }) => html`<p><strong>${label(role, 20)}</strong></p><${Json} value=${content} />`)}</details>`}
    ${context && html`<details><summary>What it tells the model</summary><${Json} value=${context} /></details>`}
    ${logs.length > 0 && html`<details><summary>What it logged (${logs.length})</summary>${logs.map((entry) => html`<${Json} value=${entry} copy=${false} />`)}</details>`}
    <details class="app-log"><summary>Messages between the app and this page (${count})</summary><${Log} notes=${notes} count=${count} /></details>
    <details><summary>What it may do</summary><p>Content-Security-Policy</p><code>${frame.policy}</code><p>Permissions: ${frame.allow || "none"}</p></details>
  </div>`;
}
