package inspect

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/record"
	"github.com/parley-mcp/parley/cmd/parley/internal/signin"
	"github.com/parley-mcp/parley/mcp"
)

// A login has each of its steps shown; it is renewed, extended and ended by hand, and no
// secret is shown.
func TestLogin(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	g := newGuarded(t)
	store := oauth.NewMemoryStore()
	s := newStage(t, Options{Logins: store})
	c := must[said](s, "POST", "/connections", map[string]any{"url": g.URL + endpoint})
	l := s.login(c.ID, isWaiting)
	if now := must[said](s, "GET", "/connections/"+c.ID, nil); now.State != "login" {
		t.Errorf("while it waits the state is %s", now.State)
	}
	visit(t, l.Waiting.URL)
	if c = s.settled(c.ID); c.State != "up" {
		t.Fatalf("state %s: %v", c.State, c.Error)
	}
	l = s.login(c.ID, isIdle)
	want := []string{stepChallenge, stepResource, stepServer, stepRegistration, stepClient, stepAuthorization, stepCallback, stepToken}
	if got := names(l); !slices.Equal(got, want) {
		t.Errorf("steps %q, want %q", got, want)
	}
	if !l.Status.LoggedIn || !slices.Equal(l.Status.Scopes, []string{"read"}) || !l.Status.Renewable || string(l.Claims) != `{"sub":"somebody","n":1}` {
		t.Errorf("status %+v, claims %s", l.Status, l.Claims)
	}
	if how := l.Steps[4].Facts["how"]; how != "registered dynamically, just now" {
		t.Errorf("as whom: %v", how)
	}

	// Renew.
	must[struct{}](s, "POST", "/connections/"+c.ID+"/login/refresh", nil)
	l = s.login(c.ID, func(l shownLogin) bool { return isIdle(l) && l.Steps[len(l.Steps)-1].Name == stepRefresh })
	if l.Error != nil || string(l.Claims) != `{"sub":"somebody","n":2}` {
		t.Errorf("renewed: %v, claims %s", l.Error, l.Claims)
	}

	// A call needs more: the page is asked, and the call goes on.
	called := make(chan error, 1)
	live, err := s.server.byID(c.ID).live()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := live.CallTool(context.WithoutCancel(t.Context()), "echo", map[string]any{"text": "hi"})
		called <- err
	}()
	l = s.login(c.ID, isWaiting)
	if !slices.Equal(l.Missing, []string{"write"}) {
		t.Errorf("missing %q", l.Missing)
	}
	visit(t, l.Waiting.URL)
	if err := <-called; err != nil {
		t.Errorf("the call: %v", err)
	}
	l = s.login(c.ID, isIdle)
	if !slices.Equal(l.Status.Scopes, []string{"read", "write"}) || l.Steps[len(l.Steps)-1].Run == l.Steps[0].Run {
		t.Errorf("after the step-up: %+v", l.Status)
	}
	_, shown := s.call("GET", "/connections/"+c.ID+"/login", nil)
	for token := range g.tokens {
		if bytes.Contains(shown, []byte(token)) {
			t.Errorf("the token %s is shown", token)
		}
	}
	for _, secret := range []string{"refresh-secret", "the-code"} {
		if bytes.Contains(shown, []byte(secret)) {
			t.Errorf("%s is shown", secret)
		}
	}

	// What does not log in by itself says that it lacks the token.
	noted := func(form string) bool {
		x := must[struct{ Exchanges []record.ExchangeRow }](s, "GET", "/connections/"+c.ID+"/exchanges", nil).Exchanges
		i := slices.IndexFunc(x, func(x record.ExchangeRow) bool { return x.Method == mcp.MethodCallTool })
		c := must[record.Copy](s, "GET", fmt.Sprintf("/connections/%s/exchanges/%d/as/%s", c.ID, x[i].Number, form), nil)
		return strings.Contains(strings.Join(c.Notes, "\n"), "401")
	}
	if !noted("curl") || !noted("go") || noted("parley") {
		t.Error("the notes of copies do not tell which of them lack the token")
	}

	// Log out.
	must[struct{}](s, "POST", "/connections/"+c.ID+"/login/logout", nil)
	l = s.login(c.ID, func(l shownLogin) bool { return isIdle(l) && !l.Status.LoggedIn })
	if noted("curl") {
		t.Error("without a login a copy lacks a token")
	}
	if g.revoked == 0 || !slices.Contains(names(l), stepRevocation) {
		t.Errorf("nothing was revoked: %q", names(l))
	}
}

