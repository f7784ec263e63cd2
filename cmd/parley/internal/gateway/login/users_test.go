package login_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// counter is a world in which users log in at the shop themselves, at an authorization
// server that knows nothing of the gateway's.
type counter struct {
	*world

	upstream *issuer
	desk     *login.Desk
	users    *login.Users
}

func newCounter(t *testing.T, dir string, lifetime time.Duration) *counter {
	t.Helper()
	c := &counter{world: new(world)}
	var gateWeb, shopWeb *httptest.Server
	c.gate, gateWeb = reserve()
	c.shop, shopWeb = reserve()
	c.issuer = newIssuer(t, nil, c.gate.url)
	c.upstream = newIssuer(t, nil, c.shop.url)
	c.shop.start(t, shopWeb, shop(), auth.Options{AuthorizationServers: []string{c.upstream.url}, Verifier: c.upstream})
	c.serve(t, dir, lifetime, gateWeb)
	return c
}

// serve starts the gateway.
func (c *counter) serve(t *testing.T, dir string, lifetime time.Duration, gateWeb *httptest.Server) {
	t.Helper()
	c.desk = login.NewDesk(login.DeskOptions{Logger: mcptest.Quiet(), Lifetime: lifetime})
	t.Cleanup(c.desk.Close)
	c.users = login.NewUsers(login.UsersOptions{
		Backend: "shop", URL: c.shop.url, Vault: vault(t, dir, oneKey), Desk: c.desk, Logger: mcptest.Quiet(),
		Changed: func() { c.gateway.Changed("shop") },
	})
	c.open(t, gateWeb, c.users)
	c.gate.mux.Handle(login.Path, c.desk)
	c.desk.Open(strings.TrimSuffix(c.gate.url, "/mcp"), login.Visitors{Issuer: &login.Issuer{Resource: c.gate.url, Verify: c.whose}})
}

// whose returns whose token for the gateway it is.
func (c *counter) whose(ctx context.Context, token string) (*mcp.Authorization, error) {
	t, err := c.issuer.Verify(ctx, token)
	if err != nil {
		return nil, err
	}
	a := t.Authorization
	a.Issuer = c.issuer.url
	return &a, nil
}

// reader is a user who goes where their client sends them.
type reader struct {
	browser *browser
	refuses bool // to go

	mu    sync.Mutex
	asked []string // the URLs
	pages []*page
	noted []string // notifications
}

func (r *reader) options() *client.Options {
	return &client.Options{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{URL: &mcp.Empty{}}},
		Answer:       r.answer,
		Notification: func(_ context.Context, method string, params json.RawMessage) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.noted = append(r.noted, method+" "+string(params))
		},
	}
}

func (r *reader) answer(ctx context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
	var p mcp.ElicitParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.asked = append(r.asked, p.URL)
	r.mu.Unlock()
	if r.refuses {
		return json.RawMessage(`{"action":"decline"}`), nil
	}
	got, err := r.browser.visit(ctx, p.URL, "")
	r.mu.Lock()
	r.pages = append(r.pages, got)
	r.mu.Unlock()
	return json.RawMessage(`{"action":"accept"}`), err
}

// reads connects a user who goes where they are sent.
func (c *counter) reads(t *testing.T, name string, revision mcp.Revision) (*user, *reader) {
	t.Helper()
	r := &reader{browser: newBrowser(t, name)}
	return c.user(t, name, revision, r.options()), r
}

// Each user logs in at the shop once, when they first need it, and is themselves there.
func TestUsers(t *testing.T) {
	for _, revision := range eras {
		t.Run(revision.String(), func(t *testing.T) {
			c := newCounter(t, t.TempDir(), 0)
			var group sync.WaitGroup
			for _, name := range []string{"ada", "bob"} {
				group.Go(func() {
					u, r := c.reads(t, name, revision)
					for range 3 {
						got, err := u.whoami(t.Context())
						if err != nil || !strings.HasPrefix(got, name+" by ") {
							t.Errorf("%s is %q, %v", name, got, err)
						}
					}
					r.mu.Lock()
					defer r.mu.Unlock()
					if len(r.asked) != 1 || len(r.pages) != 1 || r.pages[0] == nil || !strings.Contains(r.pages[0].body, "You are logged in at") {
						t.Fatalf("asked %v, and came to %+v", r.asked, r.pages)
					}
					checkPage(t, r.pages[0])
				})
			}
			group.Wait()
			if n := c.upstream.asked("authorization_code"); n != 2 {
				t.Errorf("%d logins", n)
			}
		})
	}
}

