// What happens, as it happens: a stream of server-sent events. It is read with fetch because
// an EventSource cannot send the key. The tabs of a browser share one: browsers open only six
// connections to a server, and many tabs would leave none for anything else.

import { parse } from "./json.js";
import { base, headers, turnedAway } from "./key.js";
import { useEffect, useState } from "./preact.js";

const listeners = new Map();
let state = "opening"; // "open", "lost"
let started = false;

/** others are the other tabs: the one that has the stream tells them what it hears. */
const others = new BroadcastChannel("parley-live");
let leads = false;

others.onmessage = ({ data: { topic, text, ask } }) => {
  if (ask && leads) tell("stream", JSON.stringify(state));
  if (leads || !topic) return;
  if (topic === "stream") setState(parse(text));
  else emit(topic, parse(text));
};

function tell(topic, text) {
  others.postMessage({ topic, text });
}

function emit(topic, data) {
  for (const listener of listeners.get(topic) ?? []) {
    try {
      listener(data);
    } catch (error) {
      console.error(error);
    }
  }
}

function setState(next) {
  if (state === next) return;
  state = next;
  if (leads) tell("stream", JSON.stringify(state));
  emit("stream", next);
}

/** live is the stream. The topic "lost" says that events were missed, "stream" that the stream's own state changed. */
export const live = {
  /** on has listener called with the data of each event of a topic. It returns a function that ends this. */
  on(topic, listener) {
    if (!listeners.has(topic)) listeners.set(topic, new Set());
    listeners.get(topic).add(listener);
    return () => listeners.get(topic).delete(listener);
  },
  get state() {
    return state;
  },
  /** start opens the stream, which then stays open for as long as the page does. */
  start() {
    if (started) return;
    started = true;
    others.postMessage({ ask: true });
    navigator.locks.request("parley-live", { ifAvailable: true }, (lock) => lock && lead(false));
    navigator.locks.request("parley-live", () => lead(true)); // when the tab that leads is closed
  },
};

/** lead reads the stream for all tabs, and never ends. late says that somebody else did before. */
async function lead(late) {
  leads = true;
  let wait = 250;
  let before = late;
  for (;;) {
    try {
      const response = await fetch(`${base}/events`, { headers: headers(), cache: "no-store" });
      if (response.status === 401) turnedAway();
      if (response.ok) {
        setState("open");
        wait = 250;
        if (before) hear("lost", "{}");
        before = true;
        await read(response.body);
      }
    } catch {
      // The server is gone, or this machine slept.
    }
    setState("lost");
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(wait * 2, 5000);
  }
}

async function read(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) dispatch(event);
  }
}

function dispatch(event) {
  let topic = "";
  let data = "";
  for (const line of event.split("\n")) {
    if (line.startsWith("event: ")) topic = line.slice("event: ".length);
    if (line.startsWith("data: ")) data += line.slice("data: ".length);
  }
  if (topic) hear(topic, data);
}

function hear(topic, text) {
  tell(topic, text);
  emit(topic, parse(text));
}

/** useLive calls listener with the data of each event of a topic while the component is there. */
export function useLive(topic, listener, dependencies = []) {
  useEffect(() => live.on(topic, listener), [topic, ...dependencies]);
}

/** useStream returns the state of the stream: "opening", "open" or "lost". */
export function useStream() {
  const [now, set] = useState(state);
  useEffect(() => {
    set(state);
    return live.on("stream", set);
  }, []);
  return now;
}
