package webserver

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
)

// Listen listens at an address, as Address understands it.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	if addr == "" {
		return nil, errors.New(`there is no address to listen on; ":7331" is one on this machine, "0.0.0.0:7331" one for everybody`)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", Address(addr))
}

// Address returns the address to listen on. One without a host is on the
// loopback: who wants to be reached from other machines has to say so.
//
// Spec: 2026-07-28 basic/transports/streamable-http#security--endpoint.
func Address(addr string) string {
	if port, ok := strings.CutPrefix(addr, ":"); ok {
		return net.JoinHostPort("127.0.0.1", port)
	}
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		return net.JoinHostPort("127.0.0.1", addr)
	}
	return addr
}

// IsPublic reports whether an address that is listened on can be reached from other
// machines.
func IsPublic(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback()
}
