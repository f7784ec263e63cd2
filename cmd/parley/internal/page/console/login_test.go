package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// stream is a response that somebody reads while it is written.
type stream struct {
	header http.Header
	heard  chan string
}

func (s *stream) Header() http.Header {
	if s.header == nil {
		s.header = http.Header{}
	}
	return s.header
}
func (*stream) WriteHeader(int) {}
func (*stream) Flush()          {}
func (s *stream) Write(p []byte) (int, error) {
	s.heard <- string(p)
	return len(p), nil
}

// drain returns all that was heard.
func (s *stream) drain() (all string) {
	for {
		select {
		case text := <-s.heard:
			all += text
		default:
			return all
		}
	}
}

// hears says that something was heard since.
func (s *stream) hears(t *testing.T, want string) {
	t.Helper()
	if all := s.drain(); !strings.Contains(all, want) {
		t.Errorf("nobody has heard %q in %q", want, all)
	}
}

func (b *browser) request(path string) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithCancel(b.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	r.Header.Set("Parley-Key", b.key)
	return r, cancel
}

// A code lets one browser in, as an operator.
func TestCode(t *testing.T) {
	s := new(stage)
	c := open(t, s, Entrance{})
	at, err := url.Parse(c.Address())
	if err != nil || at.Host != host {
		t.Fatal(at, err)
	}
	b := visit(t, c)
	w := b.send("GET", at.RequestURI(), "")
	key, ok := strings.CutPrefix(w.Header().Get("Location"), "/#key=")
	if b.key = key; !ok {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	if status, body := b.do("GET", "/api/v1/overview", ""); status != 200 || !strings.Contains(body, `"role":"operator"`) {
		t.Errorf("%d %s", status, body)
	}
	if last := s.last(); last.Action != "login" || last.By != "operator" || last.Role != "operator" || last.Detail != "by a code" || last.Source != "127.0.0.1" || last.Refused {
		t.Errorf("the audit log has %+v", last)
	}
	if w := visit(t, c).send("GET", at.RequestURI(), ""); w.Header().Get("Location") != "/#refused" {
		t.Errorf("the second time: %d %v", w.Code, w.Header())
	}
	if last := s.last(); last.Action != "login" || last.By != "" || !last.Refused || last.Err == nil {
		t.Errorf("the second time, the audit log has %+v", last)
	}
	if status, body := b.do("DELETE", "/api/v1/login", ""); status != http.StatusNoContent {
		t.Errorf("leaving: %d %s", status, body)
	}
	b.key = key
	if status, _ := b.do("GET", "/api/v1/overview", ""); status != http.StatusUnauthorized {
		t.Errorf("after leaving: %d", status)
	}
}

// Where the audit log cannot be written that has to be, a code lets nobody in.
func TestCodeWithoutAudit(t *testing.T) {
	s := &stage{unwritten: errStage}
	c := open(t, s, Entrance{})
	at, err := url.Parse(c.Address())
	if err != nil {
		t.Fatal(err)
	}
	w := visit(t, c).send("GET", at.RequestURI(), "")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), errStage.Error()) || len(w.Result().Cookies()) > 0 || w.Header().Get("Location") != "" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

