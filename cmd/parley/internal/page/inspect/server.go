// Package inspect is what the page of "parley inspect" stands on: connections to servers,
// and an API for all that can be done with them. Each field of the work, such as calls or
// questions, is a part; see parts.go.
package inspect

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/appframe"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

// maxConnections bounds the connections that are open or kept at a time.
const maxConnections = 64

// Options say what a Server stands on.
type Options struct {
	// Servers returns what configuration files name, with secrets masked. nil means
	// nothing.
	Servers func(context.Context) ([]target.Listed, error)
	// Resolve returns the target of one of them, with values for its inputs. It must be
	// set if Servers is. That a value is missing or wrong is a *target.InputError.
	Resolve func(ctx context.Context, file, name string, inputs map[string]string) (*target.Target, error)
	// Logins is where logins are kept. nil means in memory.
	Logins oauth.Store
	// Cards returns the server cards that a server at a URL publishes, or its host for it:
	// an object with the member "cards". nil means that the page shows none.
	Cards func(ctx context.Context, t *target.Target) (json.RawMessage, error)
	// Logger logs what servers do wrong. nil means slog.Default().
	Logger *slog.Logger
	// Hub tells whoever watches what happens. Required.
	Hub *web.Hub
	// Client names this program to servers.
	Client mcp.Implementation
	// Dir is a folder for what is recorded, which the caller removes. Required.
	Dir string
	// Frames shows apps. nil means that the page cannot.
	Frames *appframe.Frames
	// Judge judges servers. nil means that the page cannot.
	Judge Judge
	// First is connected to at once, unless it is nil.
	First *target.Target
}

// Server has the connections of a page. It is safe for concurrent use.
type Server struct {
	opts  Options
	parts []part
	// run tells this Server from others at the same address, which number their connections
	// and calls from one on, too.
	run string
	// logins is one of the parts, which connecting needs.
	logins *logins

	mu          sync.Mutex
	closed      bool
	last        int // the number of the last connection
	connections []*Connection
}

// New returns a Server, and begins to connect to what Options.First names.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Logins == nil {
		o.Logins = oauth.NewMemoryStore()
	}
	s := &Server{opts: o, run: rand.Text()}
	s.logins = &logins{s}
	s.parts = newParts(s)
	if o.First != nil {
		_, _ = s.open(&wish{Target: *o.First}) // there is room for one
	}
	return s
}

// Close closes all connections and waits for their end.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	all := s.connections
	s.connections = nil
	s.mu.Unlock()
	var group sync.WaitGroup
	errs := make([]error, len(all))
	for i, c := range all {
		group.Go(func() { errs[i] = c.end() }) // ends with the connection
	}
	group.Wait()
	return errors.Join(errs...)
}

// open adds a connection and begins to connect.
func (s *Server) open(w *wish) (*Connection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, web.Errorf(http.StatusServiceUnavailable, "closing", "parley is being closed")
	case len(s.connections) >= maxConnections:
		err := web.Errorf(http.StatusConflict, "too_many", "there are %d connections already, and there can be no more", maxConnections)
		err.Hint = "close one that is no longer needed"
		return nil, err
	}
	c, err := newConnection(s, "c"+strconv.Itoa(s.last+1), w)
	if err != nil {
		return nil, err
	}
	s.last++
	s.connections = append(s.connections, c)
	c.connect()
	return c, nil
}

// all returns the connections, oldest first.
func (s *Server) all() []*Connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.connections)
}

// byID returns a connection, or nil if there is none.
func (s *Server) byID(id string) *Connection {
	for _, c := range s.all() {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// connection returns the connection that a request names. The error is a *web.Error.
func (s *Server) connection(r *web.Request) (*Connection, error) {
	if c := s.byID(r.PathValue("c")); c != nil {
		return c, nil
	}
	err := web.Errorf(http.StatusNotFound, "no_connection", "there is no connection %q", r.PathValue("c"))
	err.Hint = "it was closed, or belongs to an earlier run of parley: connect again"
	return nil, err
}

// remove closes a connection for good.
func (s *Server) remove(c *Connection) error {
	s.mu.Lock()
	s.connections = slices.DeleteFunc(s.connections, func(other *Connection) bool { return other == c })
	s.mu.Unlock()
	return c.end()
}
