import { createServer } from "node:net";

const first = 20_000;
const count = 10_000;
let next = Math.floor(Math.random() * count);

/**
 * freePort returns a port that nobody listens on. It is not one of those that a system gives to connections
 * (from 32768 on Linux, from 49152 on others): such a port may be gone before a server listens there.
 */
export async function freePort() {
  for (let tried = 0; tried < count; tried++) {
    const port = first + (next++ % count);
    if (await canListen(port)) return port;
  }
  throw new Error(`all ports from ${first} to ${first + count - 1} are taken`);
}

function canListen(port) {
  return new Promise((done) => {
    const server = createServer().once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
  });
}
