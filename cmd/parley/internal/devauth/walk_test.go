package devauth_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
)

const (
	issuer   = "http://127.0.0.1:7331"
	resource = issuer + "/mcp"
	callback = "http://127.0.0.1:50000/callback"
	remote   = "https://app.example.com/callback"
	password = "correct horse"
)

func options() devauth.Options {
	return devauth.Options{
		Issuer:    issuer,
		Resources: []string{resource},
		Users:     map[string]string{"ada": password, "bob": "another " + password},
		Scopes:    map[string]string{"notes:read": "Read your notes", "notes:write": "Change your notes"},
		Clients: []devauth.Client{
			{ID: "desk", Name: "Desk", RedirectURIs: []string{callback}},
			{ID: "web", Name: "Web", Secret: "web secret", RedirectURIs: []string{remote}},
			{ID: "robot", Secret: "robot secret", Scopes: []string{"notes:read"}},
			{ID: "rs", Secret: "rs secret", Introspect: true},
		},
	}
}

// world is a server and its log.
type world struct {
	t   *testing.T
	srv *devauth.Server
	log *bytes.Buffer
}

func newWorld(t *testing.T, change func(*devauth.Options)) *world {
	t.Helper()
	o, log := options(), new(bytes.Buffer)
	o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if change != nil {
		change(&o)
	}
	srv, err := devauth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, srv, log}
}

// RoundTrip serves a request without a network, so that tests can use virtual
// time.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI, in.Host, in.RemoteAddr = r.URL.RequestURI(), r.URL.Host, "127.0.0.1:40000"
	if in.Body == nil {
		in.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	w.srv.Handler().ServeHTTP(rec, in)
	resp := rec.Result()
	resp.Request = r
	return resp, nil
}

// page is a response.
type page struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

func (w *world) do(r *http.Request, jar http.CookieJar) *page {
	w.t.Helper()
	c := &http.Client{Transport: w, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return &page{w.t, resp.StatusCode, resp.Header, string(body)}
}

func (w *world) get(path string) *page {
	w.t.Helper()
	return w.do(request(w.t, "GET", path, nil), nil)
}

func request(t *testing.T, method, target string, form url.Values) *http.Request {
	t.Helper()
	if strings.HasPrefix(target, "/") {
		target = issuer + target
	}
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, body)
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

func (p *page) json() map[string]any {
	p.t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(p.body), &v); err != nil {
		p.t.Fatalf("status %d, body %q: %v", p.status, p.body, err)
	}
	return v
}

// failed is the error code of a JSON answer, or "".
func (p *page) failed() string {
	p.t.Helper()
	code, _ := p.json()["error"].(string)
	return code
}

// answer is the query of the URL that a page redirects to.
func (p *page) answer() url.Values {
	p.t.Helper()
	u, err := url.Parse(p.header.Get("Location"))
	if err != nil || p.status != http.StatusSeeOther {
		p.t.Fatalf("status %d, Location %q: %s", p.status, p.header.Get("Location"), p.body)
	}
	return u.Query()
}

// browser is the browser of a user.
type browser struct {
	*world
	jar http.CookieJar
}

func (w *world) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &browser{w, jar}
}

// open follows redirects on the server itself.
func (b *browser) open(target string) *page {
	b.t.Helper()
	for {
		p := b.do(request(b.t, "GET", target, nil), b.jar)
		if to := p.header.Get("Location"); strings.HasPrefix(to, "/") {
			target = to
			continue
		}
		return p
	}
}

var (
	actionOf = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
	tokenOf  = regexp.MustCompile(`name="form" value="([^"]*)"`)
	boxOf    = regexp.MustCompile(`name="scope" value="([^"]*)" checked`)
)

// form returns what a page posts if the user changes nothing.
func (p *page) form() (action string, form url.Values) {
	p.t.Helper()
	a, token := actionOf.FindStringSubmatch(p.body), tokenOf.FindStringSubmatch(p.body)
	if a == nil || token == nil {
		p.t.Fatalf("status %d, no form: %s", p.status, p.body)
	}
	form = url.Values{"form": {html.UnescapeString(token[1])}}
	for _, box := range boxOf.FindAllStringSubmatch(p.body, -1) {
		form.Add("scope", html.UnescapeString(box[1]))
	}
	return html.UnescapeString(a[1]), form
}

