package oauth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/oauth2"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/internal/dpop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type doc = map[string]any

// world is an MCP server and its authorization server, and what they saw.
type world struct {
	t       *testing.T
	mcp, as *httptest.Server
	issuer  string
	url     string // the MCP endpoint

	mu         sync.Mutex
	mcpDocs    map[string]any // metadata by path: a document, or an http.HandlerFunc
	asDocs     map[string]any
	challenge  string // of a 401; "" means none
	required   []string
	perRequest bool // the query of a request says which scopes it needs
	expiresIn  any
	noRefresh  bool
	noScope    bool
	grants     []string // the scopes that the user allows; nil means all
	register   func(body doc) (int, doc)
	token      func(form url.Values) (int, doc) // called first; with status 0, the default follows
	method     string                           // how the client has to authenticate
	proofs     *dpop.Verifier                   // if set, tokens have to be bound
	asNonces   *dpop.Nonces
	mcpNonces  *dpop.Nonces
	valid      map[string]grant // access tokens
	codes      map[string]grant
	refreshes  map[string]grant
	requests   []string
	forms      []url.Values // of the token endpoint
	heads      []http.Header
	asked      []url.Values // authorization requests
	registered []doc
	revoked    []string
	bodies     []string
	n          int
	logs       safeBuffer
}

type grant struct {
	scopes    []string
	challenge string
	redirect  string
	client    string
	key       string
	resource  string
}

// safeBuffer may be written to concurrently.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newWorld returns a world in which everything works.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, expiresIn: 3600, method: oauth.AuthNone, valid: map[string]grant{}, codes: map[string]grant{}, refreshes: map[string]grant{}}
	w.mcp = httptest.NewServer(http.HandlerFunc(w.serveMCP))
	w.as = httptest.NewServer(http.HandlerFunc(w.serveAS))
	t.Cleanup(func() {
		w.mcp.Close()
		w.as.Close()
		w.noSecrets()
	})
	w.issuer, w.url = w.as.URL, w.mcp.URL+"/mcp"
	w.mcpDocs = map[string]any{"/.well-known/oauth-protected-resource/mcp": w.resourceDoc()}
	w.asDocs = map[string]any{"/.well-known/oauth-authorization-server": w.serverDoc()}
	w.challenge = `Bearer resource_metadata="` + w.mcp.URL + `/.well-known/oauth-protected-resource/mcp", scope="read"`
	return w
}

func (w *world) resourceDoc() doc {
	return doc{"resource": w.url, "authorization_servers": []string{w.issuer}, "scopes_supported": []string{"read", "list"}}
}

func (w *world) serverDoc() doc {
	return doc{
		"issuer": w.issuer, "authorization_endpoint": w.as.URL + "/authorize?tenant=a%26b", "token_endpoint": w.as.URL + "/token",
		"registration_endpoint": w.as.URL + "/register", "revocation_endpoint": w.as.URL + "/revoke",
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic", "client_secret_post", "private_key_jwt"},
		"authorization_response_iss_parameter_supported": true,
	}
}

func reply(rw http.ResponseWriter, status int, body any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(body)
}

// document serves the metadata at the path, if there is any.
func document(docs map[string]any, rw http.ResponseWriter, r *http.Request) bool {
	if !strings.Contains(r.URL.Path, "/.well-known/") && docs[r.URL.Path] == nil {
		return false
	}
	switch d := docs[r.URL.Path].(type) {
	case nil:
		http.NotFound(rw, r)
	case func(http.ResponseWriter, *http.Request):
		d(rw, r)
	default:
		reply(rw, http.StatusOK, d)
	}
	return true
}

func (w *world) note(r *http.Request) {
	w.requests = append(w.requests, r.Method+" "+r.URL.Path)
}

func (w *world) serveMCP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(r)
	if document(w.mcpDocs, rw, r) {
		return
	}
	w.heads = append(w.heads, r.Header.Clone())
	body, _ := io.ReadAll(r.Body)
	w.bodies = append(w.bodies, string(body))
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	g, ok := w.valid[token]
	if !ok || !w.proven(rw, r, scheme, token, g) {
		if w.challenge != "" && rw.Header().Get("WWW-Authenticate") == "" {
			rw.Header().Set("WWW-Authenticate", w.challenge)
		}
		http.Error(rw, "who is that?", http.StatusUnauthorized)
		return
	}
	need := w.required
	if w.perRequest {
		need = strings.Fields(r.URL.Query().Get("need"))
	}
	for _, s := range need {
		if !slices.Contains(g.scopes, s) {
			rw.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, strings.Join(need, " ")))
			http.Error(rw, "more!", http.StatusForbidden)
			return
		}
	}
	_, _ = rw.Write([]byte("hello " + string(body)))
}

