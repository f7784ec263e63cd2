package auth_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/auth"
)

const introspectURL = issuerURL + "/introspect"

// asked is a request to an issuer.
type asked struct {
	form       url.Values
	user, pass string
}

// introspects makes the issuer answer about tokens, and returns a function that
// returns the last request.
func (i *issuer) introspects(t testing.TB, answer func(form url.Values) (int, string)) func() asked {
	t.Helper()
	var (
		mu   sync.Mutex
		last asked
	)
	i.serve(introspectURL, func(r *http.Request) (int, string) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		last.form, err = url.ParseQuery(string(body))
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("%s %q: %v", r.Method, body, err)
		}
		last.user, last.pass, _ = r.BasicAuth()
		return answer(last.form)
	})
	return func() asked {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

func (i *issuer) introspection(t testing.TB, change func(*auth.IntrospectionOptions)) *auth.Introspection {
	t.Helper()
	o := auth.IntrospectionOptions{Issuer: issuerURL, ClientID: "mcp server", ClientSecret: "s:ecret", HTTP: i.client()}
	if change != nil {
		change(&o)
	}
	v, err := auth.NewIntrospection(&o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// active returns a response about a good token, with further members.
func active(more string) func(url.Values) (int, string) {
	return func(url.Values) (int, string) {
		return 200, `{"active":true,"sub":"ann","aud":"` + resource + `","scope":"mcp a"` + more + `}`
	}
}

func TestIntrospection(t *testing.T) {
	i := newIssuer(t)
	last := i.introspects(t, active(`,"client_id":"desktop","exp":`+fmt.Sprint(time.Now().Add(time.Hour).Unix())+`,"cnf":{"jkt":"x"}`))
	got, err := i.introspection(t, nil).Verify(t.Context(), "opaque")
	if err != nil {
		t.Fatal(err)
	}
	if got.Principal() != issuerURL+" user ann" || got.ClientID != "desktop" || strings.Join(got.Scopes, " ") != "mcp a" || got.KeyThumbprint != "x" || got.Expires.IsZero() {
		t.Errorf("got %+v", got)
	}
	q := last()
	if q.form.Get("token") != "opaque" || q.user != "mcp+server" || q.pass != "s%3Aecret" || q.form.Has("client_secret") {
		t.Errorf("asked %+v", q)
	}
}

func TestIntrospectionAnswers(t *testing.T) {
	past, future := time.Now().Add(-time.Minute).Unix(), time.Now().Add(time.Hour).Unix()
	for name, tt := range map[string]struct {
		status  int
		body    string
		want    string // "" is good
		trouble bool
	}{
		"only active":    {200, `{"active":true,"client_id":"c"}`, "", false},
		"inactive":       {200, `{"active":false}`, "not good", false},
		"no word of it":  {200, `{"sub":"ann"}`, "not good", false},
		"another issuer": {200, `{"active":true,"iss":"https://evil.example"}`, "another issuer", false},
		"expired":        {200, fmt.Sprintf(`{"active":true,"exp":%d}`, past), "expired", false},
		"not yet":        {200, fmt.Sprintf(`{"active":true,"nbf":%d}`, future), "not good yet", false},
		"certificate":    {200, `{"active":true,"cnf":{"x5t#S256":"x"}}`, "cannot be checked", false},
		"refused":        {401, `{"error":"invalid_client"}`, "status 401", true},
		"down":           {500, ``, "status 500", true},
		"junk":           {200, `<html>`, "malformed", true},
		"text":           {200, `{"active":"true"}`, "malformed", true},
	} {
		i := newIssuer(t)
		i.introspects(t, func(url.Values) (int, string) { return tt.status, tt.body })
		err := verify(t, i.introspection(t, nil), "opaque")
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || isTokenError(err) == tt.trouble) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "opaque") {
			t.Errorf("%s: the token is in the error: %v", name, err)
		}
	}
}

func TestIntrospectionAudience(t *testing.T) {
	for name, tt := range map[string]struct {
		aud, fallback string
		status        int
	}{
		"right":                 {`"` + resource + `"`, "", 200},
		"wrong":                 {`"https://other.example"`, resource, 401},
		"missing":               {`null`, "", 401},
		"missing, with default": {`null`, resource, 200},
	} {
		i := newIssuer(t)
		i.introspects(t, func(url.Values) (int, string) {
			return 200, `{"active":true,"sub":"ann","scope":"mcp","aud":` + tt.aud + `}`
		})
		g, log := i.guard(t, func(o *auth.Options) {
			o.Verifier = i.introspection(t, func(o *auth.IntrospectionOptions) { o.DefaultAudience = tt.fallback })
		})
		if w, _ := try(t, g, "/mcp", "Authorization", "Bearer opaque"); w.Code != tt.status {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if strings.Contains(log.String(), "opaque") || strings.Contains(log.String(), "s:ecret") {
			t.Errorf("%s: a secret is in the log", name)
		}
	}
}

func TestIntrospectionCredentials(t *testing.T) {
	i := newIssuer(t)
	last := i.introspects(t, active(""))
	if err := verify(t, i.introspection(t, func(o *auth.IntrospectionOptions) { o.SecretInBody = true }), "a"); err != nil {
		t.Fatal(err)
	}
	if q := last(); q.user != "" || q.form.Get("client_id") != "mcp server" || q.form.Get("client_secret") != "s:ecret" {
		t.Errorf("in the body: %+v", q)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ecKey := newKey(t)
	for name, set := range map[string]func(*auth.IntrospectionOptions){
		"RSA":     func(o *auth.IntrospectionOptions) { o.Key = rsaKey },
		"ECDSA":   func(o *auth.IntrospectionOptions) { o.Key = ecKey },
		"Ed25519": func(o *auth.IntrospectionOptions) { o.Key = edKey },
	} {
		var public any
		v := i.introspection(t, func(o *auth.IntrospectionOptions) {
			set(o)
			o.ClientSecret, o.KeyID = "", "our key"
			public = o.Key.Public()
		})
		if err := verify(t, v, name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		q := last()
		signed, err := jose.ParseSignedCompact(q.form.Get("client_assertion"), []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA})
		if err != nil || q.form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" || q.user != "" {
			t.Fatalf("%s: %+v, %v", name, q, err)
		}
		payload, err := signed.Verify(public)
		var c struct{ Iss, Sub, Aud, Jti string }
		if err != nil || json.Unmarshal(payload, &c) != nil || c.Iss != "mcp server" || c.Sub != c.Iss || c.Aud != issuerURL || c.Jti == "" {
			t.Errorf("%s: %s, %v", name, payload, err)
		}
		if signed.Signatures[0].Protected.KeyID != "our key" {
			t.Errorf("%s: kid %q", name, signed.Signatures[0].Protected.KeyID)
		}
	}
}

func TestIntrospectionIsCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		good := true
		i.introspects(t, func(url.Values) (int, string) {
			if !good {
				return 200, `{"active":false}`
			}
			_, body := active(fmt.Sprintf(`,"exp":%d`, time.Now().Add(20*time.Second).Unix()))(nil)
			return 200, body
		})
		v := i.introspection(t, nil)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if err := verify(t, v, "a"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := i.count(introspectURL); n != 1 {
			t.Errorf("asked %d times at once", n)
		}
		wait(19 * time.Second)
		if err := verify(t, v, "a"); err != nil || i.count(introspectURL) != 1 {
			t.Errorf("before it expires: %v, asked %d times", err, i.count(introspectURL))
		}
		wait(2 * time.Second) // a token is not kept for longer than it is good
		good = false
		if err := verify(t, v, "a"); !isTokenError(err) || i.count(introspectURL) != 2 {
			t.Errorf("after it expired: %v, asked %d times", err, i.count(introspectURL))
		}
		if err := verify(t, v, "a"); !isTokenError(err) || i.count(introspectURL) != 2 {
			t.Errorf("again: %v, asked %d times", err, i.count(introspectURL))
		}
		wait(6 * time.Second)
		good = true
		if err := verify(t, v, "a"); err != nil || i.count(introspectURL) != 3 {
			t.Errorf("when it is good after all: %v, asked %d times", err, i.count(introspectURL))
		}
	})
}

