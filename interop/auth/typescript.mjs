// The official TypeScript clients, with a provider that keeps what it is given
// in memory and has a user follow authorization URLs. `ask` is the user: it takes
// a URL, and returns where the browser ends.

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
  return async ({ url, ...parts }) => {
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

    return {
      connect: () =>
        loggedIn(async () => {
          // A transport that failed to start cannot be started again.
          const previous = transport;
          transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
          if (previous) await previous.close();
          sdk = new Client(identity, generation === 1 ? {} : { versionNegotiation: { mode: "auto" } });
          await sdk.connect(transport);
        }),
      call: (tool, args) =>
        loggedIn(async () => {
          const result = await sdk.callTool({ name: tool, arguments: args });
          return result.content.map(({ text }) => text).join("\n");
        }),
      stored: async () => ({ client: provider.client?.client_id, ...provider.stored }),
      end: () => sdk?.close(),
    };
  };
}
