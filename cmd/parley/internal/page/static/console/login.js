import { ApiError, api } from "../lib/api.js";
import { setKey } from "../lib/key.js";
import { html, useEffect, useState } from "../lib/preact.js";
import { label } from "../lib/text.js";
import { Button, ErrorBox, Field, Notice, Spinner, TextInput } from "../lib/ui.js";

/**
 * Login is for whoever has not come in.
 * @param {{used: boolean}} props used: the code in the address was used before
 */
export function Login({ used }) {
  const [state, setState] = useState({});
  useEffect(() => {
    document.title = "Log in – Gateway console";
    api.get("/login").then(
      (door) => setState({ door }),
      (error) => setState({ error }),
    );
  }, []);
  const { door, error } = state;
  return html`<main class="outside">
    <h1>Console of the gateway${door?.name && html` <span class="mono">${label(door.name)}</span>`}</h1>
    ${used && html`<${Notice} kind="warning" title="This address has been used already.">An address opens the console once.<//>`}
    <${ErrorBox} error=${error} />
    ${!door && !error && html`<${Spinner} />`}
    ${door?.kind === "bearer" && html`<${TokenForm} />`}
    ${door?.kind === "issuer" && html`<p><a class="button primary" href="/login">Log in</a></p>`}
    ${door && html`<${Notice} title=${door.kind === "code" ? "This page has no access." : "On the machine of the gateway"}>
      <p>This command prints an address that opens the console as an operator, for the user who runs the gateway:</p>
      <pre>parley gateway console ${label(door.name)}</pre>
    <//>`}
  </main>`;
}

/** TokenForm takes the token of the gateway, once: what the page keeps is another key. */
function TokenForm() {
  const [token, setToken] = useState("");
  const [state, setState] = useState({});
  const send = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      const { key } = await api.post("/login", { token: token.trim() });
      setKey(key);
      location.assign("/");
      location.reload();
    } catch (error) {
      setState({ error: error instanceof ApiError ? error : undefined });
      setToken("");
    }
  };
  return html`<form onSubmit=${send}>
    <${Field} label="Token of the gateway" hint="The one that its clients send." error=${state.error?.field === "token" ? state.error.message : undefined} required=${true}>
      <${TextInput} type="password" value=${token} onInput=${setToken} />
    <//>
    ${state.error && state.error.field !== "token" && html`<${ErrorBox} error=${state.error} />`}
    <${Button} kind="primary" type="submit" busy=${state.busy} disabled=${!token.trim()}>Log in<//>
  </form>`;
}
