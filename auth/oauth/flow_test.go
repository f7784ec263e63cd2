package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/internal/waiting"
	"github.com/parley-mcp/parley/mcp"
)

// A whole login, and everything that the servers have to be sent on the way.
func TestLogin(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	w.ok(c)
	w.ok(c)
	if len(w.asked) != 1 || len(w.forms) != 1 || len(w.registered) != 1 {
		t.Fatalf("asked %d times, %d token requests, %d registrations", len(w.asked), len(w.forms), len(w.registered))
	}
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "client-1", "code_challenge_method": "S256", "resource": w.url,
		"scope": "read", "redirect_uri": "http://127.0.0.1:7777/callback", "tenant": "a&b",
	} {
		if got := w.asked[0].Get(name); got != want {
			t.Errorf("authorization request: %s is %q, want %q", name, got, want)
		}
	}
	if len(w.asked[0].Get("state")) < 20 || len(w.asked[0].Get("code_challenge")) != 43 {
		t.Errorf("authorization request: %v", w.asked[0])
	}
	if got := w.forms[0].Get("resource"); got != w.url {
		t.Errorf("token request: resource %q", got)
	}
	r := w.registered[0]
	if r["application_type"] != "native" || r["client_name"] != "Test" || r["token_endpoint_auth_method"] != "none" {
		t.Errorf("registration: %v", r)
	}
	if types, _ := r["grant_types"].([]any); !slices.Contains(types, any("refresh_token")) {
		t.Errorf("registration: %v", r)
	}
	if !slices.Equal(w.bodies, []string{"there", "there", "there"}) {
		t.Errorf("bodies: %q", w.bodies)
	}
}

// Another origin never sees the token, and a request that has credentials keeps
// them.
func TestTokenStaysHome(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	w.ok(c)
	other := newWorld(t)
	hc := &http.Client{Transport: c.Transport(&http.Transport{DisableKeepAlives: true})}
	resp, err := hc.Get(other.url)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
	if got := other.heads[0].Get("Authorization"); got != "" || len(other.requests) != 1 {
		t.Errorf("the other origin got %q; %q", got, other.requests)
	}
	req, _ := http.NewRequest(http.MethodGet, w.url, nil)
	req.Header.Set("Authorization", "Bearer mine")
	if resp, err = hc.Do(req); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
	if got := w.heads[len(w.heads)-1].Get("Authorization"); got != "Bearer mine" {
		t.Errorf("the server got %q", got)
	}
}

