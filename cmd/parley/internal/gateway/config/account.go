package config

// account says how the gateway logs in at a server.
type account struct{ b *Backend }

func (a *account) oneOf() (names []string, must bool) {
	return []string{"login", "client", "exchange", "pass", "user"}, true
}

func (a *account) keys() []key {
	return []key{
		{
			name: "login", value: boolean{&a.b.Login}, example: "true",
			doc: `Use the login that "parley login" has stored for the URL. All clients of the gateway then act as this user.`,
		},
		{
			name: "client", value: maybe[program]{&a.b.client, func(into *program) value { return object{into} }},
			doc: "Get tokens as a program, without a user (OAuth client credentials).",
		},
		{
			name: "exchange", value: maybe[exchange]{&a.b.exchange, func(into *exchange) value { return object{into} }},
			doc: "Get a token for each user in exchange for the one that their client has for the gateway (RFC 8693), from the authorization server of the backend. Only with auth.issuer.",
		},
		{
			name: "pass", value: boolean{&a.b.Pass}, example: "true",
			doc: "Pass on the token that the client has for the gateway, if it is for the backend as well. Avoid it: whoever runs the backend can use the gateway, and all else that the token is for, as each of its users. Only with auth.issuer.",
		},
		{
			name: "audience", with: "pass", value: word{&a.b.PassAudience, notEmpty}, example: "https://shop.example",
			doc: "What tokens that are passed on must be for. The default is the URL of the backend.",
		},
		{
			name: "user", value: maybe[person]{&a.b.person, func(into *person) value { return object{into} }},
			doc: "Have each user log in at the backend, in a browser. {} is enough, as a rule. The gateway keeps their logins, as the key logins says.",
		},
	}
}

// identity is who a program is at an authorization server.
type identity struct {
	id, keyID   string
	secret, key Text
	public      bool // it may have neither
}

func (c *identity) oneOf() (names []string, must bool) { return []string{"secret", "key"}, !c.public }

func (c *identity) keys() []key {
	return []key{
		{name: "id", required: true, value: word{&c.id, notEmpty}, example: "gateway", doc: "The client ID."},
		{name: "secret", value: secret{&c.secret, notEmpty}, example: `"${file:/run/secrets/shop}"`, doc: "The client secret."},
		{name: "key", value: secret{&c.key, notEmpty}, example: `"${file:/run/secrets/key.pem}"`, doc: "A private key in PEM, with which the gateway signs assertions in place of a secret (private_key_jwt)."},
		{name: "key_id", with: "key", value: word{&c.keyID, notEmpty}, example: "2026-07", doc: "What the authorization server calls the key."},
	}
}

// registered is a program at an authorization server.
type registered struct {
	identity

	issuer string
}

func (p *registered) keys() []key {
	return append([]key{
		{name: "issuer", required: true, value: word{&p.issuer, isURL}, example: "https://login.example.com", doc: "The issuer identifier of the authorization server. Secrets and tokens are sent nowhere else."},
	}, p.identity.keys()...)
}

// program is a program that gets tokens from an authorization server.
type program struct {
	registered

	scopes []string
}

func (p *program) keys() []key { return append(p.registered.keys(), scopesOf(&p.scopes)) }

func scopesOf(into *[]string) key {
	return key{name: "scopes", value: list[string]{into, pattern, 0}, example: "[read]", doc: "The scopes to ask for, besides those that the server demands."}
}

// person says how users log in at a server.
type person struct {
	client *registered
	scopes []string
}

func (p *person) keys() []key {
	return []key{
		scopesOf(&p.scopes),
		{
			name: "client", value: maybe[registered]{&p.client, func(into *registered) value {
				into.public = true
				return object{into}
			}},
			doc: "What the gateway is at the authorization server of the backend, if it cannot register itself. Register it with the redirect URI /connect/NAME/callback at the gateway's public URL, where NAME is that of the backend.",
		},
	}
}

// exchange says how tokens are exchanged.
type exchange struct {
	program

	audience string
	actor    Text
	provider *provider
}

func (e *exchange) keys() []key {
	return append(
		e.program.keys(),
		key{name: "audience", value: word{&e.audience, notEmpty}, example: "shop", doc: "The name that the authorization server has for the backend, if its URL is not enough."},
		key{name: "actor", value: secret{&e.actor, notEmpty}, example: `"${file:/run/secrets/actor}"`, doc: "A token of the gateway itself, for authorization servers that want to know who acts for the user."},
		key{
			name: "provider", value: maybe[provider]{&e.provider, func(into *provider) value { return object{into} }},
			doc: "The identity provider of a company, which decides who may use the backend: the client's token is exchanged there for a grant (ID-JAG), for which the authorization server of the backend gives a token.",
		},
	)
}

// provider is an identity provider.
type provider struct {
	identity

	endpoint, issuer string
}

func (p *provider) keys() []key {
	return append([]key{
		{name: "token_endpoint", required: true, value: word{&p.endpoint, isURL}, example: "https://idp.example.com/token", doc: "Where it exchanges tokens."},
		{name: "issuer", value: word{&p.issuer, isURL}, example: "https://idp.example.com", doc: "Its issuer identifier; it is needed with a key."},
	}, p.identity.keys()...)
}
