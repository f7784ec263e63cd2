package config

import "github.com/parley-mcp/parley/auth/oauth"

// account says how the gateway logs in at a server.
type account struct{ b *Backend }

func (a *account) oneOf() (names []string, must bool) { return []string{"login", "client"}, true }

func (a *account) keys() []key {
	return []key{
		{
			name: "login", value: boolean{&a.b.Login}, example: "true",
			doc: `Use the login that "parley login" has stored for the URL. All clients of the gateway then act as this user.`,
		},
		{
			name: "client", value: maybe[credentials]{&a.b.client, func(into *credentials) value { return object{into} }},
			doc: "Get tokens as a program, without a user (OAuth client credentials).",
		},
	}
}

// credentials are those of a program.
type credentials struct {
	issuer, id string
	secret     Text
	scopes     []string
}

func (c *credentials) keys() []key {
	return []key{
		{name: "issuer", required: true, value: word{&c.issuer, isURL}, example: "https://login.example.com", doc: "The issuer identifier of the authorization server. The secret is sent nowhere else."},
		{name: "id", required: true, value: word{&c.id, notEmpty}, example: "gateway", doc: "The client ID."},
		{name: "secret", required: true, value: secret{&c.secret, notEmpty}, example: `"${file:/run/secrets/shop}"`, doc: "The client secret."},
		{name: "scopes", value: list[string]{&c.scopes, pattern, 0}, example: "[read]", doc: "The scopes to ask for, besides those that the server demands."},
	}
}

// Credentials are those of a program at an authorization server.
type Credentials struct {
	Issuer, ID string
	Secret     oauth.Secret
	Scopes     []string
}

// Credentials returns what the gateway gets tokens with as a program, with the secret as
// it is at this moment; nil if it does not.
func (b *Backend) Credentials() (*Credentials, error) {
	if b.client == nil {
		return nil, nil //nolint:nilnil // there are none
	}
	secret, err := b.client.secret.Reveal()
	if err != nil {
		return nil, err
	}
	return &Credentials{b.client.issuer, b.client.id, oauth.Secret(secret), b.client.scopes}, nil
}
