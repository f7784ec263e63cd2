import { label } from "../lib/text.js";
import { html, useEffect, useState } from "../lib/preact.js";
import { href } from "../lib/route.js";
import { Badge, Button, IconButton } from "../lib/ui.js";
import { pages, views } from "./views.js";

const states = { connecting: "connecting", login: "waits for a login", up: "connected", lost: "connection lost", failed: "failed", closed: "disconnected" };

/** Rail is where the user goes from one connection or view to another. */
export function Rail({ connections, connection, here, onKeys }) {
  const [open, setOpen] = useState(false); // in a narrow window
  useEffect(() => setOpen(false), [here]);
  return html`<header class="rail">
    <a class="skip" href=${location.hash || "#/"} onClick=${toMain}>Skip to the view</a>
    <div class="brand">
      <a href=${href("home")}>Parley</a>
      <${IconButton} label="Keys" icon="?" onClick=${onKeys} />
      <${Button} kind="plain" class="unfold" aria-expanded=${open ? "true" : "false"} aria-controls="rail" onClick=${() => setOpen(!open)}>Menu<//>
    </div>
    <div id="rail" class=${open ? "open" : ""}>
      <nav aria-label="Pages"><ul>${pages.map((page) => html`<${Item} key=${page.id} to=${href(page.id)} current=${!here.connection && here.view === page.id}>${page.title}<//>`)}</ul></nav>
      <nav aria-label="Connections">
        <ul>
          ${connections.map((c) => html`<${Connection} key=${c.id} connection=${c} current=${c === connection} here=${here} />`)}
        </ul>
      </nav>
    </div>
  </header>`;
}

function toMain(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

const Item = ({ to, current, children }) => html`<li><a href=${to} aria-current=${current ? "page" : undefined}>${children}</a></li>`;

function Connection({ connection, current, here }) {
  const { name, about } = names(connection);
  const state = states[connection.state] ?? connection.state;
  const questions = connection.counts?.questions;
  return html`<li>
    <a class="connection" href=${href([connection.id])} aria-current=${current && here.view === "overview" ? "page" : current ? "true" : undefined} title=${`${about}: ${state}`}>
      <span class=${`dot ${connection.state}`} aria-hidden="true"></span>
      <span class="name"><span class="cut">${name}</span><small class="cut">${about}</small></span><span class="unseen">, ${state}</span>
      ${!current && questions > 0 && html`<${Badge} kind="warning" title="Questions">${questions}<//>`}
    </a>
    ${current && html`<ul>${views.filter((view) => view.id !== "overview" && view.shown(connection)).map((view) => html`<${ViewItem} key=${view.id} view=${view} connection=${connection} current=${here.view === view.id} />`)}</ul>`}
  </li>`;
}

/** names says what a connection is called: as its server calls itself, if it is there, and how it is reached. */
function names({ id, title, target, server, revision }) {
  const asked = title || target?.text || id;
  const itself = server?.title || server?.name;
  return { name: label(itself || asked), about: label([revision, itself && asked].filter(Boolean).join(" · ")) };
}

function ViewItem({ view, connection, current }) {
  const count = view.badge?.(connection);
  return html`<${Item} to=${href([connection.id, view.id])} current=${current}>${view.title}${count > 0 && html` <${Badge} kind="warning">${count}<//>`}<//>`;
}
