package inspect

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/record"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// copier is one of the forms that an exchange can be copied in.
type copier = func(uint64, *target.Target, bool) (record.Copy, error)

// cable is the network below a connection, which can be cut.
type cable struct {
	mu        sync.Mutex
	transport *http.Transport
	lines     map[*line]struct{}
}

// round returns what makes the requests of the connection.
func (c *cable) round() *http.Transport {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.transport == nil {
		c.lines = map[*line]struct{}{}
		c.transport = &http.Transport{Proxy: http.ProxyFromEnvironment}
		if t, ok := http.DefaultTransport.(*http.Transport); ok {
			c.transport = t.Clone()
		}
		dial := c.transport.DialContext
		if dial == nil {
			dial = new(net.Dialer).DialContext
		}
		c.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return c.lay(conn), nil
		}
	}
	return c.transport
}

// line is one network connection of a cable.
type line struct {
	net.Conn
	of *cable
}

func (c *cable) lay(conn net.Conn) *line {
	l := &line{conn, c}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines[l] = struct{}{}
	return l
}

// Close implements net.Conn.
func (l *line) Close() error {
	l.of.mu.Lock()
	delete(l.of.lines, l)
	l.of.mu.Unlock()
	return l.Conn.Close()
}

// cut breaks all network connections, as a failing network would, and returns how many
// there were.
func (c *cable) cut() int {
	c.mu.Lock()
	lines := c.lines
	c.lines = map[*line]struct{}{}
	c.mu.Unlock()
	for l := range lines {
		_ = l.Conn.Close() // whoever reads from it is told
	}
	return len(lines)
}

// end gives up the network connections that nobody uses.
func (c *cable) end() {
	c.mu.Lock()
	t := c.transport
	c.mu.Unlock()
	if t != nil {
		t.CloseIdleConnections() // which calls line.Close
	}
}
