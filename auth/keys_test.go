package auth_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/auth"
)

const keysURL = issuerURL + "/keys"

func verify(t *testing.T, v auth.Verifier, token string) error {
	t.Helper()
	_, err := v.Verify(t.Context(), token)
	return err
}

// wait lets fake time pass.
func wait(d time.Duration) { <-time.NewTimer(d).C }

func isTokenError(err error) bool {
	var bad *auth.TokenError
	return errors.As(err, &bad)
}

func TestRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		v := i.jwt(t, nil)
		old := i.token(t, map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
		if err := verify(t, v, old); err != nil {
			t.Fatal(err)
		}
		wait(31 * time.Second)
		i.rotate(t, "k2")
		if err := verify(t, v, i.token(t, nil)); err != nil {
			t.Errorf("with the new key: %v", err)
		}
		if err := verify(t, v, old); !isTokenError(err) {
			t.Errorf("with the old key, which the issuer has withdrawn: %v", err)
		}
		if n := i.count(keysURL); n != 2 {
			t.Errorf("keys were fetched %d times, want 2", n)
		}
	})
}

// Unknown identifiers do not become requests to the issuer.
func TestFloodOfUnknownKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		v := i.jwt(t, nil)
		mine, good := newKey(t), i.token(t, nil)
		var wg sync.WaitGroup
		for n := range 3000 {
			token := sign(t, jose.ES256, mine, i.claims(nil), map[string]any{"kid": fmt.Sprint("made up ", n)})
			wg.Go(func() {
				if err := verify(t, v, token); !isTokenError(err) {
					t.Errorf("%v", err)
				}
			})
		}
		wg.Wait()
		if n := i.count(keysURL); n != 1 {
			t.Errorf("keys were fetched %d times, want once", n)
		}
		wait(31 * time.Second)
		for n := range 100 {
			_ = verify(t, v, sign(t, jose.ES256, mine, i.claims(nil), map[string]any{"kid": fmt.Sprint(n)}))
		}
		if n := i.count(keysURL); n != 2 {
			t.Errorf("keys were fetched %d times, want twice", n)
		}
		if err := verify(t, v, good); err != nil {
			t.Errorf("a good token meanwhile: %v", err)
		}
	})
}

func TestKeysAreKept(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"":                     15 * time.Minute,
		"max-age=600":          10 * time.Minute,
		"public, max-age=1":    time.Minute,
		"max-age=0":            time.Minute,
		"no-store":             time.Minute,
		"max-age=99999999":     24 * time.Hour,
		"max-age=x, max-age=z": 15 * time.Minute,
	} {
		synctest.Test(t, func(t *testing.T) {
			i := newIssuer(t)
			i.header.Set("Cache-Control", header)
			v := i.jwt(t, nil)
			use := func() {
				if err := verify(t, v, i.token(t, nil)); err != nil {
					t.Errorf("%q: %v", header, err)
				}
			}
			use()
			wait(want - time.Second)
			use()
			if n := i.count(keysURL); n != 1 {
				t.Errorf("%q: fetched %d times before the keys were stale", header, n)
			}
			wait(2 * time.Second)
			use()
			if n := i.count(keysURL); n != 2 {
				t.Errorf("%q: fetched %d times after the keys were stale", header, n)
			}
		})
	}
}

func TestIssuerIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		v := i.jwt(t, nil)
		i.setDown(true)
		for range 10 {
			if err := verify(t, v, i.token(t, nil)); err == nil || isTokenError(err) {
				t.Fatalf("without any keys: %v", err)
			}
		}
		if n := i.count(issuerURL + "/.well-known/oauth-authorization-server"); n != 1 {
			t.Errorf("a dead issuer was asked %d times at once", n)
		}
		i.setDown(false)
		wait(3 * time.Second)
		if err := verify(t, v, i.token(t, nil)); err != nil {
			t.Fatalf("when it is back: %v", err)
		}
		i.setDown(true)
		wait(23 * time.Hour)
		if err := verify(t, v, i.token(t, nil)); err != nil {
			t.Errorf("with stale keys: %v", err)
		}
		wait(2 * time.Hour)
		if err := verify(t, v, i.token(t, nil)); err == nil || isTokenError(err) {
			t.Errorf("with keys from the day before: %v", err)
		}
	})
}