// A body that cannot be read again is not sent partially.
func TestUnrepeatableBody(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	hc := &http.Client{Transport: c.Transport(&http.Transport{DisableKeepAlives: true})}
	req, _ := http.NewRequest(http.MethodPost, w.url, struct{ *strings.Reader }{strings.NewReader("once")})
	resp, err := hc.Do(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
	if len(w.bodies) != 1 || len(w.asked) != 0 {
		t.Errorf("bodies %q, asked %d times", w.bodies, len(w.asked))
	}
}

// All requests wait for one login, and giving up on one does not end it.
func TestOneLoginForAll(t *testing.T) {
	w := newWorld(t)
	u := &user{wait: make(chan struct{}), begun: make(chan struct{}, 1)}
	c := w.client(u)
	var waited, ended atomic.Int32
	var begun sync.WaitGroup
	ctx := waiting.With(t.Context(), func() func() {
		waited.Add(1)
		begun.Done()
		return func() { ended.Add(1) }
	})
	const n = 10
	begun.Add(n)
	impatient, giveUp := context.WithCancel(ctx)
	results := make(chan error, n)
	for i := range n {
		go func() { // ends with its request
			own := ctx
			if i == 0 {
				own = impatient
			}
			_, err := w.send(own, c, "")
			results <- err
		}()
	}
	<-u.begun
	begun.Wait()
	giveUp()
	if err := <-results; !errors.Is(err, context.Canceled) {
		t.Errorf("the impatient one got %v", err)
	}
	close(u.wait)
	for range n - 1 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	w.wantCount("GET /authorize", 1)
	w.wantCount("POST /token", 1)
	if waited.Load() != n || ended.Load() != n {
		t.Errorf("%d began to wait, %d ended", waited.Load(), ended.Load())
	}
}

// A user who has declined is not asked again, until they want to log in.
func TestDeclined(t *testing.T) {
	w := newWorld(t)
	declines := true
	u := &user{change: func(v url.Values) {
		if declines {
			v.Del("code")
			v.Set("error", "access_denied")
			v.Set("error_description", "The user\x1b[31m said no")
		}
	}}
	c := w.client(u)
	_, first := w.get(c)
	var refused *oauth.ResponseError
	if !errors.Is(first, mcp.ErrUnauthorized) || !errors.As(first, &refused) || refused.Code != "access_denied" || strings.Contains(first.Error(), "\x1b") {
		t.Errorf("got %v", first)
	}
	_, second := w.get(c)
	if !errors.As(second, &refused) || refused.Code != "access_denied" {
		t.Errorf("the second time: %v", second)
	}
	w.wantCount("GET /authorize", 1)
	declines = false
	if err := c.Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.ok(c)
	w.wantCount("GET /authorize", 2)
}

func TestCooldownEnds(t *testing.T) {
	w := newWorld(t)
	c := w.client(&user{change: func(v url.Values) { v.Set("error", "access_denied") }}, func(o *oauth.Options) { o.Cooldown = time.Nanosecond })
	for range 2 {
		if _, err := w.get(c); !errors.Is(err, mcp.ErrUnauthorized) {
			t.Errorf("got %v", err)
		}
	}
	w.wantCount("GET /authorize", 2)
}

// A flow ends after its timeout, and with Close.
func TestFlowEnds(t *testing.T) {
	w := newWorld(t)
	c := w.client(&user{wait: make(chan struct{})}, func(o *oauth.Options) { o.FlowTimeout = 50 * time.Millisecond })
	if _, err := w.get(c); !errors.Is(err, mcp.ErrUnauthorized) || !strings.Contains(err.Error(), "longer than 50ms") {
		t.Errorf("got %v", err)
	}
	u := &user{wait: make(chan struct{}), begun: make(chan struct{}, 1)}
	c = w.client(u)
	done := make(chan error, 1)
	go func() { // ends with its request
		_, err := w.send(t.Context(), c, "")
		done <- err
	}()
	<-u.begun
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, oauth.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := w.get(c); !errors.Is(err, oauth.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A token that is refused at once is not replaced by another like it.
func TestRefusedAtOnce(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	w.token = func(url.Values) (int, doc) {
		return 200, doc{"access_token": "secret-for-another", "token_type": "bearer"}
	}
	for range 2 {
		if _, err := w.get(c); !errors.Is(err, statusError(http.StatusUnauthorized)) {
			t.Errorf("got %v", err)
		}
	}
	w.wantCount("GET /authorize", 1)
}

func TestStepUp(t *testing.T) {
	w := newWorld(t)
	w.perRequest = true
	c := w.client(nil)
	w.ok(c, "need=read")
	w.ok(c, "need=write")
	w.ok(c, "need=read")
	w.wantCount("GET /authorize", 2)
	if got := w.asked[1].Get("scope"); got != "read write" {
		t.Errorf("asked for %q", got)
	}
	w.wantCount("POST /register", 1)
	if got := c.Status(t.Context()).Scopes; !slices.Equal(got, []string{"read", "write"}) {
		t.Errorf("granted %q", got)
	}
}

// What the user does not grant is only asked for once.
func TestStepUpInVain(t *testing.T) {
	w := newWorld(t)
	w.perRequest, w.grants = true, []string{"read"}
	c := w.client(nil)
	for range 3 {
		if _, err := w.get(c, "need=write"); !errors.Is(err, statusError(http.StatusForbidden)) {
			t.Errorf("got %v", err)
		}
	}
	w.wantCount("GET /authorize", 2)
	s := c.Status(t.Context())
	if !slices.Equal(s.Scopes, []string{"read"}) || !slices.Equal(s.Requested, []string{"read", "write"}) {
		t.Errorf("status %+v", s)
	}
	w.ok(c, "need=read")
}

// A server that demands another scope each time cannot keep the user busy.
func TestStepUpLimit(t *testing.T) {
	w := newWorld(t)
	n := 0
	c := w.client(nil, func(o *oauth.Options) { o.Cooldown = time.Nanosecond })
	w.token = func(url.Values) (int, doc) {
		n++
		w.required = []string{"scope-" + strings.Repeat("x", n)}
		return 0, nil
	}
	if _, err := w.get(c); !errors.Is(err, statusError(http.StatusForbidden)) {
		t.Errorf("got %v", err)
	}
	w.wantCount("GET /authorize", 3)
}

// A 403 that is not about scopes is final.
func TestForbidden(t *testing.T) {
	w := newWorld(t)
	w.mcpDocs["/mcp"] = func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			rw.Header().Set("WWW-Authenticate", w.challenge)
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		rw.WriteHeader(http.StatusForbidden)
	}
	if _, err := w.get(w.client(nil)); !errors.Is(err, statusError(http.StatusForbidden)) {
		t.Errorf("got %v", err)
	}
	w.wantCount("GET /authorize", 1)
}

// Another kind of authorization is left to the caller.
func TestOtherScheme(t *testing.T) {
	w := newWorld(t)
	w.challenge = `Basic realm="x"`
	if _, err := w.get(w.client(nil)); !errors.Is(err, statusError(http.StatusUnauthorized)) {
		t.Errorf("got %v", err)
	}
	w.wantCount("GET /authorize", 0)
}
