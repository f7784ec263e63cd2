package model_test

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// network is one in memory: connections without buffers, each end of which
// says that it is on the loopback.
type network struct {
	arriving chan net.Conn
	done     chan struct{}
	down     func()
}

var _ net.Listener = (*network)(nil)

func newNetwork() *network {
	n := &network{arriving: make(chan net.Conn), done: make(chan struct{})}
	n.down = sync.OnceFunc(func() { close(n.done) })
	return n
}

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case n.arriving <- local{far}:
		return local{near}, nil
	case <-n.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.arriving:
		return conn, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	n.down()
	return nil
}

func (n *network) Addr() net.Addr { return loopback }

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}

type local struct{ net.Conn }

func (local) LocalAddr() net.Addr  { return loopback }
func (local) RemoteAddr() net.Addr { return loopback }

// site is an HTTP handler that is served over a network, and a client that
// can reach it.
type site struct {
	server  *http.Server
	client  *http.Client
	running sync.WaitGroup
}

func newSite(h http.Handler) *site {
	n := newNetwork()
	s := &site{server: &http.Server{Handler: h}, client: &http.Client{Transport: &http.Transport{DialContext: n.dial}}}
	s.running.Go(func() { _ = s.server.Serve(n) }) // ends with close
	return s
}

func (s *site) close() {
	s.client.CloseIdleConnections()
	_ = s.server.Close() // all have been served
	s.running.Wait()
}
