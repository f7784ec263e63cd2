package devauth_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestStepUp(t *testing.T) {
	w := newWorld(t, nil)
	b := w.browser()
	for _, a := range []*app{w.desk(), w.app("web", "web secret", remote)} {
		b.tokens(a, "notes:read")
		p := b.open(a.url("notes:read notes:write", nil))
		if _, form := p.form(); !slices.Equal(form["scope"], []string{"notes:write"}) || !strings.Contains(p.body, "<li>Read your notes") {
			t.Errorf("%s is asked for %v:\n%s", a.id, form["scope"], p.body)
		}
		if got := a.redeem(b.allow(p).answer().Get("code"), nil).tokens(); got.scope != "notes:read notes:write" {
			t.Errorf("%s: %+v", a.id, got)
		}
		// On a remote host it is known to be the same client; on this machine
		// it is not, so the user has to confirm.
		p = b.open(a.url("notes:write", nil))
		if a.id == "web" && p.answer().Get("code") == "" || a.id == "desk" && (p.status != 200 || !strings.Contains(p.body, "nothing that you have not allowed")) {
			t.Errorf("%s, once more: %d, %s", a.id, p.status, p.body)
		}
		if p := b.open(a.url("notes:write", url.Values{"prompt": {"consent"}})); p.status != http.StatusOK {
			t.Errorf("%s, with prompt=consent: %d", a.id, p.status)
		}
	}
}

func TestUnticked(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.desk(), w.browser()
	p := b.login(b.open(a.url("notes:read notes:write", nil)), "ada", password)
	p = b.submit(p, url.Values{"action": {"allow"}, "scope": {"notes:read", "admin"}})
	if got := a.redeem(p.answer().Get("code"), nil).tokens(); got.scope != "notes:read" {
		t.Errorf("got %+v", got)
	}
	p = b.open(a.url("notes:read notes:write", nil))
	if _, form := p.form(); !slices.Equal(form["scope"], []string{"notes:write"}) {
		t.Errorf("asked again for %v", form["scope"])
	}
}

func TestDenied(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.desk(), w.browser()
	for name, choice := range map[string]url.Values{"deny": {"action": {"deny"}}, "nothing ticked": {"action": {"allow"}, "scope": nil}, "nothing forever": {"action": {"allow"}, "scope": {"offline_access"}}, "neither": {"action": nil}} {
		p := b.open(a.url("notes:read offline_access", nil))
		if strings.Contains(p.body, "password") {
			p = b.login(p, "ada", password)
		}
		got := b.submit(p, choice).answer()
		if got.Get("error") != "access_denied" || got.Has("code") || got.Get("iss") != issuer || got.Get("state") == "" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestPrompts(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.app("web", "web secret", remote), w.browser()
	silent := url.Values{"prompt": {"none"}}
	// web was named by whoever runs the server, so it gets the error.
	if got := b.open(a.url("notes:read", silent)).answer().Get("error"); got != "login_required" {
		t.Errorf("nobody is logged in: %q", got)
	}
	p := b.login(b.open(a.url("notes:read", nil)), "ada", password)
	if got := b.open(a.url("notes:read", silent)).answer().Get("error"); got != "consent_required" {
		t.Errorf("nothing is allowed: %q", got)
	}
	b.allow(p)
	if got := b.open(a.url("notes:read", silent)).answer(); got.Get("code") == "" {
		t.Errorf("all is allowed: %v", got)
	}
	p = b.open(a.url("notes:read", url.Values{"prompt": {"login"}}))
	if p.status != http.StatusOK || !strings.Contains(p.body, "password") {
		t.Fatalf("prompt=login: %d", p.status)
	}
	if got := b.login(p, "ada", password).answer(); got.Get("code") == "" {
		t.Errorf("after login: %v", got)
	}
	if got := b.open(a.url("notes:read", url.Values{"prompt": {"none login"}})).answer().Get("error"); got != "invalid_request" {
		t.Errorf("none and login: %q", got)
	}
}

func TestAnotherUser(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.desk(), w.browser()
	p := b.login(b.open(a.url("notes:read", nil)), "ada", password)
	p = b.submit(p, url.Values{"action": {"switch"}})
	p = b.allow(b.login(p, "bob", "another "+password))
	got := a.redeem(p.answer().Get("code"), nil).tokens()
	if sub := claims(t, got.access)["sub"]; sub != "bob" {
		t.Errorf("the token is for %v", sub)
	}
}
