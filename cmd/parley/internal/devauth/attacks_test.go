package devauth_test

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
)

// A code that does not come from the login that it was issued for is refused,
// and is spent.
func TestCodeInjection(t *testing.T) {
	w := newWorld(t, nil)
	b, a := w.browser(), w.desk()
	web, attacker := w.app("web", "web secret", remote), w.desk()
	for name, try := range map[string]func(code string) *page{
		"another client":            func(code string) *page { return web.redeem(code, url.Values{"code_verifier": {a.verifier}}) },
		"another verifier":          func(code string) *page { return attacker.redeem(code, nil) },
		"no verifier":               func(code string) *page { return a.redeem(code, url.Values{"code_verifier": nil}) },
		"the challenge as verifier": func(code string) *page { return a.redeem(code, url.Values{"code_verifier": {challenge(t, a)}}) },
		"another redirect URI":      func(code string) *page { return a.redeem(code, url.Values{"redirect_uri": {remote}}) },
		"another port": func(code string) *page {
			return a.redeem(code, url.Values{"redirect_uri": {"http://127.0.0.1:1/callback"}})
		},
	} {
		code := b.code(a, "notes:read")
		if p := try(code); p.failed() != "invalid_grant" {
			t.Errorf("%s: %d, %s", name, p.status, p.body)
		}
		if p := a.redeem(code, nil); p.failed() != "invalid_grant" {
			t.Errorf("%s: the code is still good", name)
		}
	}
}

func challenge(t *testing.T, a *app) string {
	t.Helper()
	u, err := url.Parse(a.url("", nil))
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("code_challenge")
}

func TestReusedCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		a, b := w.desk(), w.browser()
		code := b.code(a, "notes:read offline_access")
		got := a.redeem(code, nil).tokens()
		got = a.refresh(got.refresh, nil).tokens()
		pass(10 * time.Minute) // long after the code itself
		got = a.refresh(got.refresh, nil).tokens()
		if p := a.redeem(code, nil); p.failed() != "invalid_grant" {
			t.Errorf("%d: %s", p.status, p.body)
		}
		if w.introspect(got.access)["active"] != false || a.refresh(got.refresh, nil).failed() != "invalid_grant" {
			t.Error("what came of the code is still good")
		}
		w.silent(code, got.access, got.refresh)
	})
}

