// A user of the authorization server of `parley serve --auth dev` who has no
// browser: follows an authorization URL, logs in and consents, and goes back
// to the client. It does what the pages say, and assumes nothing about
// them but the names of their fields.

import { assert } from "./report.mjs";

const entities = { amp: "&", lt: "<", gt: ">", quot: '"', "#34": '"', "#39": "'", "#43": "+" };

const text = (html) => html.replace(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole);

export class User {
  constructor(name = "ada", password = "lovelace") {
    Object.assign(this, { name, password, cookies: new Map() });
  }

  /** request keeps cookies, and follows no redirect. */
  async request(url, form) {
    const response = await fetch(url, {
      method: form ? "POST" : "GET",
      redirect: "manual",
      headers: { cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; "), ...(form && { origin: new URL(url).origin }) },
      body: form,
      signal: AbortSignal.timeout(10_000),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
      this.cookies.set(name, value);
    }
    return { url, status: response.status, location: response.headers.get("location"), body: await response.text() };
  }

  /** page follows redirects within the authorization server. */
  async page(answer) {
    while (answer.location && new URL(answer.location, answer.url).origin === new URL(answer.url).origin) {
      answer = await this.request(new URL(answer.location, answer.url));
    }
    return answer;
  }

  /** submit posts the form of a page unchanged, with the given button. */
  async submit(page, action, fields = {}) {
    const target = /<form method="post" action="([^"]*)"/.exec(page.body)?.[1];
    assert(target, `no form on the page (${page.status}): ${page.body}`);
    const form = new URLSearchParams({ ...fields, action });
    for (const [, name, value] of page.body.matchAll(/<input type="(?:hidden|checkbox)"[^>]* ?name="([^"]*)" value="([^"]*)"/g)) {
      form.append(text(name), text(value));
    }
    return this.page(await this.request(new URL(text(target), page.url), form));
  }

  /**
   * authorize goes from an authorization URL to the redirect to the client, which
   * it does not follow. It returns the redirect's URL, and what happened in
   * between: whether it had to log in, and the scopes that it was asked for.
   */
  async authorize(url, { deny = false } = {}) {
    let page = await this.page(await this.request(url));
    const loggedIn = page.body.includes('type="password"');
    if (loggedIn) page = await this.submit(page, "login", { name: this.name, password: this.password });
    const consent = page.location ? "" : page.body;
    if (consent) page = await this.submit(page, deny ? "deny" : "allow");
    assert(page.location, `the authorization server did not go back to the client (${page.status}): ${page.body}`);
    const asked = [...consent.matchAll(/name="scope" value="([^"]*)"/g)].map(([, name]) => text(name));
    return { location: page.location, loggedIn, asked, consent: text(consent.replace(/<[^>]*>/g, "")) };
  }

  /** visit is authorize, and then follows the redirect to the client. */
  async visit(url, options) {
    const { location } = await this.authorize(url, options);
    const response = await fetch(location, { signal: AbortSignal.timeout(10_000) });
    await response.arrayBuffer();
    return response.status;
  }
}
