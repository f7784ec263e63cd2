package mcptest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Site serves an HTTP handler in this process, over connections in memory. It
// is like an httptest.Server, but also works in the bubbles of
// testing/synctest, where real sockets do not. Its methods may be called
// concurrently.
type Site struct {
	// URL is the URL of the handler: any path below it leads there.
	URL string
	// Client reaches the site, and nothing else.
	Client *http.Client

	network *network
	server  *http.Server
	running sync.WaitGroup
}

// NewSite starts to serve a handler. The caller must call Close.
func NewSite(h http.Handler) *Site {
	n := &network{arriving: make(chan net.Conn), done: make(chan struct{}), open: map[net.Conn]bool{}}
	s := &Site{
		URL:     "http://" + loopback.IP.String(),
		Client:  &http.Client{Transport: &http.Transport{DialContext: n.dial}},
		network: n,
		server:  &http.Server{Handler: h}, //nolint:gosec // there are no untrusted clients
	}
	s.running.Go(func() { _ = s.server.Serve(n) }) // ends with Close
	return s
}

// Cut closes every connection, in the middle of whatever it carries. New ones
// can be opened.
func (s *Site) Cut() { s.network.cut() }

// Close closes every connection and ends the server. The contexts of handlers
// that are still running end, but Close does not wait for the handlers.
func (s *Site) Close() {
	s.Client.CloseIdleConnections()
	_ = s.server.Close() // closing a network in memory does not fail
	s.network.cut()
	s.running.Wait()
}

// network is a listener whose connections have no buffers, and have loopback
// addresses.
type network struct {
	arriving chan net.Conn
	done     chan struct{}
	down     sync.Once

	mu   sync.Mutex
	open map[net.Conn]bool // the client's ends
}

var _ net.Listener = (*network)(nil)

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	n.mu.Lock()
	n.open[near] = true
	n.mu.Unlock()
	forget := func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.open, near)
	}
	select {
	case n.arriving <- local{far, nil}:
		return local{near, forget}, nil
	case <-n.done:
		forget()
		return nil, net.ErrClosed
	case <-ctx.Done():
		forget()
		return nil, context.Cause(ctx)
	}
}

func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for conn := range n.open {
		_ = conn.Close() // closing a pipe does not fail
	}
	clear(n.open)
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
	n.down.Do(func() { close(n.done) })
	return nil
}

func (n *network) Addr() net.Addr { return loopback }

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}

// local is one end of a connection.
type local struct {
	net.Conn
	closed func()
}

func (l local) Close() error {
	if l.closed != nil {
		l.closed()
	}
	return l.Conn.Close()
}

func (local) LocalAddr() net.Addr  { return loopback }
func (local) RemoteAddr() net.Addr { return loopback }
