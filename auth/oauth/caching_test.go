package oauth_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
)

type credentialed interface {
	Credentials(ctx context.Context) (id string, known bool)
}

// The transport tells a cache which token is in use. It does not know when the token
// has ended, since the next request gets another one, nor above a transport that may
// add anything.
//
// Spec: 2026-07-28 server/utilities/caching#cache-scope-field.
func TestCachesKnowTheToken(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	of := func(why string, base http.RoundTripper, want bool) string {
		t.Helper()
		tr, _ := c.Transport(base).(credentialed)
		id, known := tr.Credentials(t.Context())
		if known != want {
			t.Errorf("%s: known is %v", why, known)
		}
		return id
	}
	if id := of("before the login", nil, true); id != "" {
		t.Errorf("before the login: %q", id)
	}
	w.ok(c)
	first := of("after the login", nil, true)
	if first == "" || first != of("again", nil, true) {
		t.Errorf("the same token has other credentials, or none: %q", first)
	}
	of("above an unknown transport", http.NewFileTransport(http.Dir(".")), false)
	if err := oauth.AgeForTest(t.Context(), c, 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	of("when the token has ended", nil, false)
	w.ok(c)
	if id := of("with the next token", nil, true); id == first {
		t.Error("another token has the same credentials")
	}
}
