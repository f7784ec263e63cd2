package naming_test

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
)

func TestUnusual(t *testing.T) {
	for _, uri := range []string{
		"file:///a/b.txt", "file://host/a/..b", "note://Alice/17", "memo:a..b", "https://example.com/a?path=../b#../c", "https://example.com//a",
		"x://a/%C3%A4%20%2F", "x://a/%", "x://a/%zz", "no scheme", "urn:isbn:123", "ui://admin/panel", "x://a/...", "x:", "",
	} {
		if why := naming.Unusual(uri); why != "" {
			t.Errorf("%s has %s", uri, why)
		}
	}
	for uri, want := range map[string]string{
		"file:///pub/../secret/k": "segments", "file:///./secret/k": "segments", "file:///a/..": "segments", "memo:../b": "segments", "x://../b": "segments",
		"file:////secret/k": "empty", `file:///a/..\secret`: "segments", "file:///a%2f..%2fb": "segments", `x://a/%5C..%5cb`: "segments",
		"file:///a/%2e%2E/b": "need not be", "x://a/%41": "need not be", "x://a/%7e%20": "need not be", "x://a/%20%61": "need not be",
		"FILE:///secret/k": "scheme", "https://Example.com/a": "host", "file://Host/a": "host",
	} {
		if why := naming.Unusual(uri); !strings.Contains(why, want) {
			t.Errorf("%s has %q, want %s", uri, why, want)
		}
	}
}

func FuzzUnusual(f *testing.F) {
	for _, seed := range []string{"file:///a/%2e%2e/b", "x:%", "x://%4", "://", "x:%%41"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if why := naming.Unusual(uri); why == "" && strings.Contains(uri, ":") && strings.HasSuffix(uri, "/..") && !strings.ContainsAny(uri, "?#") {
			t.Errorf("%q passes", uri)
		}
	})
}
