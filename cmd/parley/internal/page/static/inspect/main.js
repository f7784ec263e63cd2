// The shell of the page: connections, views, where the user is.

import { onTurnedAway, takeKey } from "../lib/key.js";
import { live } from "../lib/live.js";
import { html, render } from "../lib/preact.js";
import { Shell } from "./shell.js";

const { used, fresh } = takeKey();
const root = document.getElementById("page");
root.replaceChildren();

let away = used;
const show = () => render(html`<${Shell} away=${away} used=${used} fresh=${fresh} />`, root);
onTurnedAway(() => {
  if (away) return;
  away = true;
  show();
});
show();
if (!away) live.start();

export * from "../lib/reach.js";
export { App } from "./app.js";
export { pages, views } from "./views.js";
