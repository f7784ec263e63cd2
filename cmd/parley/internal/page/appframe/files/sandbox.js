// Between the page and an app. The app is in a frame without an origin: it has no storage,
// and reaches neither this document nor the page's. It inherits the policy that this
// document was served with. What is passed on is bounded, so that an app that floods its
// host floods this frame, and not the page.

"use strict";

const reserved = "ui/notifications/sandbox-";
const burst = 200; // messages that may come at once
const perSecond = 100;
const longest = 1 << 20; // characters of a message

let host; // the page's origin, once it has spoken
let app;

let budget = burst;
let dropped = 0;
let why = "";
setInterval(() => {
  budget = Math.min(burst, budget + perSecond / 4);
  if (dropped === 0 || !host) return;
  parent.postMessage({ jsonrpc: "2.0", method: `${reserved}dropped`, params: { count: dropped, why } }, host);
  dropped = 0;
}, 250);

addEventListener("message", (event) => {
  if (event.source === parent) fromHost(event);
  else if (app?.isConnected && event.source === app.contentWindow) fromApp(event);
});

function fromHost({ origin, data }) {
  if (data?.method === `${reserved}resource-ready`) {
    if (!app) show(origin, data.params);
  } else if (app?.isConnected && origin === host && !isReserved(data)) {
    app.contentWindow.postMessage(data, "*"); // a frame without an origin cannot be named
  }
}

function fromApp(event) {
  if (budget < 1) {
    drop("they come too fast"); // without a look at the data
    return;
  }
  budget--;
  const text = jsonOf(event.data);
  if (text === undefined || text[0] !== "{") drop("they are no JSON objects");
  else if (text.length > longest) drop("they are too long");
  else forward(JSON.parse(text));
}

// What can be sent is more than JSON, and can take long to be made JSON: that is done here.
function jsonOf(data) {
  try {
    return JSON.stringify(data);
  } catch {
    return undefined;
  }
}

function forward(message) {
  if (isReserved(message)) drop("their methods are those of this sandbox");
  else parent.postMessage(message, host);
}

function drop(reason) {
  dropped++;
  why = reason;
}

const isReserved = (data) => typeof data?.method === "string" && data.method.startsWith(reserved);

// The policy of this document says who may be its parent, and so who sends this.
function show(origin, { html, permissions }) {
  host = origin;
  app = document.createElement("iframe");
  app.title = "App";
  app.setAttribute("sandbox", "allow-scripts allow-forms");
  app.setAttribute("allow", allowed(permissions));
  app.srcdoc = html;
  let loads = 0;
  app.addEventListener("load", () => ++loads > 1 && left());
  // Of an app that goes before it has loaded, only the policy tells, which allows nothing else in the frame.
  addEventListener("securitypolicyviolation", (event) => event.effectiveDirective === "frame-src" && left());
  document.body.append(app);
}

// An app that goes elsewhere is not the app that the page has shown.
function left() {
  if (!app.isConnected) return;
  app.remove();
  parent.postMessage({ jsonrpc: "2.0", method: `${reserved}left`, params: {} }, host);
}

const features = new Map([
  ["camera", "camera"],
  ["microphone", "microphone"],
  ["geolocation", "geolocation"],
  ["clipboardWrite", "clipboard-write"],
]);

// What was not granted, the headers of this document forbid, whatever is asked for here.
function allowed(permissions) {
  return Object.keys(permissions ?? {})
    .filter((name) => features.has(name))
    .map((name) => `${features.get(name)} *`)
    .join("; ");
}

parent.postMessage({ jsonrpc: "2.0", method: `${reserved}proxy-ready`, params: {} }, "*");
