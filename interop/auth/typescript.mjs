// The official TypeScript clients, with a provider that keeps what it is given
// in memory and has a user follow authorization URLs. `ask` is the user: it takes
// a URL, and returns where the browser ends.

import { within } from "../lib/report.mjs";

const identity = { name: "parley-interop", version: "1.0.0" };

class Provider {
  constructor(parts) {
    Object.assign(this, parts);
  }
  get clientMetadata() {
    return {
      client_name: this.name,
      redirect_uris: [this.redirectUrl],
      grant_types: this.grants ?? ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }
  state() {
    return (this.expected = crypto.randomUUID());
  }
  clientInformation() {
    return this.client;
  }
  saveClientInformation(client) {
    this.client = client;
  }
  tokens() {
    return this.stored;
  }
  saveTokens(tokens) {
    this.stored = tokens;
  }
  codeVerifier() {
    return this.verifier;
  }
  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }
  saveDiscoveryState(state) {
    this.discovered = state;
  }
  discoveryState() {
    return this.discovered;
  }
  invalidateCredentials(scope) {
    if (scope === "all" || scope === "tokens") this.stored = undefined;
    if (scope === "all" || scope === "client") this.client = undefined;
  }
  async redirectToAuthorization(url) {
    const answer = new URL(await this.ask(url)).searchParams;
    if (answer.get("state") !== this.expected) throw new Error(`the state came back as ${answer.get("state")}`);
    this.answer = answer;
  }
}

/** typescript makes a client of one of the two generations of the SDK. */
export function typescript(generation) {
  const at = (path) => (generation === 1 ? `client-1/client/${path}` : "client-2");
  return async ({ url, elicit, ...parts }) => {
    const { Client } = await import(at("index.js"));
    const { StreamableHTTPClientTransport } = await import(at("streamableHttp.js"));
    const { UnauthorizedError } = await import(at("auth.js"));
    const provider = new Provider(parts);
    let sdk;
    let transport;

    /** loggedIn runs a function that may need a login, and runs it again after the login. */
    async function loggedIn(run) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof UnauthorizedError)) throw error;
        const { answer } = provider;
        if (answer.has("error")) throw new Error(`${answer.get("error")}: ${answer.get("error_description")}`);
        // The first generation knows no iss.
        await transport.finishAuth(generation === 1 ? answer.get("code") : answer);
        return run();
      }
    }

    let completed = () => {};

    /** asks has the user sent to the pages that servers ask for. */
    async function asks(sdk) {
      const handler = async ({ params }) => {
        await elicit(params);
        return { action: "accept" };
      };
      if (generation === 2) return sdk.setRequestHandler("elicitation/create", handler);
      const types = await import("client-1/types.js");
      sdk.setRequestHandler(types.ElicitRequestSchema, handler);
      sdk.setNotificationHandler(types.ElicitationCompleteNotificationSchema, ({ params }) => completed(params.elicitationId));
    }

    /** visiting runs a call, and runs it again after the visits that have to come first. */
    async function visiting(run) {
      try {
        return await run();
      } catch (error) {
        if (error.code !== -32042 || !elicit) throw error;
        for (const params of error.data.elicitations) {
          const done = new Promise((resolve) => (completed = (id) => id === params.elicitationId && resolve()));
          await elicit(params);
          await within(30_000, done, "notifications/elicitation/complete");
        }
        return run();
      }
    }

    return {
      connect: () =>
        loggedIn(async () => {
          // A transport that failed to start cannot be started again.
          const previous = transport;
          transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
          if (previous) await previous.close();
          sdk = new Client(identity, {
            ...(generation === 2 && { versionNegotiation: { mode: "auto" } }),
            ...(elicit && { capabilities: { elicitation: { url: {} } } }),
          });
          if (elicit) await asks(sdk);
          await sdk.connect(transport);
        }),
      call: (tool, args) =>
        loggedIn(async () => {
          const result = await visiting(() => sdk.callTool({ name: tool, arguments: args }));
          return result.content.map(({ text }) => text).join("\n");
        }),
      tools: async () => (await sdk.listTools()).tools.map(({ name }) => name),
      stored: async () => ({ client: provider.client?.client_id, ...provider.stored }),
      end: () => sdk?.close(),
    };
  };
}
