package oauth_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
)

func FuzzParseAnswer(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1/callback?code=a&state=b", "abc", "?error=x", "code=%zz", "a?b?c=d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		v, err := oauth.ParseAnswer(line, "state")
		if (err == nil) != (v.Has("code") || v.Has("error")) {
			t.Errorf("%q: %v, %v", line, v, err)
		}
	})
}

// No response without the right state and issuer yields a code.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"code=a&state=s&iss=https://as.example", "code=a&state=s", "error=x&state=s&iss=x", "code=a&code=b&state=s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		v, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		code, err := oauth.CheckAnswerForTest("https://as.example", "s", true, v)
		if err == nil && (code == "" || v.Get("state") != "s" || v.Get("iss") != "https://as.example" || v.Has("error")) {
			t.Errorf("%q: code %q", query, code)
		}
	})
}

// A resource that is accepted has the server's origin, and is not below its
// path.
func FuzzCheckResource(f *testing.F) {
	server, err := url.Parse("https://mcp.example/a/b")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"https://mcp.example/a/b", "https://mcp.example", "HTTPS://MCP.example:443/a/", "https://mcp.example/a/b/c", "https://mcp.example@evil.example/a/b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, resource string) {
		if oauth.CheckResource(resource, server) != nil {
			return
		}
		u, err := url.Parse(resource)
		if err != nil || !strings.EqualFold(u.Scheme, "https") || !strings.EqualFold(u.Hostname(), "mcp.example") || u.User != nil ||
			!strings.HasPrefix("/a/b/", strings.TrimSuffix(u.Path, "/")+"/") {
			t.Errorf("%q was accepted", resource)
		}
	})
}

// Metadata is only looked for at the issuer's origin.
func FuzzWellKnown(f *testing.F) {
	for _, s := range []string{"https://as.example", "https://as.example/", "https://as.example/t/1/", "https://as.example?x", "https://a@b/c", "//x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, issuer string) {
		places, err := oauth.WellKnown(issuer)
		if err != nil {
			return
		}
		want, _ := url.Parse(issuer)
		for _, p := range places {
			if u, err := url.Parse(p); err != nil || u.Host != want.Host || u.User != nil || !strings.Contains(u.Path, "/.well-known/") {
				t.Errorf("%q: %q, %v", issuer, p, err)
			}
		}
	})
}

func FuzzDocuments(f *testing.F) {
	for _, s := range []string{
		`{"accessToken":"a","dpopKey":{"kty":"EC"}}`, `{"client_id":"c","client_secret":"s","client_secret_expires_at":1e300}`,
		`{"client_id":"c","token_endpoint_auth_method":"none","redirect_uris":["http://127.0.0.1:1/callback"]}`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		_, _ = oauth.DecodeForTest(doc)
		id, method, err := oauth.ReadRegistrationForTest(doc, "http://127.0.0.1:1/callback")
		if err == nil && (id == "" || method == "") {
			t.Errorf("%s: client %q, method %q", doc, id, method)
		}
	})
}