// proven checks the proof of a bound token.
func (w *world) proven(rw http.ResponseWriter, r *http.Request, scheme, token string, g grant) bool {
	if w.proofs == nil {
		return scheme == "Bearer"
	}
	if w.mcpNonces != nil {
		rw.Header().Set("DPoP-Nonce", w.mcpNonces.New())
	}
	v := w.proofs
	if w.mcpNonces != nil {
		v = dpop.NewVerifier(dpop.Options{Nonces: w.mcpNonces})
	}
	_, err := v.Verify(r.Header.Get("DPoP"), dpop.Request{Method: r.Method, URL: w.mcp.URL + r.URL.Path, AccessToken: token, Key: g.key})
	if errors.Is(err, dpop.ErrNonce) {
		rw.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
	} else if err != nil {
		w.t.Errorf("proof for the server: %v", err)
	}
	return err == nil && scheme == "DPoP"
}

func (w *world) serveAS(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(r)
	if document(w.asDocs, rw, r) {
		return
	}
	switch r.URL.Path {
	case "/register":
		w.serveRegister(rw, r)
	case "/authorize":
		w.serveAuthorize(rw, r)
	case "/token":
		w.serveToken(rw, r)
	case "/revoke":
		_ = r.ParseForm()
		w.revoked = append(w.revoked, r.Form.Get("token_type_hint"))
		delete(w.valid, r.Form.Get("token"))
		delete(w.refreshes, r.Form.Get("token"))
	default:
		http.NotFound(rw, r)
	}
}

func (w *world) serveRegister(rw http.ResponseWriter, r *http.Request) {
	var body doc
	_ = json.NewDecoder(r.Body).Decode(&body)
	w.registered = append(w.registered, body)
	if w.register != nil {
		status, answer := w.register(body)
		reply(rw, status, answer)
		return
	}
	answer := doc{"client_id": fmt.Sprintf("client-%d", len(w.registered)), "redirect_uris": body["redirect_uris"], "token_endpoint_auth_method": w.method}
	if w.method != oauth.AuthNone {
		answer["client_secret"] = "secret-of/the client"
	}
	reply(rw, http.StatusCreated, answer)
}

func (w *world) serveAuthorize(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.asked = append(w.asked, q)
	w.n++
	code := fmt.Sprintf("secret-code-%d", w.n)
	scopes := strings.Fields(q.Get("scope"))
	if w.grants != nil {
		scopes = w.grants
	}
	w.codes[code] = grant{scopes, q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("client_id"), q.Get("dpop_jkt"), q.Get("resource")}
	to, _ := url.Parse(q.Get("redirect_uri"))
	to.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {w.issuer}}.Encode()
	http.Redirect(rw, r, to.String(), http.StatusFound)
}

func (w *world) serveToken(rw http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f := r.PostForm
	w.forms = append(w.forms, f)
	refuse := func(code string) {
		reply(rw, http.StatusBadRequest, doc{"error": code, "error_description": "because of " + f.Encode()})
	}
	if w.token != nil {
		if status, answer := w.token(f); status != 0 {
			reply(rw, status, answer)
			return
		}
	}
	key := ""
	if w.proofs != nil {
		v := w.proofs
		if w.asNonces != nil {
			v = dpop.NewVerifier(dpop.Options{Nonces: w.asNonces})
			rw.Header().Set("DPoP-Nonce", w.asNonces.New())
		}
		var err error
		key, err = v.Verify(r.Header.Get("DPoP"), dpop.Request{Method: r.Method, URL: w.as.URL + r.URL.Path})
		if errors.Is(err, dpop.ErrNonce) {
			refuse("use_dpop_nonce")
			return
		} else if err != nil {
			w.t.Errorf("proof for a token: %v", err)
		}
	}
	client := w.authenticated(r)
	if client == "" {
		refuse("invalid_client")
		return
	}
	g, ok := w.redeem(f, client, key)
	if !ok {
		refuse("invalid_grant")
		return
	}
	w.issue(rw, g)
}

// authenticated returns the client of a token request, if it used the right
// method.
func (w *world) authenticated(r *http.Request) string {
	id, secret, basic := r.BasicAuth()
	form := r.PostForm.Get("client_secret")
	switch {
	case w.method == oauth.AuthBasic && basic && form == "" && secret == url.QueryEscape("secret-of/the client"):
		id, _ = url.QueryUnescape(id)
		return id
	case w.method == oauth.AuthPost && !basic && form == "secret-of/the client", w.method == oauth.AuthNone && !basic && form == "":
		return r.PostForm.Get("client_id")
	case w.method == oauth.AuthPrivateKeyJWT && r.PostForm.Get("client_assertion") != "":
		return "by-assertion"
	}
	return ""
}

