// Plain HTTP requests that record when each event of a stream arrived, which no
// client library reports.

import { request } from "node:http";

/** exchange sends a request and returns the response, whose body may be an endless stream. */
export function exchange({ port, host, path = "/mcp", method = "POST", headers = {}, message }) {
  return new Promise((done, fail) => {
    const body = message === undefined ? undefined : JSON.stringify(message);
    const outgoing = request({
      host: "127.0.0.1",
      port,
      path,
      method,
      // A connection of its own, so that cutting it affects nothing else.
      agent: false,
      headers: {
        Host: host ?? `127.0.0.1:${port}`,
        Accept: "application/json, text/event-stream",
        ...(body && { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }),
        ...headers,
      },
    });
    outgoing.once("error", fail);
    outgoing.once("response", (response) => {
      outgoing.off("error", fail);
      outgoing.on("error", () => {}); // cut by cut()
      done(new Exchange(outgoing, response));
    });
    outgoing.end(body);
  });
}

class Exchange {
  constructor(outgoing, response) {
    this.outgoing = outgoing;
    this.status = response.statusCode;
    this.headers = response.headers;
    this.events = []; // { at, id, event, data, message }, at in milliseconds
    this.comments = []; // { at, text }
    this.body = "";
    this.streams = /^text\/event-stream/.test(response.headers["content-type"] ?? "");
    this.over = false;
    this.ended = new Promise((done) => {
      response.once("close", () => {
        this.over = true;
        done();
      });
      response.once("error", () => {}); // cut by cut(), or by the proxy
    });
    let rest = "";
    response.setEncoding("utf8").on("data", (chunk) => {
      const at = performance.now();
      this.body += chunk;
      if (!this.streams) return;
      const blocks = (rest + chunk).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) this.#take(block, at);
    });
  }

  #take(block, at) {
    const event = { at, event: "message", data: "" };
    for (const line of block.split("\n")) {
      const [, field, value] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
      if (field === "") this.comments.push({ at, text: value });
      else if (field === "data") event.data += value;
      else if (field) event[field] = value;
    }
    if (event.data && event.event === "message") event.message = JSON.parse(event.data);
    if (event.id !== undefined || event.data) this.events.push(event);
  }

  /** json is the body of a response that is not a stream. */
  async json() {
    await this.ended;
    return JSON.parse(this.body);
  }

  /** of returns the events whose message has the given method, or is the response to the given request. */
  of(methodOrID) {
    return this.events.filter(({ message }) =>
      typeof methodOrID === "string" ? message?.method === methodOrID : message?.id === methodOrID && !message.method,
    );
  }

  /** until waits for something to arrive. */
  async until(condition, what, limit = 10_000) {
    const begun = performance.now();
    for (;;) {
      const found = condition(this);
      if (found) return found;
      if (this.over || performance.now() - begun > limit) {
        const why = this.over ? "before the end of the stream" : `after ${limit} ms`;
        throw new Error(`${what}: not there ${why}, which was ${JSON.stringify(this.body.slice(-500))}`);
      }
      await new Promise((done) => setTimeout(done, 10));
    }
  }

  cut() {
    this.outgoing.destroy();
  }
}
