package loopback_test

import (
	"testing"

	"github.com/parley-mcp/parley/internal/loopback"
)

func TestIs(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.8.9.1": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "localhost.example.com": false, "127.0.0.1.example.com": false, "10.0.0.1": false, "0.0.0.0": false, "::": false, "2130706433": false,
	} {
		if got := loopback.Is(host); got != want {
			t.Errorf("Is(%q) is %v", host, got)
		}
	}
}
