package inspect

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/record"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/wire"
)

// state is what there is to say of a connection in a word.
type state string

// The states. Only live ones have a client.
const (
	connecting state = "connecting"
	loggingIn  state = "login"  // it waits for somebody to log in
	up         state = "up"     // calls can be made
	lost       state = "lost"   // it was up, and the server went away
	failed     state = "failed" // it never was up
	closed     state = "closed" // somebody closed it; it can be opened again
)

// Connection is a server that somebody connected to, until it is closed for good: over
// lost connections and new ones, and over reloads of the page.
type Connection struct {
	// ID names the connection in the API.
	ID string
	// Frames has what travelled.
	Frames *record.Recorder

	server *Server
	ctx    context.Context //nolint:containedctx // ends with the connection, which outlives every request
	cancel context.CancelFunc
	work   sync.WaitGroup // what spawn started

	turn    sync.Mutex         // held while an attempt is being started or stopped
	stop    context.CancelFunc // stops the attempt; nil if there was none
	stopped chan struct{}      // closed when the attempt has ended

	mu     sync.Mutex
	wish   *wish
	state  state
	since  time.Time
	err    *web.Error // why it is lost or failed
	client *client.Client
	wire   *observer    // of the last attempt
	web    *http.Client // makes its requests, if the server is at a URL
	last   *description // of the server, when it was up last; nil if it never was
	stderr lines
	change chan struct{} // closed, and replaced, when the connection changes

	keepMu sync.Mutex
	kept   map[reflect.Type]any
}

func newConnection(s *Server, id string, w *wish) (*Connection, error) {
	frames, err := record.New(record.Options{Dir: s.opts.Dir, Mask: w.redactor()})
	if err != nil {
		return nil, err
	}
	c := &Connection{ID: id, Frames: frames, server: s, wish: w, state: closed, since: time.Now(), wire: new(observer), change: make(chan struct{}), kept: map[reflect.Type]any{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.stderr.after = c.changed
	return c, nil
}

// context ends with the connection.
func (c *Connection) context() context.Context { return c.ctx }

// spawn runs something that ends with the connection, which waits for it. On a
// connection that has ended, nothing runs.
func (c *Connection) spawn(f func(ctx context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() == nil {
		c.work.Go(func() { f(c.ctx) }) // ends with c.ctx
	}
}

// live returns the client of a connection that is up. The error is a *web.Error.
func (c *Connection) live() (*client.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != nil {
		return c.client, nil
	}
	err := web.Errorf(http.StatusConflict, "not_connected", "%s is not connected", c.wish.title())
	switch c.state {
	case connecting:
		err.Hint = "it is being connected: wait a moment"
	case loggingIn:
		err.Hint = "it waits for you to log in"
	default:
		err.Hint = "reconnect first"
	}
	return nil, err
}

// publish tells whoever watches that something happened. data must encode to an object,
// to which the member "connection" is added.
func (c *Connection) publish(topic string, data any) {
	raw, err := wire.Marshal(data)
	if err != nil || len(raw) < 2 || raw[0] != '{' {
		c.server.opts.Logger.Error("an event that is no object", "topic", topic, "error", err)
		return
	}
	head := `{"connection":"` + c.ID + `"`
	if string(raw) != "{}" {
		head += ","
	}
	c.server.opts.Hub.Publish(topic, json.RawMessage(append([]byte(head), raw[1:]...)))
}

// changed tells whoever watches that the connection itself has changed.
func (c *Connection) changed() {
	c.mu.Lock()
	close(c.change)
	c.change = make(chan struct{})
	c.mu.Unlock()
	c.publish("connection", c.brief())
}

// next is closed when the connection changes.
func (c *Connection) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.change
}

// set changes the state.
func (c *Connection) set(s state, cl *client.Client, err *web.Error) {
	c.mu.Lock()
	c.state, c.client, c.err, c.since = s, cl, err, time.Now()
	c.mu.Unlock()
	c.changed()
}

// end closes the connection for good.
func (c *Connection) end() error {
	c.mu.Lock() // so that nothing is spawned afterwards
	c.cancel()
	c.mu.Unlock()
	c.disconnect()
	c.stderr.quiet()
	for _, p := range c.server.parts {
		p.ended(c)
	}
	c.work.Wait()
	c.publish("connection", struct {
		ID    string `json:"id"`
		State string `json:"state"`
	}{c.ID, "removed"})
	return c.Frames.Close()
}