// While an issuer hangs, requests that the known keys can serve do not wait for
// it.
func TestIssuerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		i.header.Set("Cache-Control", "max-age=60")
		v := i.jwt(t, nil)
		if err := verify(t, v, i.token(t, nil)); err != nil {
			t.Fatal(err)
		}
		reply := i.replies[keysURL]
		i.serve(keysURL, func(r *http.Request) (int, string) {
			wait(5 * time.Second)
			return 500, "no"
		})
		wait(2 * time.Minute)
		waited := time.Duration(0)
		for range 10 {
			began := time.Now()
			if err := verify(t, v, i.token(t, nil)); err != nil {
				t.Error(err)
			}
			waited += time.Since(began)
			wait(31 * time.Second)
		}
		if waited > 6*time.Second { // the first finds out
			t.Errorf("requests waited for %s", waited)
		}
		i.serve(keysURL, reply)
		_ = verify(t, v, i.token(t, nil))
		synctest.Wait()
		before := i.count(keysURL)
		if err := verify(t, v, i.token(t, nil)); err != nil || i.count(keysURL) != before {
			t.Errorf("the keys were not fetched when the issuer was back: %v", err)
		}
		wait(time.Minute)
	})
}

// A request that waits for keys can give up; the others still get them.
func TestOneFetchForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		gate := make(chan struct{})
		reply := i.replies[keysURL]
		i.replies[keysURL] = func(r *http.Request) (int, string) {
			<-gate
			return reply(r)
		}
		v := i.jwt(t, nil)
		token := i.token(t, nil)
		impatient, cancel := context.WithCancel(t.Context())
		results := make(chan error, 1)
		go func() {
			_, err := v.Verify(impatient, token)
			results <- err
		}()
		synctest.Wait()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if err := verify(t, v, token); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		cancel()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("the request that gave up: %v", err)
		}
		close(gate)
		wg.Wait()
		if n := i.count(keysURL); n != 1 {
			t.Errorf("keys were fetched %d times", n)
		}
	})
}

func TestDiscovery(t *testing.T) {
	const tenant = "https://login.example.com/tenant"
	meta := `{"issuer":"` + tenant + `","jwks_uri":"` + keysURL + `"}`
	for name, tt := range map[string]struct {
		replies map[string]string
		want    string // "" is good
	}{
		"RFC 8414":       {map[string]string{"/.well-known/oauth-authorization-server/tenant": meta}, ""},
		"OIDC, inserted": {map[string]string{"/.well-known/openid-configuration/tenant": meta}, ""},
		"OIDC, appended": {map[string]string{"/tenant/.well-known/openid-configuration": meta}, ""},
		"second is good": {map[string]string{"/.well-known/oauth-authorization-server/tenant": `{"issuer":"https://evil.example"}`, "/tenant/.well-known/openid-configuration": meta}, ""},
		"another issuer": {map[string]string{"/.well-known/oauth-authorization-server/tenant": strings.Replace(meta, tenant, "https://honest.example", 1)}, "another issuer"},
		"with a slash":   {map[string]string{"/.well-known/oauth-authorization-server/tenant": strings.Replace(meta, tenant, tenant+"/", 1)}, "another issuer"},
		"nothing":        {nil, "status 404"},
		"junk":           {map[string]string{"/.well-known/oauth-authorization-server/tenant": "<html>"}, "malformed"},
		"no keys":        {map[string]string{"/.well-known/oauth-authorization-server/tenant": `{"issuer":"` + tenant + `"}`}, "no jwks_uri"},
		"clear text":     {map[string]string{"/.well-known/oauth-authorization-server/tenant": strings.Replace(meta, keysURL, "http://login.example.com/keys", 1)}, "must be https"},
		"loopback":       {map[string]string{"/.well-known/oauth-authorization-server/tenant": strings.Replace(meta, keysURL, "http://127.0.0.1/keys", 1)}, "must be https"},
		"file":           {map[string]string{"/.well-known/oauth-authorization-server/tenant": strings.Replace(meta, keysURL, "file:///etc/keys", 1)}, "an https URL"},
	} {
		i := newIssuer(t)
		for at, body := range tt.replies {
			i.reply("https://login.example.com"+at, body)
		}
		i.url = tenant
		err := verify(t, i.jwt(t, nil), i.token(t, nil))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || isTokenError(err) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// With nothing configured, keys are only fetched from the issuer's origin,
// within bounds of size and time.
func TestOwnClient(t *testing.T) {
	i := newIssuer(t)
	mux := http.NewServeMux()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect led to another origin") }))
	defer other.Close()
	mux.HandleFunc("/good", func(w http.ResponseWriter, r *http.Request) {
		_, body := i.replies[keysURL](r)
		_, _ = io.WriteString(w, body)
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.Handle("/away", http.RedirectHandler(other.URL, http.StatusFound))
	mux.HandleFunc("/junk", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"?"}]}`)
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for path, want := range map[string]string{"/good": "", "/endless": "too large", "/slow": "Timeout", "/away": "another origin", "/junk": "no public key"} {
		v := i.jwt(t, func(o *auth.JWTOptions) {
			o.KeysURL, o.HTTP = srv.URL+path, nil
			if path == "/slow" {
				o.HTTP = &http.Client{Timeout: 50 * time.Millisecond}
			}
		})
		if err := verify(t, v, i.token(t, nil)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
