package config

import (
	"errors"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
)

// Credentials are those of a program at an authorization server.
type Credentials struct {
	Issuer string
	Client oauth.Credentials
	Scopes []string
}

// Exchange says how the tokens of clients are exchanged for some for a server.
type Exchange struct {
	Credentials

	// Audience is the authorization server's name of the server, or "".
	Audience string
	// Actor is a token of the gateway itself, or "".
	Actor oauth.Secret
	// Provider is asked first; nil for none.
	Provider *Provider
}

// Provider is the identity provider of a company.
type Provider struct {
	TokenEndpoint, Issuer string
	Client                oauth.Credentials
}

// Credentials returns what the gateway gets tokens with as a program, with secrets as
// they are at this moment; nil if it does not.
func (b *Backend) Credentials() (*Credentials, error) {
	if b.client == nil {
		return nil, nil //nolint:nilnil // there are none
	}
	return b.client.credentials()
}

// Exchange returns how tokens are exchanged, with secrets as they are at this moment; nil
// if they are not.
func (b *Backend) Exchange() (*Exchange, error) {
	if b.exchange == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	own, err := b.exchange.credentials()
	actor, failed := b.exchange.actor.Reveal()
	made := &Exchange{*own, b.exchange.audience, oauth.Secret(actor), nil}
	err = errors.Join(err, failed)
	if p := b.exchange.provider; p != nil {
		client, failed := p.reveal()
		made.Provider = &Provider{p.endpoint, p.issuer, client}
		err = errors.Join(err, failed)
	}
	return made, err
}

// Personal reports whether the server gets another token for each user of the gateway.
func (b *Backend) Personal() bool { return b.NeedsTokens() || b.person != nil }

// NeedsTokens reports whether the gateway needs the tokens of its clients for the server.
func (b *Backend) NeedsTokens() bool { return b.exchange != nil || b.Pass }

// Person says how users log in at a server.
type Person struct {
	Scopes []string
	// PreRegistered is what the gateway is at authorization servers, by their issuers.
	PreRegistered map[string]oauth.Credentials
}

// Person returns how users log in at the server themselves, with secrets as they are at
// this moment; nil if they do not.
func (b *Backend) Person() (*Person, error) {
	if b.person == nil {
		return nil, nil //nolint:nilnil // they do not
	}
	p := &Person{Scopes: b.person.scopes}
	if b.person.client == nil {
		return p, nil
	}
	client, err := b.person.client.reveal()
	p.PreRegistered = map[string]oauth.Credentials{b.person.client.issuer: client}
	return p, err
}

// LogsIn says how the gateway logs in at the server; "" if the file says nothing of that.
func (b *Backend) LogsIn() string {
	switch {
	case b.client != nil:
		return "as the program " + b.client.id + " of " + b.client.issuer
	case b.exchange != nil:
		return "as each user, with tokens of " + b.exchange.issuer + " in exchange for those of clients"
	case b.Pass:
		return "as each user, with the tokens of clients"
	case b.person != nil:
		return "as each user, who logs in there in a browser"
	case b.Login && b.entry == nil:
		return `as the user of "parley login"`
	}
	return ""
}

// ofUsers is an account of each user of the gateway, if its section says so.
type ofUsers struct {
	object

	b *Backend
}

func (v ofUsers) read(r *reader, n *yaml.Node, at where) {
	v.object.read(r, n, at)
	r.later = append(r.later, func() {
		switch {
		case !v.b.Personal():
		case v.b.Share == bridge.ShareAll:
			r.fault(n, at, "with this, each user has a token of their own, and so needs a connection of their own; it does not go with share: all")
		case v.b.NeedsTokens() && v.b.in.Auth.Issuer == nil:
			v.b.in.warn(r.mistake(n.Line, n.Column, at, errors.New("without auth.issuer (or --auth) clients of the gateway have no tokens that it could use")))
		}
	})
}

// accountTexts are what may be secret in how the gateway logs in.
func (b *Backend) accountTexts() (texts []Text) {
	if b.client != nil {
		texts = b.client.texts()
	}
	if b.person != nil && b.person.client != nil {
		texts = b.person.client.texts()
	}
	if b.exchange != nil {
		texts = append(b.exchange.texts(), b.exchange.actor)
		if b.exchange.provider != nil {
			texts = append(texts, b.exchange.provider.texts()...)
		}
	}
	return texts
}

// accountParts tell one way to log in from another, with secrets as they are at this
// moment.
func (b *Backend) accountParts() (parts []any, err error) {
	parts = []any{b.Login, b.Pass, b.PassAudience}
	if b.client != nil {
		parts = append(append(parts, b.client.scopes), b.client.parts()...)
	}
	if p := b.person; p != nil {
		parts = append(parts, "each", p.scopes)
		if p.client != nil {
			parts = append(parts, p.client.parts()...)
		}
	}
	if e := b.exchange; e != nil {
		parts = append(append(parts, e.audience, e.scopes), e.parts()...)
		if p := e.provider; p != nil {
			parts = append(parts, p.endpoint, p.issuer, p.id, p.keyID)
		}
	}
	for _, t := range b.accountTexts() {
		text, failed := t.Reveal()
		err = errors.Join(err, failed)
		parts = append(parts, text)
	}
	_, broken := b.Credentials()
	_, damaged := b.Exchange()
	_, wrong := b.Person()
	return parts, errors.Join(err, broken, damaged, wrong)
}

// credentials returns what a program has, with secrets as they are at this moment.
func (p *program) credentials() (*Credentials, error) {
	client, err := p.reveal()
	return &Credentials{p.issuer, client, p.scopes}, err
}

// parts tell one program from another, but for its secrets.
func (p *registered) parts() []any { return []any{p.issuer, p.id, p.keyID} }

// reveal returns the identity, with what is secret as it is at this moment.
func (c *identity) reveal() (oauth.Credentials, error) {
	secret, err := c.secret.Reveal()
	made := oauth.Credentials{ClientID: c.id, Secret: oauth.Secret(secret)}
	if err != nil || c.key.IsZero() {
		return made, err
	}
	pem, err := c.key.Reveal()
	if err == nil {
		if made.Key, err = oauth.ParseSigningKey("", []byte(pem), c.keyID); err != nil {
			err = c.key.fault(err)
		}
	}
	return made, err
}

// texts are what may be secret.
func (c *identity) texts() []Text { return []Text{c.secret, c.key} }
