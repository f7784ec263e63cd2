package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"github.com/parley-mcp/parley/internal/dpop"
)

// errCannotRenew says that a new token requires a new authorization.
var errCannotRenew = errors.New("the token cannot be renewed without a new authorization")

// renewed returns a token without asking the user: one that another process has
// stored in the meantime, or one obtained with the refresh token. old is the
// token of this process, or nil. A token that was refused when it was new is
// not renewed, and additional scopes take more than a refresh.
func (c *Client) renewed(ctx context.Context, old *credential, n need) (*credential, error) {
	since := c.since()
	other := c.stored(ctx)
	if other != nil && (old == nil || other.Access != old.Access) {
		if !other.endsWithin(c.opts.Leeway) && (!n.stepUp || covers(other.Granted, n.scopes)) {
			c.reuse(other, since)
			return other, nil
		}
		old = other
	}
	if old == nil || n.stepUp || old.Refresh == "" || old.refreshed && old.unproven.Load() && !n.anyway {
		return nil, errCannotRenew
	}
	return c.refresh(ctx, old, since)
}

// refresh uses the refresh token, once: anybody else who has it waits, and
// finds the new token.
func (c *Client) refresh(ctx context.Context, old *credential, since int) (*credential, error) {
	var fresh *credential
	var refused error
	asked := false
	storing := c.store.Update(ctx, tokenKey(old.Issuer, old.Resource), func(ctx context.Context, value []byte) ([]byte, error) {
		if value == nil {
			return nil, errCannotRenew // logged out
		}
		now, err := decodeCredential(value)
		if err != nil {
			return nil, err
		}
		if now.Access != old.Access && !now.endsWithin(c.opts.Leeway) {
			fresh = now
			return value, nil
		}
		asked = true
		next, err := c.requestRefresh(ctx, now)
		if isFinal(err) {
			refused, now.Refresh = err, ""
			return now.encode()
		}
		if err != nil {
			return nil, err
		}
		fresh = next
		return fresh.encode()
	})
	switch {
	case fresh == nil && !asked: // the store failed; the user can log in again
		return nil, fmt.Errorf("%w: %w", errCannotRenew, storing)
	case fresh == nil:
		c.disowned(ctx, old, refused)
		return nil, errors.Join(refused, storing)
	}
	if storing != nil {
		c.opts.Logger.WarnContext(ctx, "the token is good for this process only", "error", storing)
	}
	c.reuse(fresh, since)
	return fresh, nil
}

// disowned drops the registration that a token was issued to if its refresh was
// refused because the authorization server no longer knows the client. It would
// not respond to an unknown client, so the user must not be sent there.
func (c *Client) disowned(ctx context.Context, t *credential, refused error) {
	var r *ResponseError
	if t.Client != nil && errors.As(refused, &r) && r.Code == "invalid_client" {
		c.forget(ctx, t.Issuer, t.ClientID)
	}
}

// requestRefresh sends the refresh token to the server that issued it.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#token-audience-binding-and-validation.
func (c *Client) requestRefresh(ctx context.Context, old *credential) (*credential, error) {
	if old.Refresh == "" {
		return nil, errCannotRenew
	}
	client, ok := c.clientOf(&old.record)
	if !ok {
		return nil, fmt.Errorf("%w: the client that it was given to is no longer registered", errCannotRenew)
	}
	params := url.Values{"grant_type": {grantRefresh}, "refresh_token": {old.Refresh}, "resource": {old.Resource}}
	r := tokenRequest{"refresh", old.Issuer, old.Endpoints, client, params, old.key}
	t, err := r.do(ctx, c)
	if err != nil {
		return nil, err
	}
	c.opts.Logger.DebugContext(ctx, "refreshed the token", "issuer", old.Issuer, "resource", old.Resource)
	fresh := old.after(t)
	if err := fresh.checkType(); err != nil {
		return nil, err
	}
	return fresh, nil
}

// after returns the credential updated with the token of a refresh.
func (c *credential) after(t *oauth2.Token) *credential {
	next := &credential{record: c.record, key: c.key, refreshed: true}
	next.Access, next.Type, next.Refresh, next.Expires, next.Obtained = t.AccessToken, t.TokenType, t.RefreshToken, t.Expiry, time.Now()
	next.Granted = granted(t, c.Granted)
	next.unproven.Store(true)
	return next
}

// clientOf returns the client that a token was issued to; no other client could
// use it. It is stored with the token, because the registration may have been
// replaced since.
func (c *Client) clientOf(r *record) (Credentials, bool) {
	if client, ok := c.opts.preRegistered(r.Issuer); ok && client.ClientID == r.ClientID {
		return client, true
	}
	if r.Client != nil {
		return r.Client.registration().Credentials, r.Client.usable("")
	}
	return Credentials{ClientID: r.ClientID, AuthMethod: AuthNone}, r.ClientID != "" && r.ClientID == c.opts.ClientMetadataURL
}

// bind gives an attempt a key, if its token is to be bound to one.
func (c *Client) bind(a *attempt, demanded bool) error {
	if !c.opts.DPoP && !demanded {
		return nil
	}
	if algs := a.server.DPoPAlgs; len(algs) > 0 && !slices.Contains(algs, "ES256") {
		return fmt.Errorf("the authorization server %q takes DPoP proofs signed with %q, not with ES256", a.server.Issuer, algs)
	}
	var err error
	a.key, err = dpop.NewKey()
	return err
}
