// Package loopback knows which hosts are this machine.
package loopback

import (
	"net/netip"
	"strings"
)

// Is reports whether a host, given without port, is this machine, by name or by
// address.
func Is(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
