package inspect

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Bounds of what is kept of a connection's calls. Calls that run are always kept.
const (
	maxCalls     = 500
	maxCallBytes = 64 << 20
	maxRunning   = 100
)

// calls makes requests of any method, and keeps them with what became of them.
type calls struct{ server *Server }

// callBook has the calls of one connection, oldest first.
type callBook struct {
	mu    sync.Mutex
	last  int
	calls []*call
	sends sender
}

// wantedCall is a call as somebody asks for it.
type wantedCall struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitzero"`
	// Task asks for a task where the revision leaves that to the client, and TTL is how long
	// it is to be kept, in milliseconds.
	Task bool  `json:"task,omitzero"`
	TTL  int64 `json:"ttl,omitzero"`
	// Timeout is how long the call may go without an answer or progress, in
	// milliseconds. 0 means the client's own.
	Timeout int64 `json:"timeout,omitzero"`
	// LogLevel asks for log messages of this call, where the revision has that.
	LogLevel mcp.LoggingLevel `json:"logLevel,omitzero"`

	// In place of a request, a task of this tool is followed.
	task *client.Task
	tool string
}

func (p *calls) routes(api *web.API) {
	api.Handle("POST /connections/{c}/calls", p.post)
	api.Handle("GET /connections/{c}/calls", p.list)
	api.Handle("DELETE /connections/{c}/calls", p.clear)
	api.Handle("GET /connections/{c}/calls/{id}", p.get)
	api.Handle("DELETE /connections/{c}/calls/{id}", p.remove)
}

// prepare has the frames seen in which calls are sent.
func (p *calls) prepare(c *Connection, _ *client.Options) {
	c.observe(partOf[callBook](c).sends.tap)
}

func (p *calls) connected(*Connection) {}
func (p *calls) ended(*Connection)     {}

func (p *calls) counts(c *Connection) map[string]int {
	return map[string]int{"calls": len(partOf[callBook](c).all())}
}

func (p *calls) post(r *web.Request) (any, error) {
	c, err := p.server.connection(r)
	if err != nil {
		return nil, err
	}
	var w wantedCall
	if err := r.Read(&w); err != nil {
		return nil, err
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	made, err := c.call(w)
	if err != nil {
		return nil, err
	}
	return map[string]string{"id": made.ID}, nil
}

// check finds what cannot be sent at all. Whether the server takes it is for the server to say.
func (w *wantedCall) check() error {
	field := func(name, format string, args ...any) error {
		e := web.Errorf(http.StatusBadRequest, "call", format, args...)
		e.Field = name
		return e
	}
	switch known := mcp.MethodNamed(w.Method); {
	case w.Method == "":
		return field("method", "a call needs a method")
	case known != nil && (known.Notification || known.Connection || known.FromServer):
		return field("method", "%s is not a method that can be called by itself", w.Method)
	case w.Params != nil && !isObject(w.Params):
		return field("params", "the params must be a JSON object")
	case w.Timeout < 0:
		return field("timeout", "a time limit cannot be negative")
	case w.TTL < 0:
		return field("ttl", "a task cannot be kept for a negative time")
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	var members map[string]json.RawMessage
	return wire.Unmarshal(raw, &members) == nil && members != nil
}

// call makes a call, which goes on by itself. The error is a *web.Error.
func (c *Connection) call(w wantedCall) (*call, error) {
	cl, err := c.live()
	if err != nil {
		return nil, err
	}
	book := partOf[callBook](c)
	ctx, cancel := context.WithCancelCause(c.context())
	k := &call{connection: c, book: book, wanted: w, cancel: cancel, done: make(chan struct{}), State: callRunning, Method: w.Method, Params: w.Params, Task: w.Task, Started: time.Now()}
	if err := book.add(k); err != nil {
		cancel(nil)
		return nil, err
	}
	k.changed()
	c.spawn(func(context.Context) {
		defer cancel(nil)
		k.run(withCall(ctx, k.ID, k.tool()), cl)
		book.shrink()
	})
	return k, nil
}

func (p *calls) list(r *web.Request) (any, error) {
	c, err := p.server.connection(r)
	if err != nil {
		return nil, err
	}
	all := []*shownCall{}
	for _, k := range slices.Backward(partOf[callBook](c).all()) {
		all = append(all, k.brief())
	}
	return map[string]any{"calls": all}, nil
}

func (p *calls) get(r *web.Request) (any, error) {
	_, k, err := p.named(r)
	if err != nil {
		return nil, err
	}
	return k.shown(), nil
}

func (p *calls) named(r *web.Request) (*Connection, *call, error) {
	c, err := p.server.connection(r)
	if err != nil {
		return nil, nil, err
	}
	for _, k := range partOf[callBook](c).all() {
		if k.ID == r.PathValue("id") {
			return c, k, nil
		}
	}
	e := web.Errorf(http.StatusNotFound, "no_call", "there is no call %q", r.PathValue("id"))
	e.Hint = "the oldest are forgotten when there are more than " + strconv.Itoa(maxCalls)
	return nil, nil, e
}

// maxReason bounds the reason that a server is given for a cancellation.
const maxReason = 1000

// remove cancels a call that runs, and forgets one that has ended. A task of the call is
// cancelled too, unless the query says that it is to be left.
func (p *calls) remove(r *web.Request) (any, error) {
	c, k, err := p.named(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	reason := q.Get("reason")
	if len(reason) > maxReason {
		e := web.Errorf(http.StatusBadRequest, "reason", "the reason is longer than %d bytes", maxReason)
		e.Field = "reason"
		return nil, e
	}
	if k.stop(reason, q.Get("leave") != "") {
		return nil, nil //nolint:nilnil // what is done has no answer
	}
	partOf[callBook](c).forget(func(other *call) bool { return other == k })
	c.publish("call", map[string]string{"id": k.ID, "state": "removed"})
	return nil, nil //nolint:nilnil // what is done has no answer
}

// clear forgets all calls that have ended.
func (p *calls) clear(r *web.Request) (any, error) {
	c, err := p.server.connection(r)
	if err != nil {
		return nil, err
	}
	partOf[callBook](c).forget(func(k *call) bool { return !k.running() })
	c.publish("call", map[string]string{"state": "removed"})
	return nil, nil //nolint:nilnil // what is done has no answer
}

func (b *callBook) all() []*call {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

func (b *callBook) add(k *call) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	running := 0
	for _, other := range b.calls {
		if other.running() {
			running++
		}
	}
	if running >= maxRunning {
		e := web.Errorf(http.StatusConflict, "too_many", "%d calls run already, and there can be no more", maxRunning)
		e.Hint = "cancel one, or wait for its end"
		return e
	}
	b.last++
	k.ID = strconv.Itoa(b.last)
	b.calls = append(b.calls, k)
	return nil
}

func (b *callBook) forget(which func(*call) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = slices.DeleteFunc(b.calls, which)
}

// shrink forgets the oldest calls that are beyond the bounds.
func (b *callBook) shrink() {
	b.mu.Lock()
	defer b.mu.Unlock()
	count, size := len(b.calls), 0
	for _, k := range b.calls {
		size += k.size()
	}
	b.calls = slices.DeleteFunc(b.calls, func(k *call) bool {
		if count <= maxCalls && size <= maxCallBytes || k.running() || k.ID == strconv.Itoa(b.last) {
			return false
		}
		count--
		size -= k.size()
		return true
	})
}

// stopped is why a call was cancelled by its user.
type stopped struct{ reason string }

// Error returns the reason, which servers of some revisions are told.
func (e *stopped) Error() string {
	if e.reason == "" {
		return "cancelled by the user"
	}
	return e.reason
}
