package safehttp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/parley-mcp/parley/internal/httpcall"
)

// Check reports why a URL is not allowed, as far as the URL alone shows it.
func (o Options) Check(u *url.URL) error {
	own := o.NamedBy != nil && httpcall.SameOrigin(u, o.NamedBy)
	loopback := o.AllowLoopback || o.NamedBy != nil && IsLoopback(o.NamedBy)
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("%w %q, which is no https URL with a host", ErrRefused, origin(u))
	case u.User != nil:
		return fmt.Errorf("%w %q, because it holds a user name", ErrRefused, origin(u))
	case u.Scheme == "http" && !IsLoopback(u) && !o.AllowHTTP:
		return fmt.Errorf("%w %q, because it is not https", ErrRefused, origin(u))
	case own:
		return nil
	case IsLoopback(u) && !loopback:
		return fmt.Errorf("%w %q, because it is on this machine", ErrRefused, origin(u))
	}
	o.AllowLoopback = loopback
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		return o.checkAddr(ip)
	}
	return nil
}

// origin returns the part of a URL that errors may show: the rest may be
// secret.
func origin(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}

// IsLoopback reports whether a URL is on this machine, by its host name or
// address.
func IsLoopback(u *url.URL) bool {
	return httpcall.IsLoopback(u.Hostname())
}

// dial connects to an address that is allowed, or to the origin of NamedBy.
func (o Options) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{Timeout: 10 * time.Second}
	if !o.isOwn(addr) {
		d.ControlContext = func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
			return o.checkDial(resolved)
		}
	}
	return d.DialContext(ctx, network, addr)
}

func (o Options) isOwn(addr string) bool {
	if o.NamedBy == nil {
		return false
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	return httpcall.SameOrigin(o.NamedBy, &url.URL{Scheme: o.NamedBy.Scheme, Host: net.JoinHostPort(host, port)})
}

func (o Options) checkDial(resolved string) error {
	ap, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return fmt.Errorf("%w an address that is none", ErrRefused)
	}
	return o.checkAddr(ap.Addr())
}

// checkAddr says why an address is not allowed. It does not name the address,
// which may be what an attacker wants to learn.
func (o Options) checkAddr(ip netip.Addr) error {
	ip = inner(ip.WithZone(""))
	switch {
	case ip.IsLoopback():
		if !o.AllowLoopback {
			return fmt.Errorf("%w an address of this machine", ErrRefused)
		}
	case ip.IsPrivate() && ip != metadataULA || within(shared, ip) && ip != metadataShared:
		if !o.AllowPrivate {
			return fmt.Errorf("%w an address of a private network", ErrRefused)
		}
	case !ip.IsGlobalUnicast() || within(reserved, ip) || ip == metadataULA || ip == metadataShared || ip == metadataPublic:
		return fmt.Errorf("%w an address that is not for the public", ErrRefused)
	}
	return nil
}

// Addresses at which clouds serve their own machines, outside the link-local
// ranges.
var (
	metadataULA    = netip.MustParseAddr("fd00:ec2::254")
	metadataShared = netip.MustParseAddr("100.100.100.200")
	metadataPublic = netip.MustParseAddr("168.63.129.16")
)

var shared = []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10")}

// reserved are the ranges of the special-purpose registries (RFC 6890) that
// net/netip does not treat as special.
var reserved = prefixes(
	"0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
)

func prefixes(list ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, s := range list {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

func within(list []netip.Prefix, ip netip.Addr) bool {
	for _, p := range list {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

// inner returns the IPv4 address that an IPv6 address embeds, if there is one.
func inner(ip netip.Addr) netip.Addr {
	b := ip.As16()
	switch {
	case nat64.Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:16]))
	case sixToFour.Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip.Unmap()
}
