package httpserve

import (
	"net/http/httptest"
	"testing"
)

// The client is who the nearest proxy that is not trusted, or else the farthest that
// is, names. A client cannot choose its address.
func TestClientBehindProxies(t *testing.T) {
	p, err := NewProxies([]string{"10.0.0.0/8", "127.0.0.1", "2001:db8:1::/48"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, remote, plain, standard, want string
	}{
		{"no proxy", "192.0.2.1:5", "198.51.100.1", "", "192.0.2.1"},
		{"a proxy", "10.0.0.1:5", "192.0.2.1", "", "192.0.2.1"},
		{"a proxy on this machine", "127.0.0.1:5", "192.0.2.1", "", "192.0.2.1"},
		{"a proxy that says nothing", "10.0.0.1:5", "", "", "10.0.0.1"},
		{"two proxies", "10.0.0.1:5", "192.0.2.1, 10.0.0.2", "", "192.0.2.1"},
		{"a client that claims more", "10.0.0.1:5", "127.0.0.1,198.51.100.1, 192.0.2.1", "", "192.0.2.1"},
		{"a client within the network", "10.0.0.1:5", "10.0.0.3", "", "10.0.0.3"},
		{"ports and IPv6", "10.0.0.1:5", "[2001:db8::1]:44", "", "2001:db8::1"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:5", "::ffff:192.0.2.1", "", "192.0.2.1"},
		{"no address", "10.0.0.1:5", "192.0.2.1, unknown, 10.0.0.2", "", "10.0.0.2"},
		{"Forwarded", "10.0.0.1:5", "", `for=198.51.100.1, for="[2001:db8::1]:44";proto=https, By=x;For=10.0.0.2`, "2001:db8::1"},
		{"Forwarded without an address", "10.0.0.1:5", "", `for=192.0.2.1, proto=https`, "10.0.0.1"},
		{"both agree", "10.0.0.1:5", "192.0.2.1", "for=192.0.2.1", "192.0.2.1"},
		{"both disagree", "10.0.0.1:5", "192.0.2.1", "for=192.0.2.2", "10.0.0.1"},
		{"a trusted IPv6 network", "[2001:db8:1::9]:5", "192.0.2.1", "", "192.0.2.1"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
		r.RemoteAddr = tt.remote
		if tt.plain != "" {
			r.Header.Set("X-Forwarded-For", tt.plain)
		}
		if tt.standard != "" {
			r.Header.Set("Forwarded", tt.standard)
		}
		if got := p.Client(r); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for _, bad := range []string{"proxy.example.com", "10.0.0.0/33", ""} {
		if _, err := NewProxies([]string{bad}); err == nil {
			t.Errorf("%q is taken for a network", bad)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	r.RemoteAddr = "10.0.0.1:5"
	r.Header.Set("X-Forwarded-For", "192.0.2.1")
	if got := (*Proxies)(nil).Client(r); got != "10.0.0.1" {
		t.Errorf("%s is believed without being trusted", got)
	}
}