// Of many clients that redeem a code at the same time, at most one gets tokens.
func TestCodeRace(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.desk(), w.browser()
	code := b.code(a, "notes:read")
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		good int
	)
	for range 20 {
		wg.Go(func() {
			if p := a.redeem(code, nil); p.status == http.StatusOK {
				mu.Lock()
				good++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if good != 1 {
		t.Errorf("%d got tokens", good)
	}
}

func TestReplayedRefreshToken(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.desk(), w.browser()
	stolen := b.tokens(a, "notes:read offline_access")
	good := a.refresh(stolen.refresh, nil).tokens()
	// Another client's tokens and forged ones do no harm.
	for name, p := range map[string]*page{
		"another client": w.app("web", "web secret", remote).refresh(good.refresh, nil),
		"forged":         a.refresh(good.refresh[:len(good.refresh)-1]+"-", nil),
		"made up":        a.refresh(rand.Text()+".0."+rand.Text(), nil),
		"access token":   a.refresh(good.access, nil),
	} {
		if p.failed() != "invalid_grant" {
			t.Errorf("%s: %s", name, p.body)
		}
	}
	good = a.refresh(good.refresh, nil).tokens()
	if got := a.refresh(stolen.refresh, nil).failed(); got != "invalid_grant" {
		t.Errorf("the stolen one: %q", got)
	}
	if got := a.refresh(good.refresh, nil).failed(); got != "invalid_grant" {
		t.Errorf("the good one, after that: %q", got)
	}
	if w.introspect(good.access)["active"] != false {
		t.Error("the access token is still good")
	}
	if !strings.Contains(w.log.String(), "used again") {
		t.Error("nothing was logged")
	}
	w.silent(good.refresh, stolen.refresh)
}

// Tokens stay within what was granted.
func TestMoreThanGranted(t *testing.T) {
	other := "https://mcp.example.com"
	w := newWorld(t, func(o *devauth.Options) { o.Resources = append(o.Resources, other) })
	a, b := w.desk(), w.browser()
	got := b.tokens(a, "notes:read offline_access")
	for name, tt := range map[string]struct {
		extra url.Values
		want  string
	}{
		"another resource": {url.Values{"resource": {other}}, "invalid_target"},
		"one more":         {url.Values{"resource": {resource, other}}, "invalid_target"},
		"more scopes":      {url.Values{"scope": {"notes:read notes:write"}}, "invalid_scope"},
	} {
		if p := a.refresh(got.refresh, tt.extra); p.failed() != tt.want {
			t.Errorf("%s: %s", name, p.body)
		}
	}
	if p := a.redeem(b.code(a, "notes:read"), url.Values{"resource": {other}}); p.failed() != "invalid_target" {
		t.Errorf("a code for another resource: %s", p.body)
	}
	a.refresh(got.refresh, nil).tokens() // and none of this has cost the grant
}

func TestOpenRedirect(t *testing.T) {
	w := newWorld(t, nil)
	desk, web := w.desk(), w.app("web", "web secret", remote)
	for _, uri := range []string{
		"https://evil.example.com/callback", remote + "/", remote + "?x=1", remote + "#x", "https://app.example.com/../callback", "https://app.example.com@evil.example.com/callback",
		"https://app.example.com.evil.example.com/callback", "//evil.example.com", "", "javascript:alert(1)", "HTTPS://app.example.com/callback", "https://app.example.com:8443/callback",
	} {
		p := w.browser().open(web.url("nonsense", url.Values{"redirect_uri": {uri}}))
		if p.status != http.StatusBadRequest || p.header.Get("Location") != "" {
			t.Errorf("%q: %d, Location %q", uri, p.status, p.header.Get("Location"))
		}
	}
	for uri, ok := range map[string]bool{
		"http://127.0.0.1:1/callback": true, "http://127.0.0.1/callback": true, "http://localhost:50000/callback": false, "http://[::1]:50000/callback": false,
		"http://127.0.0.1:50000/other": false, "http://127.0.0.1:50000@evil.example.com/callback": false, "http://127.0.0.1.evil.example.com/callback": false,
		"https://127.0.0.1:50000/callback": false, "http://127.0.0.1:50000/callback?x": false, "http://127.0.0.2:50000/callback": false,
	} {
		p := w.browser().open(desk.url("nonsense", url.Values{"redirect_uri": {uri}}))
		if ok != (p.status == http.StatusSeeOther) {
			t.Errorf("%q: %d, Location %q", uri, p.status, p.header.Get("Location"))
		}
	}
	if p := w.browser().open(web.url("", url.Values{"redirect_uri": {remote, "https://evil.example.com"}})); p.status != http.StatusBadRequest {
		t.Errorf("two of them: %d", p.status)
	}
	if p := w.browser().open(web.url("", url.Values{"client_id": {"nobody"}})); p.status != http.StatusBadRequest {
		t.Errorf("an unknown client: %d", p.status)
	}
}

// Whoever registers a client cannot have browsers sent to it by a request that
// fails on purpose.
func TestOpenRedirectByRegistration(t *testing.T) {
	w := newWorld(t, nil)
	made := w.do(registration(t, `{"redirect_uris":["https://evil.example.com/"],"client_name":"Evil","token_endpoint_auth_method":"none"}`), nil).json()
	a := w.app(made["client_id"].(string), "", "https://evil.example.com/")
	for name, extra := range map[string]url.Values{"scope": {"scope": {"nonsense"}}, "response type": {"response_type": {"token"}}, "prompt": {"prompt": {"none"}}} {
		if p := w.browser().open(a.url("", extra)); p.status != http.StatusBadRequest || p.header.Get("Location") != "" {
			t.Errorf("%s: %d, Location %q", name, p.status, p.header.Get("Location"))
		}
	}
}

func TestBadRequests(t *testing.T) {
	w := newWorld(t, nil)
	a := w.desk()
	for name, tt := range map[string]struct {
		extra url.Values
		want  string
	}{
		"implicit":        {url.Values{"response_type": {"token"}}, "unsupported_response_type"},
		"no PKCE":         {url.Values{"code_challenge": nil, "code_challenge_method": nil}, "invalid_request"},
		"plain PKCE":      {url.Values{"code_challenge_method": {"plain"}}, "invalid_request"},
		"default PKCE":    {url.Values{"code_challenge_method": nil}, "invalid_request"},
		"short challenge": {url.Values{"code_challenge": {"abc"}}, "invalid_request"},
		"unknown scope":   {url.Values{"scope": {"notes:read admin"}}, "invalid_scope"},
		"two states":      {url.Values{"state": {"a", "b"}}, "invalid_request"},
		"bad thumbprint":  {url.Values{"dpop_jkt": {"x"}}, "invalid_request"},
	} {
		got := w.browser().open(a.url("notes:read", tt.extra)).answer()
		if got.Get("error") != tt.want || got.Get("iss") != issuer || got.Get("error_description") == "" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A page elsewhere cannot post the forms of this server in its user's name.
// A cookie that somebody has planted before login is worth nothing after it.
// Tokens that are bound to a key are good for nobody else.
