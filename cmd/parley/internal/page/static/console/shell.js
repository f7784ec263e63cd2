import { useGet } from "../lib/api.js";
import { useStream } from "../lib/live.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/preact.js";
import { Keys, useKeys } from "../lib/keys.js";
import { go, href, useRoute } from "../lib/route.js";
import { label } from "../lib/text.js";
import { Announcements, Badge, Button, Contained, ErrorBox, IconButton, Notice, Spinner, announce } from "../lib/ui.js";
import { views } from "./views.js";

const roles = ["viewer", "approver", "operator"];

/** may reports whether a role may do what another is for. */
const may = (has, needs) => roles.indexOf(has) >= roles.indexOf(needs);

/**
 * Shell is the page for whoever has come in.
 * @param {{onLeave: () => void}} props
 */
export function Shell({ onLeave }) {
  const here = useRoute();
  const { data: overview, error } = useGet("/overview", {}, ["overview", "approval", "pin", "backend"]);
  const view = views.find(({ id }) => id === here.view);
  const [keys, showKeys] = useState(false);
  useKeys(visit, () => showKeys(true));
  useEffect(() => {
    document.title = `${view?.title ?? "Not found"} – ${overview ? label(overview.name, 60) : "Gateway"} – Console`;
  }, [view, overview?.name]);
  return html`<${Announcements} /><div class="shell">
    <${Rail} overview=${overview ?? {}} here=${here} onKeys=${() => showKeys(true)} onLeave=${onLeave} />
    <div class="column">
      <section class="notices" aria-label="Notices"><${Stream} /><${Waits} overview=${overview} here=${here} /></section>
      <${Main} key=${view?.id ?? "?"} view=${view} here=${here} overview=${overview} error=${error} />
    </div>
    ${keys && html`<${Keys} views=${views} more=${deciding} onClose=${() => showKeys(false)} />`}
  </div>`;
}

const deciding = [
  ["Shift A", "Approvals: approve what is picked, once"],
  ["Shift D", "Approvals: refuse what is picked"],
];

function visit(letter) {
  const view = views.find(({ key }) => key === letter);
  if (view) go([view.id]);
}

function toMain(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

function Rail({ overview, here, onKeys, onLeave }) {
  const [open, setOpen] = useState(false); // in a narrow window
  useEffect(() => setOpen(false), [here]);
  return html`<header class="rail">
    <a class="skip" href=${location.hash || "#/"} onClick=${toMain}>Skip to the view</a>
    <div class="brand">
      <a href=${href("home")}>Gateway</a>
      <${IconButton} label="Keys" icon="?" onClick=${onKeys} />
      <${Button} kind="plain" class="unfold" aria-expanded=${open ? "true" : "false"} aria-controls="rail" onClick=${() => setOpen(!open)}>Menu<//>
    </div>
    <div id="rail" class=${open ? "open" : ""}>
      <nav aria-label="Views"><ul>${views.map((view) => html`<${Item} key=${view.id} view=${view} count=${view.badge?.(overview)} current=${here.view === view.id} />`)}</ul></nav>
      ${overview.me && html`<div class="me"><div class="cut" title=${label(overview.me.name)}>${label(overview.me.name, 80)}</div><div class="row"><${Badge}>${overview.me.role}<//><${Button} kind="link" onClick=${onLeave}>Log out<//></div></div>`}
    </div>
  </header>`;
}

function Item({ view, count, current }) {
  return html`<li><a href=${href(view.id)} aria-current=${current ? "page" : undefined}>${view.title}${count > 0 && html` <${Badge} kind="warning">${count}<span class="unseen"> waiting</span><//>`}</a></li>`;
}

/** Stream says when nothing is live any more. */
function Stream() {
  if (useStream() !== "lost") return null;
  return html`<${Notice} kind="warning" urgent=${true} title="The connection to the gateway is lost.">What you see may be old. It is tried again all the time.<//>`;
}

/** Waits says, wherever the user is, that a call waits for somebody. */
function Waits({ overview, here }) {
  const n = overview?.approvals ?? 0;
  const before = useRef(0);
  useEffect(() => {
    if (n > before.current) announce(n === 1 ? "A call waits for approval" : `${n} calls wait for approval`);
    before.current = n;
  }, [n]);
  if (n === 0 || here.view === "approvals" || here.view === "home") return null;
  return html`<${Notice} kind="warning"><a href=${href("approvals")}>${n === 1 ? "A call waits for approval" : `${n} calls wait for approval`}</a><//>`;
}

/** focusView is whether the next view that is shown takes the focus: the first one does not. */
let focusView = false;

function Main({ view, here, overview, error }) {
  const ref = useRef(null);
  // Before painting, so that it takes the focus from nobody who is quick.
  useLayoutEffect(() => {
    if (focusView) {
      ref.current.focus({ preventScroll: true });
      announce(view?.title ?? "Not found");
    }
    focusView = true;
  }, []);
  return html`<main id="main" ref=${ref} tabindex="-1" aria-label=${view?.title ?? "Not found"}>${content({ view, here, overview, error })}</main>`;
}

function content({ view, here, overview, error }) {
  if (!view) return html`<${Notice} kind="warning" title="There is no such view."><a href=${href("home")}>Overview</a><//>`;
  if (error && !overview) return html`<${ErrorBox} error=${error} />`;
  if (!overview) return html`<${Spinner} />`;
  return html`<${Contained} key=${view.id} title=${view.title}><${view.View} route=${here} overview=${overview} can=${(role) => may(overview.me.role, role)} /><//>`;
}
