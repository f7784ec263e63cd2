package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/mcp"
)

func age(t *testing.T, c *oauth.Client, by time.Duration) {
	t.Helper()
	if err := oauth.AgeForTest(t.Context(), c, by); err != nil {
		t.Fatal(err)
	}
}

func lastForm(w *world) url.Values {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.forms[len(w.forms)-1]
}

// A token that is about to expire is renewed first, by the same client and for
// the same resource.
func TestRefreshBeforeTheEnd(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	w.ok(c)
	age(t, c, 3600*time.Second-10*time.Second)
	w.ok(c)
	w.ok(c)
	w.wantCount("POST /mcp", 4)
	w.wantCount("POST /token", 2)
	w.wantCount("GET /authorize", 1)
	f := lastForm(w)
	if f.Get("grant_type") != "refresh_token" || f.Get("resource") != w.url || f.Get("client_id") != "client-1" {
		t.Errorf("refreshed with %v", f)
	}
}

// A token that is refused is renewed, too, and rotates: each refresh token is
// used once.
func TestRefreshAfterRefusal(t *testing.T) {
	w := newWorld(t)
	store := oauth.NewMemoryStore()
	with := func(o *oauth.Options) { o.Store = store }
	first, second := w.client(nil, with), w.client(nil, with)
	w.ok(first)
	w.ok(second)
	for range 3 {
		w.revokeAll()
		w.ok(first)
		w.ok(second) // finds what the first has stored
	}
	w.wantCount("GET /authorize", 1)
	w.wantCount("POST /token", 4)
}

func TestOneRefreshForAll(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	w.ok(c)
	w.revokeAll()
	results := make(chan error, 10)
	for range cap(results) {
		go func() { // ends with its request
			_, err := w.send(t.Context(), c, "")
			results <- err
		}()
	}
	for range cap(results) {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	w.wantCount("POST /token", 2)
	w.wantCount("GET /authorize", 1)
}

// A client that is not logged in finds the login of another process, and one
// that lacks scopes finds those that another process has obtained.
func TestLoginElsewhere(t *testing.T) {
	w := newWorld(t)
	w.perRequest = true
	store := oauth.NewMemoryStore()
	with := func(o *oauth.Options) { o.Store = store }
	first, second := w.client(nil, with), w.client(nil, with)
	if _, err := second.Token(t.Context()); !errors.Is(err, mcp.ErrUnauthorized) {
		t.Fatal(err)
	}
	w.ok(first)
	w.ok(second)
	w.wantCount("GET /authorize", 1)
	w.ok(first, "need=write")
	w.ok(second, "need=write")
	w.wantCount("GET /authorize", 2)
	// A token that has expired in the meantime is renewed.
	age(t, first, 2*time.Hour)
	w.revokeAll()
	w.ok(w.client(nil, with))
	w.wantCount("GET /authorize", 2)
}

// A refresh token that is no longer good means a new login, once.
func TestRefreshRefused(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	w.ok(c)
	w.set(func() { clear(w.valid); clear(w.refreshes) })
	w.ok(c)
	w.wantCount("GET /authorize", 2)
	w.wantCount("POST /register", 1)
	if got := w.asked[1].Get("scope"); got != "read" {
		t.Errorf("asked for %q", got)
	}
}

// An authorization server that is down is not a reason to ask the user.
func TestRefreshFails(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	w.ok(c)
	down := true
	w.token = func(url.Values) (int, doc) {
		if down {
			return http.StatusServiceUnavailable, doc{"error": "temporarily_unavailable"}
		}
		return 0, nil
	}
	age(t, c, 3600*time.Second-10*time.Second)
	w.ok(c) // it is valid for another ten seconds
	w.revokeAll()
	if _, err := w.get(c); !errors.Is(err, mcp.ErrUnauthorized) || !strings.Contains(err.Error(), "temporarily_unavailable") {
		t.Errorf("got %v", err)
	}
	w.wantCount("GET /authorize", 1)
	w.set(func() { down = false })
	w.ok(c)
	w.wantCount("GET /authorize", 1)
}

// If an authorization server is down, concurrent requests wait for one attempt
// to reach it, instead of one each.
func TestOneFailedRefreshForAll(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	w.ok(c)
	arrived, gate := make(chan struct{}, 100), make(chan struct{})
	w.asDocs["/token"] = func(rw http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-gate
		reply(rw, http.StatusServiceUnavailable, doc{"error": "temporarily_unavailable"})
	}
	age(t, c, 3600*time.Second-10*time.Second)
	results := make(chan error, 20)
	for range cap(results) {
		go func() { // ends with its token
			_, err := c.Token(t.Context())
			results <- err
		}()
	}
	<-arrived
	close(gate)
	for range cap(results) {
		if err := <-results; err != nil { // it is valid for another ten seconds
			t.Error(err)
		}
	}
	// Later requests try again, but those that were waiting mostly do not.
	if n := w.count("POST /token"); n > 5 {
		t.Errorf("%d requests for tokens, want the login's and one or a few more", n)
	}
}

// Without a refresh token, the user logs in again when the token has expired.
func TestNoRefreshToken(t *testing.T) {
	w := newWorld(t)
	w.noRefresh = true
	c := w.client(nil)
	w.ok(c)
	age(t, c, 3600*time.Second-10*time.Second)
	w.ok(c)
	w.wantCount("GET /authorize", 1)
	age(t, c, time.Minute)
	w.ok(c)
	w.wantCount("GET /authorize", 2)
}

// A token without an expiry is valid until it is refused; one that expires at
// once is not renewed for each request.
func TestLifetimes(t *testing.T) {
	for _, lifetime := range []any{nil, "3600", 20} {
		w := newWorld(t)
		w.expiresIn = lifetime
		c := w.client(nil)
		w.ok(c)
		w.ok(c)
		w.wantCount("POST /token", 1)
		if s := c.Status(t.Context()); s.Expires.IsZero() != (lifetime == nil) || !s.LoggedIn || !s.Renewable {
			t.Errorf("%v: %+v", lifetime, s)
		}
	}
}

// The next process finds the token.
func TestStoredToken(t *testing.T) {
	w := newWorld(t)
	store, err := oauth.NewFileStore(t.TempDir() + "/tokens")
	if err != nil {
		t.Fatal(err)
	}
	with := func(o *oauth.Options) { o.Store = store }
	w.ok(w.client(nil, with))
	c := w.client(nil, with)
	w.ok(c)
	w.wantCount("POST /mcp", 3)
	w.wantCount("GET /authorize", 1)
	tok, err := c.Token(t.Context())
	if err != nil || tok.Type != "Bearer" || !strings.HasPrefix(string(tok.Access), "secret-access") || !slices.Equal(tok.Scopes, []string{"read"}) {
		t.Errorf("%v, %v", tok, err)
	}
}

func TestLogout(t *testing.T) {
	w := newWorld(t)
	store := oauth.NewMemoryStore()
	c := w.client(nil, func(o *oauth.Options) { o.Store = store })
	w.ok(c)
	if err := c.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.revoked, []string{"refresh_token", "access_token"}) {
		t.Errorf("revoked %q", w.revoked)
	}
	if s := c.Status(t.Context()); s.LoggedIn || s.Issuer != "" {
		t.Errorf("status %+v", s)
	}
	if _, err := c.Token(t.Context()); !errors.Is(err, mcp.ErrUnauthorized) {
		t.Errorf("token: %v", err)
	}
	if err := c.Logout(t.Context()); err != nil {
		t.Errorf("again: %v", err)
	}
	w.ok(c)
	w.wantCount("GET /authorize", 2)
	w.wantCount("POST /register", 2)
}