// Concurrent tokens do not cause concurrent lookups of the endpoint.
func TestIntrospectionEndpointIsFoundOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const metadata = issuerURL + "/.well-known/oauth-authorization-server"
		i, gate := newIssuer(t), make(chan struct{})
		reply := i.replies[metadata]
		i.serve(metadata, func(r *http.Request) (int, string) {
			<-gate
			return reply(r)
		})
		i.introspects(t, active(""))
		v := i.introspection(t, nil)
		var wg sync.WaitGroup
		for n := range 50 {
			wg.Go(func() {
				if err := verify(t, v, fmt.Sprint("t", n)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(gate)
		wg.Wait()
		if n := i.count(metadata); n != 1 {
			t.Errorf("looked for %d times", n)
		}
	})
}

// A revoked token is accepted for no longer than responses are kept.
func TestRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		i.introspects(t, active(""))
		v := i.introspection(t, nil)
		every := i.introspection(t, func(o *auth.IntrospectionOptions) { o.MaxAge = -1 })
		for _, v := range []auth.Verifier{v, every} {
			if err := verify(t, v, "a"); err != nil {
				t.Fatal(err)
			}
		}
		i.introspects(t, func(url.Values) (int, string) { return 200, `{"active":false}` })
		if err := verify(t, every, "a"); !isTokenError(err) {
			t.Errorf("without a cache: %v", err)
		}
		wait(31 * time.Second)
		if err := verify(t, v, "a"); !isTokenError(err) {
			t.Errorf("after half a minute: %v", err)
		}
	})
}

