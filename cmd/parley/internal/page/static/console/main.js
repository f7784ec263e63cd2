// The console of a gateway: who is there, and where they are.

import { api } from "../lib/api.js";
import { onTurnedAway, setKey, takeKey } from "../lib/key.js";
import { live } from "../lib/live.js";
import { html, render } from "../lib/preact.js";
import { keep, kept } from "../lib/state.js";
import { Login } from "./login.js";
import { Shell } from "./shell.js";

// A visit that nobody takes part in ends, even if the page goes on to read what changes.
const idle = 30 * 60_000;

const { used, fresh } = takeKey();
const wanted = kept("wanted");
if (fresh && wanted) location.hash = wanted;
keep("wanted", undefined);

const root = document.getElementById("page");
root.replaceChildren();

let away = used;
const show = () => render(away ? html`<${Login} used=${used} />` : html`<${Shell} onLeave=${leave} />`, root);

/** leave logs out. */
async function leave() {
  try {
    await api.del("/login");
  } catch {
    // The visit has ended before, or the gateway has.
  }
  setKey(null);
  location.assign("/");
}

onTurnedAway(() => {
  if (away) return;
  away = true;
  keep("wanted", location.hash);
  show();
});

let last = Date.now();
for (const event of ["pointerdown", "keydown", "wheel"]) addEventListener(event, () => (last = Date.now()), { passive: true });
setInterval(() => !away && Date.now() - last > idle && leave(), 60_000);

show();
if (!away) live.start();

export * from "../lib/reach.js";
export { views } from "./views.js";