// The token of the gateway lets in with the role that the configuration gives it, now.
func TestBearer(t *testing.T) {
	s, role, has := new(stage), web.Viewer, true
	c := open(t, s, Entrance{Bearer: func(token string) *Identity {
		if token != "the token" {
			return nil
		}
		return &Identity{Name: "holder of the token", Role: func() (web.Role, bool) { return role, has }}
	}})
	b := visit(t, c)
	if status, body := b.do("GET", "/api/v1/login", ""); status != 200 || !strings.Contains(body, `"kind":"bearer"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := b.do("POST", "/api/v1/login", `{"token":"another"}`); status != http.StatusForbidden || !strings.Contains(body, `"field":"token"`) || !s.last().Refused {
		t.Errorf("%d %s, %+v", status, body, s.last())
	}
	status, body := b.do("POST", "/api/v1/login", `{"token":"the token"}`)
	found := regexp.MustCompile(`^\{"key":"(\w+)"\}$`).FindStringSubmatch(body)
	if found == nil || s.last().Action != "login" || s.last().Role != "viewer" {
		t.Fatalf("%d %s, %+v", status, body, s.last())
	}
	b.key = found[1]
	if status, _ := b.do("POST", "/api/v1/approvals/a1/allow", `{}`); status != http.StatusForbidden {
		t.Errorf("a viewer approves: %d", status)
	}
	role = web.Approver
	if status, _ := b.do("POST", "/api/v1/approvals/a1/allow", `{}`); status != http.StatusOK {
		t.Errorf("an approver does not approve: %d", status)
	}
	has = false
	if status, _ := b.do("GET", "/api/v1/overview", ""); status != http.StatusUnauthorized {
		t.Errorf("somebody without a role: %d", status)
	}
	if status, _ := b.do("POST", "/api/v1/login", `{"token":"the token"}`); status != http.StatusForbidden {
		t.Errorf("somebody without a role logs in: %d", status)
	}
	if status, body := visit(t, open(t, s, Entrance{})).do("POST", "/api/v1/login", `{"token":"the token"}`); status != http.StatusNotFound {
		t.Errorf("where there is no token: %d %s", status, body)
	}
}

// issuer is an authorization server that has asked for an answer.
func issuer(who *Identity, failed error) Entrance {
	return Entrance{Issuer: func(ctx context.Context, r oauth.Receiver) (*Identity, error) {
		at, err := r.Listen(ctx, nil)
		if err != nil {
			return nil, err
		}
		answer, err := at.Receive(ctx, oauth.AuthorizationRequest{URL: "https://login.example/authorize?redirect_uri=" + at.RedirectURI(), State: "s1"})
		switch {
		case err != nil:
			return nil, err
		case failed != nil:
			return nil, failed
		case answer.Get("code") != "c1":
			return nil, errors.New("another code")
		}
		return who, at.Close()
	}}
}

// Users of the issuer come in with the role that they have, in the browser that they have
// begun in, and once.
func TestIssuer(t *testing.T) {
	s := new(stage)
	c := open(t, s, issuer(&Identity{Name: "https://login.example user ada", Role: func() (web.Role, bool) { return web.Approver, true }}, nil))
	b := visit(t, c)
	w := b.send("GET", "/login", "")
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || to != "https://login.example/authorize?redirect_uri=http://"+host+"/login/callback" {
		t.Fatalf("%d %s", w.Code, to)
	}
	if w := visit(t, c).send("GET", "/login/callback?state=s1&code=c1", ""); w.Code != http.StatusForbidden {
		t.Errorf("in another browser: %d", w.Code)
	}
	if w := b.send("GET", "/login/callback?state=s2&code=c1", ""); w.Code != http.StatusForbidden {
		t.Errorf("another state: %d", w.Code)
	}
	w = b.send("GET", "/login/callback?state=s1&code=c1", "")
	found := regexp.MustCompile(`url=/#key=(\w+)"`).FindStringSubmatch(w.Body.String())
	if found == nil || w.Header().Get("Content-Security-Policy") == "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	b.key = found[1]
	if status, body := b.do("GET", "/api/v1/overview", ""); status != 200 || !strings.Contains(body, `"role":"approver"`) {
		t.Errorf("%d %s", status, body)
	}
	if w := b.send("GET", "/login/callback?state=s1&code=c1", ""); w.Code != http.StatusForbidden {
		t.Errorf("the second time: %d", w.Code)
	}
	if last := s.last(); last.Action != "login" || last.By != "https://login.example user ada" || last.Refused {
		t.Errorf("the audit log has %+v", last)
	}
}

// Who has no role does not come in, and neither does anybody whose login fails.
func TestIssuerRefuses(t *testing.T) {
	nobody := &Identity{Name: "eve", Role: func() (web.Role, bool) { return 0, false }}
	for name, test := range map[string]struct {
		e      Entrance
		status int
		text   string
	}{
		"no role":     {issuer(nobody, nil), http.StatusForbidden, "logged in as eve, but you have no role"},
		"a failure":   {issuer(nil, errors.New("secret reason")), http.StatusBadGateway, "The login has failed."},
		"not allowed": {issuer(nil, &oauth.ResponseError{Code: "access_denied"}), http.StatusBadGateway, "access_denied"},
	} {
		s := new(stage)
		b := visit(t, open(t, s, test.e))
		b.send("GET", "/login", "")
		status, body := b.do("GET", "/login/callback?state=s1&code=c1", "")
		if status != test.status || !strings.Contains(body, test.text) || strings.Contains(body, "secret reason") || strings.Contains(body, "key=") {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if name == "no role" && !s.last().Refused {
			t.Errorf("%s: the audit log has %+v", name, s.last())
		}
	}
	if w := visit(t, open(t, new(stage), Entrance{})).send("GET", "/login", ""); w.Code != http.StatusNotFound {
		t.Errorf("where there is no issuer: %d", w.Code)
	}
}

// numbered is an authorization server whose requests have the states 1, 2 and so on.
func numbered() Entrance {
	var n atomic.Int64
	return Entrance{Issuer: func(ctx context.Context, r oauth.Receiver) (*Identity, error) {
		at, err := r.Listen(ctx, nil)
		if err != nil {
			return nil, err
		}
		if _, err = at.Receive(ctx, oauth.AuthorizationRequest{URL: "https://login.example/authorize", State: strconv.FormatInt(n.Add(1), 10)}); err != nil {
			return nil, err
		}
		return &Identity{Name: "ada", Role: func() (web.Role, bool) { return web.Viewer, true }}, at.Close()
	}}
}

// A login begins where somebody visits the page for it, and not where another page has it
// as an image or in a frame, or leads there.
func TestLoginIsVisited(t *testing.T) {
	for name, test := range map[string]struct {
		mode, dest, site string
		status           int
	}{
		"the link of the console":      {"navigate", "document", "same-origin", http.StatusSeeOther},
		"an address that was typed":    {"navigate", "document", "none", http.StatusSeeOther},
		"a browser that does not say":  {"", "", "", http.StatusSeeOther},
		"a link of another site":       {"navigate", "document", "cross-site", http.StatusForbidden},
		"a link of another port":       {"navigate", "document", "same-site", http.StatusForbidden},
		"an image of another site":     {"no-cors", "image", "cross-site", http.StatusForbidden},
		"an image of the same origin":  {"no-cors", "image", "same-origin", http.StatusForbidden},
		"a frame":                      {"navigate", "iframe", "same-origin", http.StatusForbidden},
		"a fetch of the same origin":   {"cors", "empty", "same-origin", http.StatusForbidden},
		"a script, without its target": {"no-cors", "", "", http.StatusForbidden},
	} {
		c := open(t, new(stage), numbered())
		r, cancel := visit(t, c).request("/login")
		for header, value := range map[string]string{"Sec-Fetch-Mode": test.mode, "Sec-Fetch-Dest": test.dest, "Sec-Fetch-Site": test.site} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		w := &recorder{header: http.Header{}}
		c.ServeHTTP(w, r)
		cancel()
		if w.status != test.status || (underWay(c) == 1) != (test.status == http.StatusSeeOther) {
			t.Errorf("%s: %d, and %d logins are under way", name, w.status, underWay(c))
		}
	}
}

// A browser has one login under way, the last that it has begun, and the answer to another
// is none.
func TestOneLoginForEachBrowser(t *testing.T) {
	c := open(t, new(stage), numbered())
	b, other := visit(t, c), visit(t, c)
	other.send("GET", "/login", "")
	for range 3 * maxFlows {
		if w := b.send("GET", "/login", ""); w.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if n := underWay(c); n != 2 {
		t.Errorf("%d logins are under way", n)
	}
	last := strconv.Itoa(3*maxFlows + 1)
	for _, test := range []struct {
		b      *browser
		state  string
		status int
	}{
		{b, "2", http.StatusForbidden},
		{b, last, http.StatusOK},
		{b, last, http.StatusForbidden},
		{other, "1", http.StatusOK},
	} {
		if w := test.b.send("GET", "/login/callback?code=c&state="+test.state, ""); w.Code != test.status {
			t.Errorf("state %s: %d %s", test.state, w.Code, w.Body)
		}
	}
	if n := underWay(c); n != 0 {
		t.Errorf("%d logins are under way when all have ended", n)
	}
}

// Where too many logins are under way, the oldest gives way: nobody is locked out.
func TestTooManyLogins(t *testing.T) {
	c := open(t, new(stage), numbered())
	first, second := visit(t, c), visit(t, c)
	first.send("GET", "/login", "")
	second.send("GET", "/login", "")
	for range maxFlows - 1 {
		if w := visit(t, c).send("GET", "/login", ""); w.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if n := underWay(c); n != maxFlows {
		t.Errorf("%d logins are under way", n)
	}
	for state, b := range map[string]*browser{"1": first, "2": second} {
		want := map[string]int{"1": http.StatusForbidden, "2": http.StatusOK}[state]
		if w := b.send("GET", "/login/callback?code=c&state="+state, ""); w.Code != want {
			t.Errorf("login %s: %d %s", state, w.Code, w.Body)
		}
	}
}

// underWay is how many logins are.
func underWay(c *Console) int {
	c.flows.mu.Lock()
	defer c.flows.mu.Unlock()
	return len(c.flows.now)
}

// Another port of the host can plant cookies of the login's name, and that locks nobody out.
func TestPlantedCookiesOfLogins(t *testing.T) {
	c := open(t, new(stage), numbered())
	b := visit(t, c)
	b.send("GET", "/login", "")
	name := c.flows.cookie()
	own := b.cookies[name].Value
	for _, test := range []struct {
		cookies string
		status  int
	}{
		{name + "=planted", http.StatusForbidden},
		{name + "=planted; " + name + "=" + own, http.StatusOK},
	} {
		r, cancel := visit(t, c).request("/login/callback?code=c&state=1")
		r.Header.Set("Cookie", test.cookies)
		w := &recorder{header: http.Header{}}
		c.ServeHTTP(w, r)
		cancel()
		if w.status != test.status {
			t.Errorf("%q: %d", test.cookies, w.status)
		}
	}
}

// Other names of the machine lead nowhere.
func TestHosts(t *testing.T) {
	c := open(t, new(stage), issuer(nil, errors.New("no")))
	for _, path := range []string{"/", "/login", "/login/callback?state=s1", "/api/v1/login"} {
		r, cancel := visit(t, c).request(path)
		r.Host = "rebound.example:7332"
		w := &recorder{header: http.Header{}}
		c.ServeHTTP(w, r)
		cancel()
		if w.status != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d", path, w.status)
		}
	}
}

type recorder struct {
	header http.Header
	status int
}

func (r *recorder) Header() http.Header       { return r.header }
func (r *recorder) WriteHeader(status int)    { r.status = status }
func (*recorder) Write(p []byte) (int, error) { return len(p), nil }
