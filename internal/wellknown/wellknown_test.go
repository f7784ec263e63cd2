package wellknown_test

import (
	"net/url"
	"slices"
	"testing"

	"github.com/parley-mcp/parley/internal/wellknown"
)

func TestPlaces(t *testing.T) {
	const a = "https://a.example:8443/.well-known/"
	for _, tt := range []struct {
		name   string
		places func(*url.URL) []string
		of     string
		want   []string
	}{
		{"issuer", wellknown.Issuers, "https://a.example:8443", []string{a + "oauth-authorization-server", a + "openid-configuration"}},
		{"issuer with a slash", wellknown.Issuers, "https://a.example:8443/", []string{a + "oauth-authorization-server", a + "openid-configuration"}},
		{"issuer with a path", wellknown.Issuers, "https://a.example:8443/t%2F1", []string{
			a + "oauth-authorization-server/t%2F1", a + "openid-configuration/t%2F1", "https://a.example:8443/t%2F1/.well-known/openid-configuration",
		}},
		{"server", wellknown.Resources, "https://a.example:8443/", []string{a + "oauth-protected-resource"}},
		{"server with a path", wellknown.Resources, "https://a.example:8443/public/mcp", []string{a + "oauth-protected-resource/public/mcp", a + "oauth-protected-resource"}},
	} {
		u, err := url.Parse(tt.of)
		if err != nil {
			t.Fatal(err)
		}
		if got := tt.places(u); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
