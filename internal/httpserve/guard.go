// Package httpserve is what the servers of the HTTP transports share: who may
// send requests, how many, and how the responses are written.
package httpserve

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/httpcall"
)

// Guard refuses requests that a foreign web page made a browser send. It goes by
// the Host header, which reveals DNS rebinding, and by Origin.
//
// Spec: 2026-07-28 basic/transports/streamable-http#security--endpoint.
type Guard struct {
	hosts   []string
	origins []string
}

// NewGuard returns a Guard. nil hosts accept any host, except that requests to a
// loopback address must name a loopback host. origins are accepted in addition to
// the server's own; "*" accepts any.
func NewGuard(hosts, origins []string) (*Guard, error) {
	g := &Guard{}
	for _, h := range hosts {
		if !isHost(h) {
			return nil, fmt.Errorf(`host %q is not of the form "mcp.example.com" (names are compared as a whole, without scheme, path and wildcard)`, h)
		}
		g.hosts = append(g.hosts, strings.ToLower(hostname(h)))
	}
	for _, o := range origins {
		u, err := url.Parse(o)
		if o != "*" && (err != nil || u.Scheme == "" || u.Host == "" || u.Path != "") {
			return nil, fmt.Errorf(`origin %q is not of the form "https://host:port"`, o)
		}
		g.origins = append(g.origins, strings.ToLower(o))
	}
	return g, nil
}

// isHost reports whether a Host header can be this: no client would get in otherwise.
func isHost(h string) bool {
	return hostname(h) != "" && !strings.ContainsAny(h, "/*?#@ ,")
}

// Check returns why a request is refused, or nil.
func (g *Guard) Check(r *http.Request) error {
	host := strings.ToLower(hostname(r.Host))
	switch {
	case g.hosts != nil && !slices.Contains(g.hosts, host):
		return fmt.Errorf("host %q is not among the allowed hosts", host)
	case g.hosts == nil && onLoopback(r) && !httpcall.IsLoopback(host):
		return fmt.Errorf("host %q is not a name of the loopback, which this server listens on; allow it by name if a proxy passes it on", host)
	}
	return g.checkOrigin(r, host)
}

// checkOrigin accepts the allowed origins, and pages of the same host if that is
// known to be this server.
func (g *Guard) checkOrigin(r *http.Request, host string) error {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return nil
	}
	origin := strings.ToLower(values[0])
	if len(values) == 1 && g.lists(origin) {
		return nil
	}
	u, err := url.Parse(origin)
	if len(values) > 1 || err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("origin %q is not allowed", values[0])
	}
	switch own := strings.EqualFold(u.Host, r.Host); {
	case own && g.known(r, host), sameLoopback(u.Host, r):
		return nil
	case own:
		return fmt.Errorf("origin %q is not allowed; allow host %q by name if it is this server's", values[0], host)
	}
	return fmt.Errorf("origin %q is not allowed", values[0])
}

// sameLoopback reports whether an origin and the host of a request are two names of
// this machine, with the same port. Another port is another server, whose pages are as
// foreign as any.
func sameLoopback(origin string, r *http.Request) bool {
	return onLoopback(r) && httpcall.IsLoopback(hostname(r.Host)) && httpcall.IsLoopback(hostname(origin)) && port(origin) == port(r.Host)
}

// port returns the port in a host, or "".
func port(host string) string {
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		return ""
	}
	return port
}

// known reports whether host is certain to be the server's own, rather than a
// name that somebody made resolve to it: it was allowed, it is an address or a
// loopback name, or a certificate vouches for it.
func (g *Guard) known(r *http.Request, host string) bool {
	_, err := netip.ParseAddr(host)
	return g.hosts != nil || r.TLS != nil || err == nil || httpcall.IsLoopback(host)
}

// hostname returns a Host header without its port.
func hostname(host string) string {
	if strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']') {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
	}
	return strings.Trim(host, "[]")
}

// onLoopback reports whether the request arrived at a loopback address.
func onLoopback(r *http.Request) bool {
	switch addr := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return addr.IP.IsLoopback()
	case net.Addr:
		return httpcall.IsLoopback(hostname(addr.String()))
	}
	return false
}