// submit posts the form of a page with changes to it.
func (b *browser) submit(p *page, changes url.Values) *page {
	b.t.Helper()
	action, form := p.form()
	maps.Copy(form, changes)
	r := request(b.t, "POST", action, form)
	r.Header.Set("Origin", issuer)
	answer := b.do(r, b.jar)
	if to := answer.header.Get("Location"); strings.HasPrefix(to, "/") {
		return b.open(to)
	}
	return answer
}

func (b *browser) login(p *page, name, password string) *page {
	b.t.Helper()
	return b.submit(p, url.Values{"action": {"login"}, "name": {name}, "password": {password}})
}

func (b *browser) allow(p *page) *page {
	b.t.Helper()
	return b.submit(p, url.Values{"action": {"allow"}})
}

// app is a client.
type app struct {
	*world
	id, secret, redirect, verifier string
	header                         http.Header
}

func (w *world) app(id, secret, redirect string) *app {
	return &app{w, id, secret, redirect, rand.Text() + rand.Text(), http.Header{}}
}

func (w *world) desk() *app { return w.app("desk", "", callback) }

// url is where the app sends its user; extra replaces or removes parameters.
func (a *app) url(scope string, extra url.Values) string {
	sum := sha256.Sum256([]byte(a.verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {a.id}, "redirect_uri": {a.redirect}, "state": {"state&=#"}, "resource": {resource}, "scope": {scope},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	maps.Copy(q, extra)
	return issuer + "/authorize?" + q.Encode()
}

func (a *app) post(path string, form url.Values) *page {
	a.t.Helper()
	if a.secret == "" && !form.Has("client_assertion") {
		form.Set("client_id", a.id)
	}
	r := request(a.t, "POST", path, form)
	maps.Copy(r.Header, a.header)
	if a.secret != "" {
		r.SetBasicAuth(url.QueryEscape(a.id), url.QueryEscape(a.secret))
	}
	return a.do(r, nil)
}

// redeem exchanges a code; extra replaces parameters.
func (a *app) redeem(code string, extra url.Values) *page {
	a.t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.redirect}, "code_verifier": {a.verifier}, "resource": {resource}}
	maps.Copy(form, extra)
	return a.post("/token", form)
}

func (a *app) refresh(token string, extra url.Values) *page {
	a.t.Helper()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "resource": {resource}}
	maps.Copy(form, extra)
	return a.post("/token", form)
}

func (w *world) introspect(token string) map[string]any {
	w.t.Helper()
	return w.app("rs", "rs secret", "").post("/introspect", url.Values{"token": {token}}).json()
}

// tokens is the response of a token endpoint.
type tokens struct {
	access, refresh, scope, kind string
}

func (p *page) tokens() tokens {
	p.t.Helper()
	v := p.json()
	text := func(name string) string { s, _ := v[name].(string); return s }
	if p.status != http.StatusOK || text("access_token") == "" {
		p.t.Fatalf("status %d: %s", p.status, p.body)
	}
	return tokens{text("access_token"), text("refresh_token"), text("scope"), text("token_type")}
}

// code walks a user through login, if need be, and consent.
func (b *browser) code(a *app, scope string) string {
	b.t.Helper()
	p := b.open(a.url(scope, nil))
	if strings.Contains(p.body, "password") {
		p = b.login(p, "ada", password)
	}
	if p.header.Get("Location") == "" {
		p = b.allow(p)
	}
	code := p.answer().Get("code")
	if code == "" {
		b.t.Fatalf("no code: %s", p.header.Get("Location"))
	}
	return code
}

func (b *browser) tokens(a *app, scope string) tokens {
	b.t.Helper()
	return a.redeem(b.code(a, scope), nil).tokens()
}

// claims returns the claims of an access token, without verifying its
// signature.
func claims(t *testing.T, token string) map[string]any {
	t.Helper()
	body, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// silent fails if a secret got into the log.
func (w *world) silent(secrets ...string) {
	w.t.Helper()
	for _, s := range slices.Concat(secrets, []string{password, "web secret"}) {
		if s != "" && strings.Contains(w.log.String(), s) {
			w.t.Errorf("the log holds %q:\n%s", s, w.log)
		}
	}
}
