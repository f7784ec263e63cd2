package webserver_test

import (
	"testing"

	"github.com/parley-mcp/parley/internal/webserver"
)

// An address without a host is on the loopback, and not on every network.
func TestAddress(t *testing.T) {
	for addr, want := range map[string]string{
		":7331":           "127.0.0.1:7331",
		"7331":            "127.0.0.1:7331",
		":0":              "127.0.0.1:0",
		"0.0.0.0:7331":    "0.0.0.0:7331",
		"localhost:7331":  "localhost:7331",
		"[::1]:7331":      "[::1]:7331",
		"example.com":     "example.com",
		"99999":           "99999", // no port
		"127.0.0.1:https": "127.0.0.1:https",
	} {
		if got := webserver.Address(addr); got != want {
			t.Errorf("%q is at %q, want %q", addr, got, want)
		}
	}
}
