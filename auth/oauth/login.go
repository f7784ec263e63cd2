package oauth

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/challenge"
	"github.com/parley-mcp/parley/internal/scope"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Token is an access token. Logs do not show it.
type Token struct {
	// Access is the token, and Type how it is sent: "Bearer" or "DPoP".
	Access Secret
	Type   string
	// Expires is when the token expires; zero means that the server did not
	// say.
	Expires time.Time
	// Scopes are the granted scopes.
	Scopes []string
}

// LogValue implements slog.LogValuer.
func (t Token) LogValue() slog.Value {
	return slog.GroupValue(slog.String("type", t.Type), slog.Time("expires", t.Expires), slog.Any("scopes", t.Scopes))
}

// Status is what is known of a login.
type Status struct {
	// LoggedIn says that there is a token that is valid or can be renewed.
	LoggedIn bool
	// Issuer is the authorization server, Resource what the token is for, and
	// ClientID the identifier of this program at the authorization server.
	Issuer, Resource, ClientID string
	// Scopes are the granted scopes, and Requested those that were requested.
	Scopes, Requested []string
	// Expires is when the access token expires; zero means that the server did
	// not say.
	Expires time.Time
	// Renewable says that the token can be renewed without the user.
	Renewable bool
	// DPoP says that the token is bound to a key.
	DPoP bool
}

// Status returns what is known of the login, without asking any server.
func (c *Client) Status(ctx context.Context) Status {
	t := c.token(ctx)
	if t == nil {
		return Status{}
	}
	renewable := t.Refresh != "" || !c.opts.Grant.interactive()
	return Status{
		LoggedIn: renewable || !t.endsWithin(0), Issuer: t.Issuer, Resource: t.Resource, ClientID: t.ClientID,
		Scopes: t.Granted, Requested: t.Requested, Expires: t.Expires, Renewable: renewable, DPoP: t.bound(),
	}
}

// Token returns a token that will stay valid for a while, renewed if necessary.
// If there is none, a grant without a user obtains one; with a grant that needs
// the user, the error wraps mcp.ErrUnauthorized, and Login must be called.
func (c *Client) Token(ctx context.Context) (Token, error) {
	t, err := c.ready(ctx)
	if err != nil {
		return Token{}, err
	}
	if t == nil && !c.opts.Grant.interactive() {
		if t, err = c.acquire(ctx, need{renew: true}); err != nil {
			return Token{}, err
		}
	}
	if t == nil {
		return Token{}, fmt.Errorf("%w: not logged in to %s", mcp.ErrUnauthorized, c.server.Redacted())
	}
	kind := "Bearer"
	if t.bound() {
		kind = "DPoP"
	}
	return Token{Secret(t.Access), kind, t.Expires, t.Granted}, nil
}

// Login gets a new token, even if there is one, and stores it. It asks for
// scopes in addition to those that the server demands. With a grant that needs
// the user, it returns when the user has decided. Errors wrap
// mcp.ErrUnauthorized.
func (c *Client) Login(ctx context.Context, scopes ...string) error {
	demand, challenged, err := c.probe(ctx)
	if err != nil {
		return err
	}
	_, err = c.acquire(ctx, need{
		scopes: scope.Union(split(demand.Get("scope")), scopes), metadata: demand.Get("resource_metadata"), challenged: challenged, login: true,
	})
	return err
}

// Refresh renews the token with the refresh token, even if it would be valid for longer.
// It never asks the user; the error says why there is no new token.
func (c *Client) Refresh(ctx context.Context) error {
	t := c.token(ctx)
	if t == nil {
		return fmt.Errorf("%w: not logged in to %s", mcp.ErrUnauthorized, c.server.Redacted())
	}
	_, err := c.acquire(ctx, need{stale: t, renew: true, anyway: true})
	return err
}

// probe asks the server for its challenge, in both ways in which transports
// begin: some servers know only one of them. If the server cannot be reached,
// the next step fails.
func (c *Client) probe(ctx context.Context) (*challenge.Challenge, bool, error) {
	for _, try := range []struct{ method, body string }{{http.MethodGet, ""}, {http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`}} {
		req, err := http.NewRequestWithContext(ctx, try.method, c.server.String(), strings.NewReader(try.body))
		if err != nil {
			return nil, false, err
		}
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Content-Type", "application/json")
		resp, err := c.http.Do(req)
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		if err != nil {
			continue
		}
		_ = resp.Body.Close() // the status is enough, and a stream would not end
		if resp.StatusCode != http.StatusUnauthorized {
			continue
		}
		demand, ok := demandOf(resp, false)
		if !ok {
			return nil, false, fmt.Errorf("%w: %s demands another kind of authorization than OAuth", mcp.ErrUnauthorized, c.server.Redacted())
		}
		return demand, true, nil
	}
	return &challenge.Challenge{}, false, nil
}

// Logout revokes the tokens, if the authorization server supports that (RFC
// 7009), and forgets them and the registration. They are forgotten even if
// revoking fails, which is then the error.
func (c *Client) Logout(ctx context.Context) error {
	t := c.token(ctx)
	c.drop()
	defer c.drop()
	if t == nil {
		t = c.stored(ctx)
	}
	if t == nil {
		return replace(ctx, c.store, serverKey(c.opts.URL), nil)
	}
	var revoking error
	err := c.store.Update(ctx, tokenKey(t.Issuer, t.Resource), func(ctx context.Context, value []byte) ([]byte, error) {
		if now, err := decodeCredential(value); err == nil {
			t = now // another process may have refreshed it
		}
		revoking = c.revoke(ctx, t)
		return nil, nil
	})
	for _, key := range []string{serverKey(c.opts.URL), clientKey(t.Issuer)} {
		if removing := replace(ctx, c.store, key, nil); err == nil {
			err = removing
		}
	}
	if err == nil {
		err = revoking
	}
	return err
}

// revoke revokes the tokens at the authorization server. The refresh token
// comes first: many servers then revoke its access tokens as well.
func (c *Client) revoke(ctx context.Context, t *credential) error {
	if t.Endpoints.Revocation == "" {
		return nil
	}
	client, ok := c.clientOf(&t.record)
	if !ok {
		return fmt.Errorf("revocation: %s no longer knows the client that the token was given to", t.Issuer)
	}
	for _, token := range []struct{ value, hint string }{{t.Refresh, "refresh_token"}, {t.Access, "access_token"}} {
		if token.value == "" {
			continue
		}
		if err := c.revokeOne(ctx, t, client, url.Values{"token": {token.value}, "token_type_hint": {token.hint}}); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) revokeOne(ctx context.Context, t *credential, client Credentials, params url.Values) error {
	r := tokenRequest{"revocation", t.Issuer, t.Endpoints, client, params, nil}
	req, err := r.plainRequest(ctx, t.Endpoints.Revocation)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return requestError("revocation at "+t.Issuer, err)
	}
	defer discard(resp)
	if resp.StatusCode/100 == 2 {
		return nil
	}
	var e errorResponse
	if body, err := c.read(resp.Body); err == nil {
		_ = wire.Unmarshal(body, &e) // the status is enough without it
	}
	return &ResponseError{"revocation", t.Issuer, resp.StatusCode, plain(e.Code, params.Get("token")), plain(e.Description, params.Get("token"))}
}