// Whoever does not want to log in says so; the answer can be pasted; one who is waited for
// can go away.
func TestLoginEnds(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	g := newGuarded(t)
	s := newStage(t, Options{})
	c := must[said](s, "POST", "/connections", map[string]any{"url": g.URL + endpoint})
	s.login(c.ID, isWaiting)
	must[struct{}](s, "POST", "/connections/"+c.ID+"/login/cancel", nil)
	if c = s.settled(c.ID); c.State != "failed" || c.Error.Code != "login_failed" {
		t.Fatalf("cancelled: %s, %v", c.State, c.Error)
	}
	if err := s.refused("POST", "/connections/"+c.ID+"/login/cancel", nil); err.Code != "not_waiting" {
		t.Errorf("cancelled twice: %v", err)
	}
	must[struct{}](s, "POST", "/connections/"+c.ID+"/login", map[string]any{"scopes": []string{"write"}})
	l := s.login(c.ID, isWaiting)
	if err := s.refused("POST", "/connections/"+c.ID+"/login/refresh", nil); err.Code != "busy" {
		t.Errorf("two at once: %v", err)
	}
	for _, other := range []string{"http://127.0.0.1/callback?state=other&code=1", "http://127.0.0.1/callback?code=1", "rubbish", "http://127.0.0.1/", ""} {
		if err := s.refused("POST", "/connections/"+c.ID+"/login/paste", map[string]any{"address": other}); err.Field != "address" {
			t.Errorf("another answer, %q: %v", other, err)
		}
	}
	s.login(c.ID, isWaiting) // it goes on
	must[struct{}](s, "POST", "/connections/"+c.ID+"/login/paste", map[string]any{"address": l.Waiting.Redirect + "?code=x&state=" + partOf[login](s.server.byID(c.ID)).waiting.state})
	c = s.until(c.ID, func(c said) bool { return c.State == "up" })
	if !strings.Contains(l.Waiting.URL, "write") {
		t.Errorf("asked for by %s", l.Waiting.URL)
	}
	must[struct{}](s, "POST", "/connections/"+c.ID+"/login/forget", nil)
	s.login(c.ID, func(l shownLogin) bool { return l.Running == "" && !l.Status.LoggedIn }) // a subscription may already want another one
	must[said](s, "POST", "/connections/"+c.ID+"/reconnect", nil)
	s.login(c.ID, isWaiting)
	must[said](s, "POST", "/connections/"+c.ID+"/disconnect", nil) // does not wait for the user
	if c = s.settled(c.ID); c.State != "closed" {
		t.Errorf("state %s", c.State)
	}
}

// As which client to log in is said in the form, remembered with a login, and shown without
// its secret.
func TestLoginAs(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	g := newGuarded(t)
	store := oauth.NewMemoryStore()
	s := newStage(t, Options{Logins: store})
	form := map[string]any{"url": g.URL + endpoint, "login": map[string]any{"id": "mine", "secret": "very secret", "issuer": g.URL}}
	c := must[said](s, "POST", "/connections", form)
	l := s.login(c.ID, isWaiting)
	if l.Client == nil || l.Client.ID != "mine" || l.Client.Secret != "***" {
		t.Errorf("as %+v", l.Client)
	}
	if i := slices.Index(names(l), stepClient); i < 0 || l.Steps[i].Facts["how"] != "pre-registered" {
		t.Errorf("steps %q", names(l))
	}
	must[struct{}](s, "POST", "/connections/"+c.ID+"/login/cancel", nil)
	s.settled(c.ID)
	must[struct{}](s, "POST", "/connections/"+c.ID+"/login", map[string]any{})
	visit(t, s.login(c.ID, isWaiting).Waiting.URL)
	s.until(c.ID, func(c said) bool { return c.State == "up" })
	if as, err := signin.Recall(t.Context(), store, g.URL+endpoint); err != nil || as.SecretText != "very secret" {
		t.Errorf("remembered %v, %v", as, err)
	}
	for field, login := range map[string]map[string]any{
		"login.secret": {"id": "mine", "secret": "x"},
		"login":        {"metadataUrl": "http://example.com/client"},
	} {
		if err := s.refused("POST", "/connections", map[string]any{"url": g.URL, "login": login}); err.Field != field {
			t.Errorf("%s: %+v", field, err)
		}
	}
}

// There is no login for commands, in the clear, and beside credentials of one's own.
func TestNoLogin(t *testing.T) {
	s := newStage(t, Options{})
	for why, form := range map[string]map[string]any{
		"a command": itself(t),
		"https":     {"url": "http://192.0.2.1:1/mcp"},
		"own":       {"url": "http://" + closedPort(t), "headers": []namedSecret{{"authorization", "Bearer x"}}},
	} {
		c := must[said](s, "POST", "/connections", form)
		l := must[shownLogin](s, "GET", "/connections/"+c.ID+"/login", nil)
		if l.Possible || !strings.Contains(l.Why, why) {
			t.Errorf("%s: %+v", why, l)
		}
		if err := s.refused("POST", "/connections/"+c.ID+"/login", map[string]any{}); err.Code != "no_login" {
			t.Errorf("%s: %v", why, err)
		}
	}
}