// Failures that are not the token's fault are not remembered as if they were,
// and the number of tokens that are kept is bounded.
func TestIntrospectionBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		i.introspects(t, active(""))
		i.setDown(true)
		v := i.introspection(t, func(o *auth.IntrospectionOptions) { o.MaxTokens = 3 })
		if err := verify(t, v, "a"); err == nil || isTokenError(err) {
			t.Errorf("down: %v", err)
		}
		i.setDown(false)
		wait(3 * time.Second)
		for n := range 50 {
			if err := verify(t, v, fmt.Sprint("t", n)); err != nil {
				t.Fatal(err)
			}
		}
		before := i.count(introspectURL)
		for n := range 50 {
			if err := verify(t, v, fmt.Sprint("t", n)); err != nil {
				t.Fatal(err)
			}
		}
		if kept := 50 - (i.count(introspectURL) - before); kept > 3 {
			t.Errorf("%d answers were kept, want 3 at most", kept)
		}
	})
	refused(t, newIssuer(t).introspection(t, nil), "oversize", strings.Repeat("a", 17<<10), "longer than")
}

func TestIntrospectionOptions(t *testing.T) {
	key := newKey(t)
	for name, tt := range map[string]struct {
		o    *auth.IntrospectionOptions
		want string
	}{
		"none":       {nil, "Issuer"},
		"no issuer":  {&auth.IntrospectionOptions{ClientID: "a", ClientSecret: "b"}, "Issuer"},
		"no client":  {&auth.IntrospectionOptions{Issuer: issuerURL, ClientSecret: "b"}, "ClientID"},
		"no secret":  {&auth.IntrospectionOptions{Issuer: issuerURL, ClientID: "a"}, "either ClientSecret or Key"},
		"both":       {&auth.IntrospectionOptions{Issuer: issuerURL, ClientID: "a", ClientSecret: "b", Key: key}, "either ClientSecret or Key"},
		"clear text": {&auth.IntrospectionOptions{Issuer: issuerURL, ClientID: "a", Key: key, Endpoint: "http://login.example.com"}, "Endpoint"},
	} {
		if _, err := auth.NewIntrospection(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	i := newIssuer(t)
	i.reply(issuerURL+"/.well-known/oauth-authorization-server", `{"issuer":"`+issuerURL+`"}`)
	if err := verify(t, i.introspection(t, nil), "a"); err == nil || !strings.Contains(err.Error(), "introspection_endpoint") {
		t.Errorf("an issuer without the endpoint: %v", err)
	}
}

// The credentials with which this server authenticates to the issuer are never
// shown.
func TestIntrospectionSecretsDoNotShow(t *testing.T) {
	o := auth.IntrospectionOptions{Issuer: issuerURL, ClientID: "mcp server", ClientSecret: "secret-x"}
	v, err := auth.NewIntrospection(&o)
	if err != nil {
		t.Fatal(err)
	}
	g, err := auth.New(&auth.Options{Resource: resource, AuthorizationServers: []string{issuerURL}, Verifier: v})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []any{o, &o, v, g} {
		var logged strings.Builder
		slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "x", x)
		slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "x", x)
		if s := fmt.Sprintf("%v %+v %#v %s", x, x, x, x) + logged.String(); strings.Contains(s, "secret-") {
			t.Errorf("%T shows %s", x, s)
		}
	}
}
