package cli

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// A server that demands no login needs neither a folder for credentials nor
// https.
func TestReachesServersWithoutCredentials(t *testing.T) {
	for name, tt := range map[string]struct{ url, credentials string }{
		"in the clear":    {"http://192.0.2.1/mcp", t.TempDir() + "/credentials"},
		"no place":        {"https://mcp.example.com/mcp", "/dev/null/credentials"},
		"on this machine": {"http://127.0.0.1:1/mcp", "/dev/null/credentials"},
	} {
		a, c := newTestApp("", false)
		a.io.LookupEnv = func(name string) (string, bool) { return tt.credentials, name == storeVariable }
		if _, err := a.transport(t.Context(), target.Target{URL: tt.url}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := c.err.String(); got != "" {
			t.Errorf("%s: %q was said before it mattered", name, got)
		}
		for _, end := range a.atEnd {
			if err := end(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A user who logs in without a folder for credentials is told that the login
// will not last.
func TestPassingCredentials(t *testing.T) {
	a, c := newTestApp("", false)
	a.io.LookupEnv = func(name string) (string, bool) { return "/dev/null/credentials", name == storeVariable }
	s := a.credentials(t.Context())
	put(t, s, "a", "1")
	put(t, s, "a", "2")
	if got, err := s.Load(t.Context(), "a"); err != nil || string(got) != "2" {
		t.Errorf("got %q, %v", got, err)
	}
	if n := strings.Count(c.err.String(), "for this command only"); n != 1 {
		t.Errorf("said %d times: %q", n, c.err.String())
	}
}

func TestNoLoginInTheClear(t *testing.T) {
	for url, good := range map[string]bool{"http://192.0.2.1/mcp": false, "http://127.0.0.1/mcp": true, "https://mcp.example.com/mcp": true} {
		if err := new(loginFlags).check(target.Target{URL: url}); (err == nil) != good {
			t.Errorf("%s: %v", url, err)
		}
	}
}
