// A client with its user.

import { server } from "../lib/reference.mjs";
import { assert, brief } from "../lib/report.mjs";

/**
 * Visitor records the user's visits to the authorization server and, in `secrets`,
 * every secret that it sees.
 */
export class Visitor {
  visits = [];

  constructor(parts) {
    Object.assign(this, parts);
  }

  async open(options) {
    const { url, name, redirectUrl, grants } = this;
    const ask = async (page) => {
      const visit = await this.user.authorize(page, options);
      this.visits.push({ url: String(page), ...visit });
      this.#note(new URL(visit.location).searchParams.get("code"));
      return visit.location;
    };
    Object.assign(this, await this.make({ url, name: `Interop ${name}`, redirectUrl, grants, ask }));
    const { stored } = this;
    if (!stored) return; // parley does not print tokens
    this.stored = async () => {
      const tokens = await stored();
      this.#note(tokens.access_token, tokens.refresh_token);
      return tokens;
    };
  }

  #note(...secrets) {
    for (const secret of secrets) if (secret) this.secrets.add(secret);
  }

  /** during returns what the user was asked while something ran. */
  async during(run) {
    const before = this.visits.length;
    await run();
    return this.visits.slice(before);
  }

  async calculate() {
    const { name, arguments: args, text } = server.calculate;
    const said = await this.call(name, args);
    assert(said.includes(text), `${name} says ${brief(said)}`);
  }
}