// checkPage checks what a page may do.
func checkPage(t *testing.T, p *page) {
	t.Helper()
	policy := p.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script") || strings.Contains(p.body, "<script") || p.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the page may do too much: %v", p.header)
	}
}

// Before a user has logged in, there is one tool, which does that; then there are those
// of the shop.
func TestUsersTools(t *testing.T) {
	for _, revision := range eras {
		t.Run(revision.String(), func(t *testing.T) {
			c := newCounter(t, t.TempDir(), 0)
			u, _ := c.reads(t, "ada", revision)
			if got := tools(t, u); got != "shop__log_in" {
				t.Errorf("tools: %s", got)
			}
			if got, err := client.Call[string](t.Context(), u.Client, "shop__log_in", nil); err != nil || !strings.Contains(got, "You are logged in at shop") {
				t.Errorf("%q, %v", got, err)
			}
			if got := tools(t, u); got != "shop__whoami" {
				t.Errorf("tools after the login: %s", got)
			}
		})
	}
}

func tools(t *testing.T, u *user) string {
	t.Helper()
	var names []string
	for tool, err := range u.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

// A client that cannot send its user anywhere is told the address.
func TestUsersByText(t *testing.T) {
	c := newCounter(t, t.TempDir(), 0)
	u := c.user(t, "ada", eras[0], nil)
	result, err := u.CallTool(t.Context(), "shop__whoami", nil)
	if err != nil || !result.IsError {
		t.Fatalf("%+v, %v", result, err)
	}
	said, _ := json.Marshal(result)
	link := strings.TrimSuffix(c.gate.url, "/mcp") + "/connect/shop?login="
	_, rest, ok := strings.Cut(string(said), link)
	if !ok {
		t.Fatalf("no address in %s", said)
	}
	id, _, _ := strings.Cut(rest, `"`)
	if got, err := newBrowser(t, "ada").visit(t.Context(), link+id, ""); err != nil || got.status != http.StatusOK {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err := u.whoami(t.Context()); err != nil || !strings.HasPrefix(got, "ada by ") {
		t.Errorf("%q, %v", got, err)
	}
}

// link returns the address that a user is sent to.
func (c *counter) link(t *testing.T, name string) (string, *user) {
	t.Helper()
	r := &reader{refuses: true}
	u := c.user(t, name, eras[1], r.options())
	if _, err := u.whoami(t.Context()); err == nil || !strings.Contains(err.Error(), "did not want to log in") {
		t.Fatalf("somebody who does not go there: %v", err)
	}
	return r.asked[0], u
}

// A link is of no use to anybody but the user who got it.
//
// Spec: 2026-07-28 client/elicitation#phishing.
func TestUsersPhishing(t *testing.T) {
	c := newCounter(t, t.TempDir(), 0)
	link, u := c.link(t, "ada")
	got, err := newBrowser(t, "bob").visit(t.Context(), link, "")
	if err != nil || got.status != http.StatusForbidden || !strings.Contains(got.body, "made for somebody else") {
		t.Errorf("the browser of bob: %+v, %v", got, err)
	}
	checkPage(t, got)
	if n := c.upstream.asked("authorization_code"); n != 0 {
		t.Errorf("bob has logged in for ada, %d times", n)
	}
	if got, err := newBrowser(t, "ada").visit(t.Context(), link, ""); err != nil || got.status != http.StatusOK {
		t.Errorf("the browser of ada: %+v, %v", got, err)
	}
	if got, err := u.whoami(t.Context()); err != nil || !strings.HasPrefix(got, "ada by ") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := newBrowser(t, "ada").visit(t.Context(), link, ""); err != nil || got.status != http.StatusGone {
		t.Errorf("used again: %+v, %v", got, err)
	}
}

// The answer of an authorization server is taken from the browser that was sent there.
func TestUsersCallback(t *testing.T) {
	c := newCounter(t, t.TempDir(), 0)
	link, u := c.link(t, "ada")
	origin := strings.TrimSuffix(c.gate.url, "/mcp")
	stolen := newBrowser(t, "ada")
	at := c.upstream.url + "/authorize"
	page, err := stolen.visit(t.Context(), link, at)
	if err != nil {
		t.Fatal(err)
	}
	state := page.at.Query().Get("state")
	if got := page.at.Query().Get("redirect_uri"); got != origin+"/connect/shop/callback" {
		t.Errorf("the answer is to come to %s", got)
	}
	for _, path := range []string{"/connect/_callback", "/connect/other/callback"} { // another server may have led the browser to this issuer
		got, err := stolen.visit(t.Context(), origin+path+"?"+url.Values{"state": {state}, "code": {"x"}}.Encode(), "")
		if err != nil || got.status != http.StatusForbidden || !strings.Contains(got.body, "not the answer") {
			t.Errorf("at %s: %+v, %v", path, got, err)
		}
	}
	if page.at.Query().Get("code_challenge") == "" || page.at.Query().Get("resource") != c.shop.url {
		t.Errorf("asked with %v", page.at)
	}
	for name, b := range map[string]*browser{"another": newBrowser(t, "bob"), "the right": stolen} {
		answer := url.Values{"state": {state}, "code": {"x"}, "iss": {c.issuer.url}}
		if name == "another" {
			answer.Set("iss", c.upstream.url)
		}
		got, err := b.visit(t.Context(), origin+"/connect/shop/callback?"+answer.Encode(), "")
		if err != nil || got.status < 400 {
			t.Errorf("%s browser: %+v, %v", name, got, err)
		}
	}
	if _, err := u.whoami(t.Context()); err == nil {
		t.Error("the answer of another authorization server was taken")
	}
}

// Each backend has a callback of its own, and a document that names no other.
func TestUsersDocuments(t *testing.T) {
	desk := login.NewDesk(login.DeskOptions{Logger: mcptest.Quiet()})
	defer desk.Close()
	desk.Open("https://gate.example", login.Visitors{Alone: true})
	users := login.NewUsers(login.UsersOptions{Backend: "shop", URL: "https://shop.example", Desk: desk, Logger: mcptest.Quiet()})
	look := func(path string) (status int, id string, redirects []string) {
		t.Helper()
		w := httptest.NewRecorder()
		desk.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://gate.example"+path, nil))
		var doc struct {
			ID        string   `json:"client_id"`
			Redirects []string `json:"redirect_uris"`
		}
		_ = json.Unmarshal(w.Body.Bytes(), &doc) // a page of HTML is none
		return w.Code, doc.ID, doc.Redirects
	}
	for path, want := range map[string]string{
		"/connect/shop/client.json": "https://gate.example/connect/shop/callback", "/connect/client.json": "https://gate.example/connect/_callback",
	} {
		if status, id, redirects := look(path); status != http.StatusOK || id != "https://gate.example"+path || len(redirects) != 1 || redirects[0] != want {
			t.Errorf("%s: %d %s %q, want %s alone", path, status, id, redirects, want)
		}
	}
	if status, _, _ := look("/connect/other/client.json"); status != http.StatusNotFound {
		t.Errorf("the document of nobody: %d", status)
	}
	_ = users.Close()
	if status, _, _ := look("/connect/shop/client.json"); status != http.StatusNotFound {
		t.Errorf("the document of a backend that is gone: %d", status)
	}
}

// A link ends.
func TestUsersLinkEnds(t *testing.T) {
	c := newCounter(t, t.TempDir(), time.Nanosecond)
	link, _ := c.link(t, "ada")
	got, err := newBrowser(t, "ada").visit(t.Context(), link, "")
	if err != nil || got.status != http.StatusGone || !strings.Contains(got.body, "has ended") {
		t.Errorf("%+v, %v", got, err)
	}
}

// Tokens are renewed without the user, until that is refused.
func TestUsersRenew(t *testing.T) {
	c := newCounter(t, t.TempDir(), 0)
	u, r := c.reads(t, "ada", eras[1])
	if _, err := u.whoami(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.shop.set(1)
	if got, err := u.whoami(t.Context()); err != nil || !strings.HasPrefix(got, "ada by ") || len(r.asked) != 1 {
		t.Errorf("%q, %v, asked %d times", got, err, len(r.asked))
	}
	if n := c.upstream.asked("refresh_token"); n != 1 {
		t.Errorf("renewed %d times", n)
	}
	c.revoke(t)
	if got, err := u.whoami(t.Context()); err != nil || !strings.HasPrefix(got, "ada by ") || len(r.asked) != 2 {
		t.Errorf("after all was revoked: %q, %v, asked %d times", got, err, len(r.asked))
	}
}

// revoke revokes the tokens that came to the shop.
func (c *counter) revoke(t *testing.T) {
	t.Helper()
	c.shop.mu.Lock()
	token := c.shop.tokens[len(c.shop.tokens)-1]
	c.shop.mu.Unlock()
	claims := strings.Split(token, ".")
	if len(claims) != 3 {
		t.Fatal("that is no token")
	}
	v, err := c.upstream.Verify(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.PostForm(c.upstream.url+"/revoke", url.Values{"token": {token}, "client_id": {v.ClientID}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if _, err := c.upstream.Verify(t.Context(), token); err == nil {
		t.Fatal("nothing was revoked")
	}
}

// A gateway that is started again knows its users' logins.
func TestUsersStay(t *testing.T) {
	dir := t.TempDir()
	c := newCounter(t, dir, 0)
	u, _ := c.reads(t, "ada", eras[1])
	if _, err := u.whoami(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := &counter{world: &world{issuer: c.issuer, shop: c.shop}, upstream: c.upstream}
	var web *httptest.Server
	next.gate, web = reserve()
	next.issuer = newIssuer(t, nil, next.gate.url)
	next.serve(t, dir, 0, web)
	// Principals are those of an issuer, and this one is another.
	again, r := next.reads(t, "ada", eras[1])
	if _, err := again.whoami(t.Context()); err != nil || len(r.asked) != 1 {
		t.Errorf("ada of another issuer: %v, asked %d times", err, len(r.asked))
	}
	kept := login.NewUsers(login.UsersOptions{Backend: "shop", URL: c.shop.url, Vault: vault(t, dir, oneKey), Desk: c.desk, Logger: mcptest.Quiet()})
	defer func() { _ = kept.Close() }()
	for name, want := range map[string]bool{"ada": true, "bob": false} {
		web := &http.Client{Transport: kept.For(&mcp.Peer{Principal: c.issuer.url + " user " + name})}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.shop.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := web.Do(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		if in := err == nil && resp.StatusCode != http.StatusUnauthorized; in != want || !want && !errors.Is(err, mcp.ErrUnauthorized) {
			t.Errorf("%s: %v, %v", name, resp, err)
		}
	}
}

// Where users have no names, a link is the browser's that opens it first, or of those who
// know what all clients know.
func TestUsersWithoutNames(t *testing.T) {
	c := newCounter(t, t.TempDir(), 0)
	origin := strings.TrimSuffix(c.gate.url, "/mcp")
	ask := func() string {
		t.Helper()
		x := &mcp.Exchange{Method: mcp.MethodCallTool, Params: json.RawMessage(`{"name":"whoami"}`), Peer: mcp.Peer{Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{URL: &mcp.Empty{}}}}}
		x.ID = jsonrpc.IntID(1)
		_, err := c.users.Serve(t.Context(), x, nil)
		required, ok := errors.AsType[*mcp.InputRequired](err)
		if !ok {
			t.Fatal(err)
		}
		return required.Requests[0].Params.(*mcp.ElicitParams).URL
	}
	c.desk.Open(origin, login.Visitors{})
	_, err := c.users.Serve(t.Context(), &mcp.Exchange{ID: jsonrpc.IntID(1), Method: mcp.MethodGetPrompt}, nil)
	if err == nil || !strings.Contains(err.Error(), "does not know its users") {
		t.Errorf("nobody is known: %v", err)
	}
	c.desk.Open(origin, login.Visitors{Alone: true})
	link := ask()
	first, second := newBrowser(t, "ada"), newBrowser(t, "bob")
	if _, err := first.visit(t.Context(), link, c.upstream.url); err != nil {
		t.Fatal(err)
	}
	if got, err := second.visit(t.Context(), link, ""); err != nil || got.status != http.StatusForbidden {
		t.Errorf("the second browser: %+v, %v", got, err)
	}
	c.desk.Open(origin, login.Visitors{Bearer: oauth.Secret(passwordOf("ada"))})
	plain, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := first.load(plain); err != nil || got.status != http.StatusOK || !strings.Contains(got.body, "Token of the gateway") {
		t.Errorf("without the token: %+v, %v", got, err)
	}
	for token, want := range map[string]int{"wrong": http.StatusForbidden, passwordOf("ada"): http.StatusOK} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link, strings.NewReader(url.Values{"token": {token}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		got, err := second.load(r)
		if err != nil || got.status != want {
			t.Errorf("%s: %+v, %v", token, got, err)
		}
	}
	if got, err := second.visit(t.Context(), link, ""); err != nil || !strings.Contains(got.body, "You are logged in at") {
		t.Errorf("with the token: %+v, %v", got, err)
	}
}
