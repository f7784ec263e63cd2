package httpserve

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the proxies whose word is taken for the address of a client. A nil
// *Proxies trusts none.
type Proxies struct{ networks []netip.Prefix }

// NewProxies returns the proxies in networks, such as "10.0.0.0/8", or at single
// addresses.
func NewProxies(networks []string) (*Proxies, error) {
	if len(networks) == 0 {
		return nil, nil //nolint:nilnil // trusts none
	}
	p := &Proxies{}
	for _, n := range networks {
		prefix, err := netip.ParsePrefix(n)
		if address, bad := netip.ParseAddr(n); bad == nil {
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf(`trusted proxy %q is neither a network, such as "10.0.0.0/8", nor an address`, n)
		}
		p.networks = append(p.networks, prefix.Masked())
	}
	return p, nil
}

// Client returns the address of the client of a request, without port: that of the
// connection, or, if this is a trusted proxy, the last one in X-Forwarded-For or
// Forwarded that is not. What stands before it is the client's own word.
func (p *Proxies) Client(r *http.Request) string {
	address := hostname(r.RemoteAddr)
	if p == nil || !p.trusts(address) {
		return address
	}
	plain, standard := p.last(address, forwardedFor(r.Header)), p.last(address, forwarded(r.Header))
	switch {
	case len(r.Header["Forwarded"]) == 0:
		return plain
	case len(r.Header["X-Forwarded-For"]) == 0 || plain == standard:
		return standard
	}
	return address // a client has sent one of the two itself
}

func (p *Proxies) trusts(address string) bool {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	a = a.Unmap().WithZone("")
	for _, n := range p.networks {
		if n.Contains(a) {
			return true
		}
	}
	return false
}

// last returns the last of hops that is not a trusted proxy, or the one before a hop
// that is no address: nobody knows what is behind that.
func (p *Proxies) last(address string, hops []string) string {
	for i := len(hops) - 1; i >= 0 && p.trusts(address); i-- {
		hop, err := netip.ParseAddr(hostname(strings.TrimSpace(hops[i])))
		if err != nil {
			return address
		}
		address = hop.Unmap().String()
	}
	return address
}

// forwardedFor returns the hops in X-Forwarded-For.
func forwardedFor(h http.Header) []string {
	return strings.Split(strings.Join(h["X-Forwarded-For"], ","), ",")
}

// forwarded returns the hops in Forwarded (RFC 7239). One without an address is "".
func forwarded(h http.Header) []string {
	var hops []string
	for element := range strings.SplitSeq(strings.Join(h["Forwarded"], ","), ",") {
		hop := ""
		for pair := range strings.SplitSeq(element, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if strings.EqualFold(name, "for") {
				hop = strings.Trim(value, `"`)
			}
		}
		hops = append(hops, hop)
	}
	return hops
}