func (w *world) redeem(f url.Values, client, key string) (grant, bool) {
	switch f.Get("grant_type") {
	case "authorization_code":
		g, ok := w.codes[f.Get("code")]
		delete(w.codes, f.Get("code"))
		ok = ok && g.client == client && g.redirect == f.Get("redirect_uri") && g.resource == f.Get("resource") &&
			g.challenge == oauth2.S256ChallengeFromVerifier(f.Get("code_verifier")) && g.key == key
		return g, ok
	case "refresh_token":
		g, ok := w.refreshes[f.Get("refresh_token")]
		delete(w.refreshes, f.Get("refresh_token"))
		return g, ok && g.client == client && g.resource == f.Get("resource") && g.key == key
	}
	return grant{scopes: strings.Fields(f.Get("scope")), client: client, key: key, resource: f.Get("resource")}, true
}

func (w *world) issue(rw http.ResponseWriter, g grant) {
	w.n++
	access, refresh := fmt.Sprintf("secret-access-%d", w.n), fmt.Sprintf("secret-refresh-%d", w.n)
	w.valid[access] = g
	answer := doc{"access_token": access, "token_type": "Bearer", "expires_in": w.expiresIn}
	if g.key != "" {
		answer["token_type"] = "DPoP"
	}
	if !w.noScope {
		answer["scope"] = strings.Join(g.scopes, " ")
	}
	if !w.noRefresh {
		w.refreshes[refresh] = g
		answer["refresh_token"] = refresh
	}
	reply(rw, http.StatusOK, answer)
}

// revokeAll makes every access token invalid.
func (w *world) revokeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.valid)
}

// set changes the world while it is in use.
func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// count returns how many requests of a kind the servers got.
func (w *world) count(request string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, r := range w.requests {
		if r == request {
			n++
		}
	}
	return n
}

func (w *world) wantCount(request string, want int) {
	w.t.Helper()
	if got := w.count(request); got != want {
		w.t.Errorf("%d times %s, want %d", got, request, want)
	}
}

// noSecrets fails if the logs hold a secret.
func (w *world) noSecrets() {
	if logs := w.logs.String(); strings.Contains(logs, "secret-") {
		w.t.Errorf("the logs show a secret:\n%s", logs)
	}
}

func (w *world) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(&w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// client returns a client of the world whose user is u; nil agrees.
func (w *world) client(u *user, change ...func(*oauth.Options)) *oauth.Client {
	w.t.Helper()
	if u == nil {
		u = &user{}
	}
	o := oauth.Options{URL: w.url, Grant: &oauth.AuthorizationCode{Receiver: u}, Logger: w.logger(), Metadata: oauth.Metadata{Name: "Test"}}
	for _, f := range change {
		f(&o)
	}
	c, err := oauth.New(&o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// get sends a request through a client and returns its body.
func (w *world) get(c *oauth.Client, query ...string) (string, error) {
	w.t.Helper()
	return w.send(w.t.Context(), c, "?"+strings.Join(query, "&"))
}

func (w *world) send(ctx context.Context, c *oauth.Client, query string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+query, strings.NewReader("there"))
	if err != nil {
		return "", err
	}
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	resp, err := (&http.Client{Transport: c.Transport(base)}).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = statusError(resp.StatusCode)
	}
	return string(body), err
}

type statusError int

func (e statusError) Error() string { return http.StatusText(int(e)) }

// ok sends a request that must succeed.
func (w *world) ok(c *oauth.Client, query ...string) {
	w.t.Helper()
	if got, err := w.get(c, query...); err != nil || got != "hello there" {
		w.t.Fatalf("got %q, %v", got, err)
	}
}

// user is the receiver of a user who agrees, without a browser.
type user struct {
	redirect string
	// change is applied to the response on its way.
	change func(url.Values)
	// wait, if set, is what the user waits for.
	wait chan struct{}
	// begun, if set, is signalled when the user is asked.
	begun chan struct{}
}

func (u *user) Listen(context.Context, []string) (oauth.Reception, error) { return u, nil }

func (u *user) RedirectURI() string {
	if u.redirect != "" {
		return u.redirect
	}
	return "http://127.0.0.1:7777/callback"
}

func (u *user) Close() error { return nil }

func (u *user) Receive(ctx context.Context, r oauth.AuthorizationRequest) (url.Values, error) {
	if u.begun != nil {
		u.begun <- struct{}{}
	}
	if u.wait != nil {
		select {
		case <-u.wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	browser := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := browser.Get(r.URL)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return nil, err
	}
	answer := to.Query()
	if u.change != nil {
		u.change(answer)
	}
	return answer, nil
}
