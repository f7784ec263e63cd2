import { useGet } from "../lib/api.js";
import { useStream } from "../lib/live.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/preact.js";
import { Keys, useKeys } from "../lib/keys.js";
import { go, href, useRoute } from "../lib/route.js";
import { begin } from "../lib/state.js";
import { Announcements, Contained, ErrorBox, Notice, Spinner, announce } from "../lib/ui.js";
import { LoginNotice } from "./login-notice.js";
import { QuestionNotice } from "./notice.js";
import { Rail } from "./rail.js";
import { Gone } from "./reconnect.js";
import { pages, views } from "./views.js";

/**
 * Shell is the page.
 * @param {{away: boolean, used: boolean, fresh: boolean}} props away: the server does not know this page; used: the code in
 *   the address was used before; fresh: the address had a code that let this page in
 */
export function Shell({ away, used, fresh }) {
  return html`<${Announcements} />${away ? html`<${Outside} used=${used} />` : html`<${Inside} fresh=${fresh} />`}`;
}

function Outside({ used }) {
  return html`<main class="outside">
    <h1>Parley</h1>
    <${Notice} kind="warning" title=${used ? "This address has been used already." : "This page has no access."}>
      <p>An address opens the page once. Press Enter in the terminal where <code>parley inspect</code> runs: it prints a new one.</p>
      ${used && html`<p>If another tab of this browser has the page open, it still works, and so does <a href="/">this one</a>.</p>`}
    <//>
  </main>`;
}

function Inside({ fresh }) {
  const here = useRoute();
  const { data, error } = useGet("/connections", {}, ["connection", "question", "call"]);
  if (data) begin(data.run); // before a view reads what was kept
  const connections = data?.connections ?? [];
  const connection = connections.find(({ id }) => id === here.connection);
  const view = (here.connection ? views : pages).find(({ id }) => id === here.view);
  const leads = useFirst(fresh, data?.connections, error);
  const [keys, showKeys] = useState(false);
  useKeys((letter) => visit(letter, connection), () => showKeys(true));
  const title = [view?.title, connection && (connection.title || connection.id)].filter(Boolean).join(" – ");
  useEffect(() => {
    document.title = `${title || "Not found"} – Parley`;
  }, [title]);
  return html`<div class="shell">
    <${Rail} connections=${connections} connection=${connection} here=${here} onKeys=${() => showKeys(true)} />
    <div class="column">
      <${Stream} /> <${Gone} connection=${connection} here=${here} /> <${LoginNotice} connections=${connections} here=${here} /> <${QuestionNotice} connections=${connections} here=${here} />
      <${Main} key=${`${here.connection ?? ""}/${view?.id ?? "?"}`} view=${view} here=${here} connection=${connection} known=${data !== undefined} error=${error} leads=${leads} />
    </div>
    ${keys && html`<${Keys} views=${[...pages, ...views]} onClose=${() => showKeys(false)} />`}
  </div>`;
}

/**
 * useFirst leads whoever opens the page to the one connection that there is: that of the command line. It
 * returns whether that is still to be found out.
 */
function useFirst(fresh, connections, error) {
  const [leads, setLeads] = useState(fresh && location.hash === "#/");
  useLayoutEffect(() => {
    if (!leads || (!connections && !error)) return;
    setLeads(false);
    if (connections?.length === 1 && location.hash === "#/") go([connections[0].id], {}, { replace: true });
  }, [connections, error]);
  return leads && location.hash === "#/";
}

function visit(letter, connection) {
  const page = pages.find(({ key }) => key === letter);
  const view = connection && views.find(({ key, shown }) => key === letter && shown(connection));
  if (page) go([page.id]);
  else if (view) go([connection.id, view.id]);
}

/** Stream says when nothing is live any more. */
function Stream() {
  const state = useStream();
  if (state !== "lost") return null;
  return html`<${Notice} kind="warning" urgent=${true} title="The connection to parley is lost.">What you see may be old. It is tried again all the time; if parley has ended, start it again.<//>`;
}

/** focusView is whether the next view that is shown takes the focus: the first one does not. */
let focusView = false;

function Main({ leads, ...shown }) {
  const { view } = shown;
  const ref = useRef(null);
  // Before painting, so that it takes the focus from nobody who is quick.
  useLayoutEffect(() => {
    if (focusView) {
      ref.current.focus({ preventScroll: true });
      announce(view?.title ?? "Not found");
    }
    focusView = true;
  }, []);
  return html`<main id="main" ref=${ref} tabindex="-1" aria-label=${view?.title ?? "Not found"}>${leads ? html`<${Spinner} />` : content(shown)}</main>`;
}

function content({ view, here, connection, known, error }) {
  if (!view) return html`<${Missing} title="There is no such view." />`;
  if (!known && !error && here.params.like) return html`<${Spinner} />`; // its draft is one of this run, which is not known yet
  if (!here.connection || connection) return html`<${Contained} key=${view.id} title=${view.title}><${view.View} route=${here} connection=${connection} /><//>`;
  if (error && !known) return html`<h1>${view.title}</h1><${ErrorBox} error=${error} />`;
  if (!known) return html`<${Spinner} />`;
  return html`<${Missing} title="There is no such connection (any more)." />`;
}

const Missing = ({ title }) => html`<h1>Not found</h1><${Notice} kind="warning" title=${title}><a href=${href("home")}>Connect to a server</a><//>`;
