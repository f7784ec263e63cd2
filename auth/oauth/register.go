package oauth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
)

// registration is how an authorization server knows this client.
type registration struct {
	Credentials
	redirects []string       // the redirect URIs it is for; nil if they are not known
	dynamic   *dynamicClient // nil if it was not registered dynamically
}

// dynamicClient is a dynamic registration, as it is stored.
type dynamicClient struct {
	ClientID  string    `json:"clientId"`
	Secret    string    `json:"clientSecret,omitempty"`
	Method    string    `json:"authMethod"`
	Expires   time.Time `json:"secretExpires,omitzero"`
	Redirects []string  `json:"redirectUris,omitempty"`
}

// usable reports whether the registration is still valid, and covers a redirect
// URI.
func (s *dynamicClient) usable(redirect string) bool {
	return s.ClientID != "" && (s.Expires.IsZero() || time.Until(s.Expires) > time.Minute) &&
		(redirect == "" || slices.Contains(s.Redirects, redirect))
}

func (s *dynamicClient) registration() registration {
	return registration{Credentials{ClientID: s.ClientID, Secret: Secret(s.Secret), AuthMethod: s.Method}, s.Redirects, s}
}

// registered returns how an authorization server already knows this client, in
// order of preference; false if it does not.
//
// Spec: 2026-07-28 basic/authorization/client-registration (1, 2).
func (c *Client) registered(ctx context.Context, m *serverMetadata) (registration, bool) {
	if client, ok := c.opts.preRegistered(m.Issuer); ok {
		return registration{Credentials: client}, true
	}
	if c.opts.ClientMetadataURL != "" && m.ClientIDMetadata {
		return registration{Credentials: Credentials{ClientID: c.opts.ClientMetadataURL, AuthMethod: AuthNone}}, true
	}
	s, err := c.storedRegistration(ctx, m.Issuer)
	if err != nil || !s.usable("") {
		return registration{}, false
	}
	return s.registration(), true
}

func (c *Client) storedRegistration(ctx context.Context, issuer string) (dynamicClient, error) {
	var s dynamicClient
	value, err := c.store.Load(ctx, clientKey(issuer))
	if err != nil || value == nil {
		return s, err
	}
	return s, wire.Unmarshal(value, &s)
}

// register returns how an authorization server knows this client, registering
// it if necessary. redirect is the redirect URI of the response, or "" if there
// will be none.
//
// Spec: 2026-07-28 basic/authorization/client-registration#dynamic-client-registration.
func (c *Client) register(ctx context.Context, m *serverMetadata, redirect string) (registration, error) {
	known, ok := c.registered(ctx, m)
	if ok && (known.dynamic == nil || redirect == "" || slices.Contains(known.redirects, redirect)) {
		return known, nil
	}
	if m.RegistrationEndpoint == "" {
		return registration{}, c.cannotRegister(m)
	}
	// Spec: 2026-07-28 basic/authorization/client-registration#authorization-server-binding.
	if len(c.opts.PreRegistered) > 0 {
		c.opts.Logger.WarnContext(ctx, "no client ID is known for this authorization server; registering", "issuer", m.Issuer, "known", slices.Sorted(maps.Keys(c.opts.PreRegistered)))
	}
	var made dynamicClient
	err := c.store.Update(ctx, clientKey(m.Issuer), func(ctx context.Context, value []byte) ([]byte, error) {
		// Another process may have registered first.
		if value != nil && wire.Unmarshal(value, &made) == nil && made.usable(redirect) {
			return value, nil
		}
		var err error
		if made, err = c.registerNow(ctx, m, redirect); err != nil {
			return nil, err
		}
		return wire.Marshal(&made)
	})
	return made.registration(), err
}

// cannotRegister returns an error that says what the user can do.
//
// Spec: 2026-07-28 basic/authorization/client-registration (4).
func (c *Client) cannotRegister(m *serverMetadata) error {
	s := fmt.Sprintf("the authorization server %q does not register clients automatically: register this program there, and enter the client ID that it gets (Options.PreRegistered)", m.Issuer)
	if len(c.opts.PreRegistered) > 0 {
		s += fmt.Sprintf("; there are client IDs for %q only", slices.Sorted(maps.Keys(c.opts.PreRegistered)))
	}
	return errors.New(s)
}

// forget drops a dynamic registration that the authorization server no longer
// knows, so that the next authorization registers anew.
func (c *Client) forget(ctx context.Context, issuer, clientID string) {
	err := c.store.Update(ctx, clientKey(issuer), func(_ context.Context, value []byte) ([]byte, error) {
		var s dynamicClient
		if value == nil || wire.Unmarshal(value, &s) == nil && s.ClientID != clientID {
			return value, nil
		}
		return nil, nil
	})
	if err != nil {
		c.opts.Logger.WarnContext(ctx, "a registration could not be forgotten", "issuer", issuer, "error", err)
	}
}

const (
	typeNative = "native"
	typeWeb    = "web"
)

// applicationType is native for redirect URIs on this machine.
//
// Spec: 2026-07-28 basic/authorization/client-registration#application-type-and-redirect-uri-constraints.
func (c *Client) applicationType(redirect string) string {
	if c.opts.Metadata.ApplicationType != "" {
		return c.opts.Metadata.ApplicationType
	}
	if u, err := url.Parse(redirect); err == nil && u.Scheme == "https" && !isLoopback(u) {
		return typeWeb
	}
	return typeNative
}
