package devauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
)

func TestForgedForms(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.desk(), w.browser()
	p := b.login(b.open(a.url("notes:read", nil)), "ada", password)
	action, form := p.form()
	form.Set("action", "allow")
	theirs := w.browser() // of the attacker, who has a form of their own
	stranger := theirs.login(theirs.open(a.url("notes:read", nil)), "bob", "another "+password)
	_, strange := stranger.form()
	evil := w.app("web", "web secret", remote)
	for name, tt := range map[string]struct {
		target, token, origin string
	}{
		"no token":            {action, "", issuer},
		"the attacker's":      {action, strange.Get("form"), issuer},
		"for another request": {evil.url("notes:read notes:write", nil), form.Get("form"), issuer},
		"of a page elsewhere": {action, form.Get("form"), "https://evil.example.com"},
		"of another port":     {action, form.Get("form"), "http://127.0.0.1:8080"},
	} {
		r := request(t, "POST", tt.target, url.Values{"action": {"allow"}, "scope": {"notes:read"}, "form": {tt.token}})
		r.Header.Set("Origin", tt.origin)
		if p := b.do(r, b.jar); p.status != http.StatusForbidden || p.header.Get("Location") != "" {
			t.Errorf("%s: %d, Location %q", name, p.status, p.header.Get("Location"))
		}
	}
	r := request(t, "POST", action, form)
	if p := w.do(r, nil); p.status != http.StatusForbidden {
		t.Errorf("without a cookie: %d", p.status)
	}
	if code := b.allow(p).answer().Get("code"); code == "" {
		t.Error("and then the user's own does not work")
	}
}

func TestSessionFixation(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.desk(), w.browser()
	p := b.open(a.url("notes:read", nil))
	u, err := url.Parse(issuer)
	if err != nil {
		t.Fatal(err)
	}
	planted := b.jar.Cookies(u)
	b.login(p, "ada", password)
	if now := b.jar.Cookies(u); now[0].Value == planted[0].Value {
		t.Error("the cookie stays the same")
	}
	r := request(t, "GET", a.url("notes:read", nil), nil)
	r.AddCookie(planted[0])
	if p := w.do(r, nil); !strings.Contains(p.body, "password") {
		t.Error("the planted cookie is logged in")
	}
}

func TestPagesCannotBeAbused(t *testing.T) {
	w := newWorld(t, nil)
	name := `"><script>alert(1)</script>` + "\u202e" + `evil {{.}}`
	made := w.do(registration(t, `{"redirect_uris":["http://[::1]/x"],"client_name":`+quote(t, name)+`,"token_endpoint_auth_method":"none"}`), nil).json()
	a, b := w.app(made["client_id"].(string), "", "http://[::1]:9/x"), w.browser()
	state := url.Values{"state": {`"><script>alert(2)</script>`}}
	login := b.open(a.url("notes:read", state))
	consent := b.login(login, "ada", password)
	problem := b.open("/authorize?client_id=%3Cscript%3E")
	wrong := b.open(a.url("notes:read", url.Values{"redirect_uri": {"http://[::1]:9/<script>"}}))
	for name, p := range map[string]*page{"login": login, "consent": consent, "problem": problem, "wrong": wrong} {
		if strings.Contains(p.body, "<script") || strings.Contains(p.body, "\u202e") {
			t.Errorf("%s: %s", name, p.body)
		}
		csp := p.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(csp, part) {
				t.Errorf("%s: the policy %q lacks %q", name, csp, part)
			}
		}
		for header, want := range map[string]string{"X-Frame-Options": "DENY", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Type": "text/html; charset=utf-8"} {
			if got := p.header.Get(header); got != want {
				t.Errorf("%s: %s: %q", name, header, got)
			}
		}
	}
	if got := b.allow(consent).answer().Get("state"); got != state.Get("state") {
		t.Errorf("the state came back as %q", got)
	}
	cookie := login.header.Get("Set-Cookie")
	if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") || !strings.HasPrefix(cookie, "parley-auth-7331=") {
		t.Errorf("cookie: %s", cookie)
	}
}

func TestCookieOverTLS(t *testing.T) {
	w := newWorld(t, func(o *devauth.Options) { o.Issuer = "https://auth.example.com" })
	cookie := w.do(request(t, "GET", strings.Replace(w.desk().url("notes:read", nil), issuer, "https://auth.example.com", 1), nil), nil).header.Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-parley-auth=") || !strings.Contains(cookie, "Secure") {
		t.Errorf("cookie: %s", cookie)
	}
}

func TestGuessedPasswords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		a, b := w.desk(), w.browser()
		for _, user := range []string{"ada", "nobody", "nobody else"} {
			for range 10 {
				p := b.login(b.open(a.url("notes:read", nil)), user, "guess")
				if p.status != http.StatusForbidden && user != "nobody else" {
					t.Fatalf("%s: %d", user, p.status)
				}
			}
			p := b.login(b.open(a.url("notes:read", nil)), user, password)
			if p.status != http.StatusTooManyRequests || p.header.Get("Retry-After") == "" || !strings.Contains(p.body, "Try again in") {
				t.Errorf("%s after ten guesses: %d", user, p.status)
			}
		}
		other := w.browser()
		if p := other.login(other.open(a.url("notes:read", nil)), "bob", "another "+password); p.status != http.StatusOK {
			t.Errorf("another user: %d", p.status)
		}
		pass(5 * time.Minute)
		if p := b.login(b.open(a.url("notes:read", nil)), "ada", password); p.status != http.StatusOK {
			t.Errorf("later: %d", p.status)
		}
		w.silent("guess")
	})
}
