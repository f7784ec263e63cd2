package auth_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/mcp"
)

const (
	issuerURL = "https://login.example.com"
	resource  = "https://mcp.example.com/mcp"
)

// issuer is an authorization server, as far as its keys are concerned, and the
// network to it. It is an http.RoundTripper, so that it works in a bubble of
// synctest.
type issuer struct {
	url string
	key *ecdsa.PrivateKey
	id  string

	mu      sync.Mutex
	served  map[string]int
	replies map[string]func(*http.Request) (int, string) // by URL
	header  http.Header
	down    bool
}

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	i := &issuer{url: issuerURL, served: map[string]int{}, replies: map[string]func(*http.Request) (int, string){}, header: http.Header{}}
	i.rotate(t, "k1")
	i.reply(issuerURL+"/.well-known/oauth-authorization-server", `{"issuer":"`+issuerURL+`","jwks_uri":"`+issuerURL+`/keys","introspection_endpoint":"`+issuerURL+`/introspect"}`)
	return i
}

// rotate gives the issuer another key.
func (i *issuer) rotate(t testing.TB, id string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i.key, i.id = key, id
	i.reply(issuerURL+"/keys", string(keySet(t, jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"})))
}

func keySet(t testing.TB, keys ...jose.JSONWebKey) []byte {
	t.Helper()
	b, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (i *issuer) reply(url, body string) {
	i.serve(url, func(*http.Request) (int, string) { return 200, body })
}

func (i *issuer) serve(url string, reply func(*http.Request) (int, string)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.replies[url] = reply
}

func (i *issuer) count(url string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.served[url]
}

func (i *issuer) setDown(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// RoundTrip implements http.RoundTripper.
func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	at := r.URL.String()
	i.served[at]++
	reply, down, header := i.replies[at], i.down, i.header.Clone()
	i.mu.Unlock()
	if down {
		return nil, errors.New("no route to the issuer")
	}
	status, body := 404, "no such page"
	if reply != nil {
		status, body = reply(r)
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (i *issuer) client() *http.Client { return &http.Client{Transport: i} }

// claims returns good claims, with changes; a nil value removes a claim.
func (i *issuer) claims(changes map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{
		"iss": i.url, "sub": "ann", "aud": resource, "client_id": "desktop", "scope": "mcp",
		"iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	}
	for name, v := range changes {
		if c[name] = v; v == nil {
			delete(c, name)
		}
	}
	return c
}

// token returns a token that the issuer signed.
func (i *issuer) token(t testing.TB, changes map[string]any) string {
	t.Helper()
	return sign(t, jose.ES256, i.key, i.claims(changes), map[string]any{"kid": i.id, "typ": "at+jwt"})
}

func sign(t testing.TB, alg jose.SignatureAlgorithm, key any, claims any, header map[string]any) string {
	t.Helper()
	opts := &jose.SignerOptions{}
	for name, v := range header {
		opts = opts.WithHeader(jose.HeaderKey(name), v)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, opts)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := s.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func newKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (i *issuer) jwt(t testing.TB, change func(*auth.JWTOptions)) *auth.JWT {
	t.Helper()
	o := auth.JWTOptions{Issuer: i.url, HTTP: i.client()}
	if change != nil {
		change(&o)
	}
	v, err := auth.NewJWT(&o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// journal is a log that tests can read.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.b.String()
	j.b.Reset()
	return s
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// guard returns a Guard that accepts the issuer's tokens, and its log.
func (i *issuer) guard(t testing.TB, change func(*auth.Options)) (*auth.Guard, *journal) {
	t.Helper()
	log := new(journal)
	o := auth.Options{
		Resource: resource, AuthorizationServers: []string{i.url}, Verifier: i.jwt(t, nil), Scopes: []string{"mcp"},
		HTTP: i.client(), Logger: log.logger(),
	}
	if change != nil {
		change(&o)
	}
	g, err := auth.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return g, log
}

// seen is what a handler behind a Guard sees.
type seen struct {
	calls  int
	header http.Header
	who    *mcp.Authorization
}

// ServeHTTP implements http.Handler.
func (s *seen) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	s.calls++
	s.header, s.who = r.Header, mcp.AuthorizationFrom(r.Context())
}
