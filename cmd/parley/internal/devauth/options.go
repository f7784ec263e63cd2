package devauth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// offlineAccess is the scope that stands for a refresh token.
//
// Spec: 2026-07-28 basic/authorization#refresh-tokens.
const offlineAccess = "offline_access"

// Options configures a Server. It must not be changed once it is in use.
type Options struct {
	// Issuer is the origin at which the server is reached, for example
	// "http://127.0.0.1:7331".
	Issuer string
	// Resources are the canonical URIs of the MCP servers that tokens can be
	// for. A client that names none, as clients of 2025-03-26 do, means the
	// first.
	Resources []string
	// Users are the passwords of the users, by name. The name is the subject of
	// their tokens.
	Users map[string]string
	// Scopes are the scopes that can be granted, with a description for the
	// user. The server adds offline_access, which stands for a refresh token; a
	// client that registers the grant type refresh_token asks for it
	// implicitly. A client that requests no scope is taken to request all of
	// Scopes.
	Scopes map[string]string
	// Clients are clients that need no registration.
	Clients []Client

	// AccessLifetime is how long an access token is good, in whole seconds. 0
	// means 5 minutes.
	AccessLifetime time.Duration
	// RefreshLifetime is how long a refresh token is good. Each can be used
	// once, and is then replaced by a new one. 0 means 24 hours.
	RefreshLifetime time.Duration
	// CodeLifetime is how long an authorization code is good. 0 means 1 minute.
	CodeLifetime time.Duration
	// LoginLifetime is how long a browser stays logged in. 0 means 12 hours.
	LoginLifetime time.Duration
	// MaxClients bounds the clients that register. When there are more, the
	// least recently used ones are forgotten. 0 means 1,000.
	MaxClients int
	// DPoPNonces makes the server demand nonces in the DPoP proofs of clients
	// that send such proofs.
	DPoPNonces bool

	// HTTPClient fetches Client ID Metadata Documents and the keys of clients.
	// nil means a client that reaches only public addresses over https.
	HTTPClient *http.Client
	// Logger logs what happens; nil means that nothing is logged. Secrets are
	// never logged.
	Logger *slog.Logger
}

// Client is a client that the server knows from the start.
type Client struct {
	// ID is its client_id.
	ID string
	// Name is the name that users are shown. "" means the ID.
	Name string
	// Secret authenticates it (client_secret_basic, client_secret_post). With
	// neither Secret nor Keys, it is a public client.
	Secret string
	// Keys authenticate it instead (private_key_jwt).
	Keys *jose.JSONWebKeySet
	// RedirectURIs are where users may be sent back to. The port of a loopback
	// redirect URI does not matter.
	RedirectURIs []string
	// Scopes are those that it may have for itself, with the grant
	// client_credentials; nil means that it may not use that grant.
	Scopes []string
	// Introspect lets it ask about the tokens of other clients, as a resource
	// server does.
	Introspect bool
	// Exchange is the resource that the client is: it may have tokens for it exchanged
	// for tokens for other resources (RFC 8693). "" means that it may not.
	Exchange string
}

func (o *Options) complete() error {
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || o.Issuer != u.Scheme+"://"+strings.ToLower(u.Host) || u.Host == "" {
		return fmt.Errorf("issuer %q: an origin such as http://127.0.0.1:7331 is required, in lower case and without a path", o.Issuer)
	}
	if len(o.Resources) == 0 {
		return errors.New("an authorization server needs a resource to give access to")
	}
	if len(o.Scopes) == 0 {
		return errors.New("an authorization server needs a scope to grant")
	}
	for name, password := range o.Users {
		if name == "" || password == "" {
			return fmt.Errorf("user %q: a name and a password are needed", name)
		}
	}
	for name := range o.Scopes {
		if !validScope(name) || name == offlineAccess {
			return fmt.Errorf("scope %q: a name of visible ASCII without quotes and backslashes is needed, other than %s", name, offlineAccess)
		}
	}
	o.defaults()
	return nil
}

func (o *Options) defaults() {
	o.AccessLifetime = max(orDefault(o.AccessLifetime, 5*time.Minute).Truncate(time.Second), time.Second)
	o.RefreshLifetime = orDefault(o.RefreshLifetime, 24*time.Hour)
	o.CodeLifetime = orDefault(o.CodeLifetime, time.Minute)
	o.LoginLifetime = orDefault(o.LoginLifetime, 12*time.Hour)
	o.MaxClients = orDefault(o.MaxClients, 1000)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

func orDefault[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}
