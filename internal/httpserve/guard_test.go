package httpserve

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestGuard(t *testing.T) {
	const local, lan = "127.0.0.1:7331", "192.168.1.5:7331"
	tests := []struct {
		name   string
		hosts  []string
		at     string // the address at which the request arrived
		tls    bool
		host   string
		origin []string
		ok     bool
	}{
		{"loopback", nil, local, false, "localhost:7331", nil, true},
		{"loopback by address", nil, local, false, "127.0.0.1:7331", []string{"http://127.0.0.1:7331"}, true},
		{"loopback, IPv6", nil, "[::1]:7331", false, "[::1]:7331", []string{"http://[::1]:7331"}, true},
		{"loopback, IPv6 without port", nil, "[::1]:80", false, "[::1]", []string{"http://[::1]"}, true},
		{"loopback, another port", nil, local, false, "localhost:7331", []string{"http://localhost:3000"}, false},
		{"loopback, by another name", nil, local, false, "127.0.0.1:7331", []string{"http://localhost:7331"}, true},
		{"loopback, foreign name", nil, local, false, "evil.example.com:7331", nil, false},
		{"loopback, name that begins with an address", nil, local, false, "127.0.0.1.example.com", nil, false},
		{"loopback, no name", nil, local, false, "", nil, false},
		{"loopback, too many colons", nil, local, false, "localhost:1:2", nil, false},
		{"foreign origin", nil, lan, false, "192.168.1.5:7331", []string{"http://evil.example.com"}, false},
		{"own address", nil, lan, false, "192.168.1.5:7331", []string{"http://192.168.1.5:7331"}, true},
		{"own address, another port", nil, lan, false, "192.168.1.5:7331", []string{"http://192.168.1.5:80"}, false},
		{"rebound name", nil, lan, false, "evil.example.com:7331", []string{"http://evil.example.com:7331"}, false},
		{"allowed name", []string{"mcp.example.com"}, lan, false, "mcp.example.com:7331", []string{"http://mcp.example.com:7331"}, true},
		{"name of a certificate", nil, lan, true, "mcp.example.com", []string{"https://mcp.example.com"}, true},
		{"port passed on by a container", nil, "172.17.0.2:7331", false, "localhost:7331", []string{"http://localhost:7331"}, true},
		{"name that is not allowed", []string{"mcp.example.com"}, lan, false, "other.example.com", nil, false},
		{"two origins", nil, local, false, "localhost:7331", []string{"http://localhost:7331", "http://localhost:7331"}, false},
		{"no origin", nil, lan, false, "evil.example.com", nil, true}, // no browser sends this with a body
		{"null origin", nil, local, false, "localhost", []string{"null"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := NewGuard(tt.hosts, nil)
			if err != nil {
				t.Fatal(err)
			}
			at, err := net.ResolveTCPAddr("tcp", tt.at)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(at)), "POST", "/", nil)
			r.Host = tt.host
			if tt.tls {
				r.TLS = &tls.ConnectionState{}
			}
			if tt.origin != nil {
				r.Header["Origin"] = tt.origin
			}
			if err := g.Check(r); (err == nil) != tt.ok {
				t.Errorf("Check: %v, want it to pass: %v", err, tt.ok)
			}
		})
	}
}

// What no Host header can be would lock everybody out, so it is refused.
func TestHostsThatAreNone(t *testing.T) {
	for _, host := range []string{"", "https://mcp.example.com", "mcp.example.com/mcp", "*", "*.example.com", "a, b", ":80"} {
		if _, err := NewGuard([]string{host}, nil); err == nil {
			t.Errorf("%q is taken", host)
		}
	}
	for _, host := range []string{"mcp.example.com", "mcp.example.com:443", "::1", "[::1]:80", "10.0.0.1", "a_b"} {
		if _, err := NewGuard([]string{host}, nil); err != nil {
			t.Error(err)
		}
	}
}