// A token that cannot be revoked is still forgotten.
func TestLogoutFails(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	w.ok(c)
	w.asDocs["/revoke"] = func(rw http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		reply(rw, http.StatusServiceUnavailable, doc{"error": "server_error", "error_description": "no " + r.Form.Get("token")})
	}
	err := c.Logout(t.Context())
	if err == nil || strings.Contains(err.Error(), "secret-") || c.Status(t.Context()).LoggedIn {
		t.Errorf("got %v", err)
	}
}

// A request that is made while a logout is under way still finds the token in the store; once the
// logout is over, nobody has it.
func TestRequestDuringLogout(t *testing.T) {
	w := newWorld(t)
	store := &meddling{Store: oauth.NewMemoryStore(), before: func() {}}
	c := w.client(nil, func(o *oauth.Options) { o.Store = store })
	w.ok(c)
	store.before = sync.OnceFunc(func() { w.ok(c) })
	if err := c.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.wantCount("GET /authorize", 1)
	w.wantCount("POST /mcp", 4)
	if s := c.Status(t.Context()); s.LoggedIn {
		t.Errorf("status %+v", s)
	}
}

// meddling is a store in which something happens before each change.
type meddling struct {
	oauth.Store

	before func()
}

func (m *meddling) Update(ctx context.Context, key string, change func(context.Context, []byte) ([]byte, error)) error {
	m.before()
	return m.Store.Update(ctx, key, change)
}

func TestLoginForMore(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	if err := c.Login(t.Context(), "extra"); err != nil {
		t.Fatal(err)
	}
	if got := w.asked[0].Get("scope"); got != "read extra" {
		t.Errorf("asked for %q", got)
	}
	w.ok(c)
	w.wantCount("GET /authorize", 1)
}

// A token is renewed whenever somebody asks for it, even one that was renewed just now.
func TestRefreshOnDemand(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	if err := c.Refresh(t.Context()); !errors.Is(err, mcp.ErrUnauthorized) {
		t.Errorf("without a login: %v", err)
	}
	w.ok(c)
	for range 2 {
		if err := c.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.ok(c)
	w.wantCount("POST /token", 3)
	w.wantCount("GET /authorize", 1)
}
