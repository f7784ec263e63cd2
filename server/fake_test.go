package server

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// fakeBack is the client's end of an exchange.
type fakeBack struct {
	level   mcp.LoggingLevel           // empty: no log messages wanted
	answers map[string]json.RawMessage // by key
	fail    error                      // of Input
	block   chan struct{}              // Notify waits for it, if not nil

	mu    sync.Mutex
	notes []note
	asked []mcp.InputRequest
	once  map[string]json.RawMessage
}

type note struct {
	method string
	params any
}

func (b *fakeBack) Notify(_ context.Context, method string, params any) error {
	if b.block != nil {
		<-b.block
	}
	if _, err := wire.Marshal(params); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, note{method, params})
	return nil
}

func (b *fakeBack) LogEnabled(level mcp.LoggingLevel) bool {
	return b.level != "" && level.Severity() >= b.level.Severity()
}

func (b *fakeBack) Input(_ context.Context, questions ...mcp.InputRequest) ([]json.RawMessage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, questions...)
	if b.fail != nil {
		return nil, b.fail
	}
	var answers []json.RawMessage
	for _, q := range questions {
		raw, ok := b.answers[q.Key]
		if !ok {
			return nil, &mcp.InputRequired{Requests: questions}
		}
		answers = append(answers, raw)
	}
	return answers, nil
}

func (b *fakeBack) Once(ctx context.Context, key string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	if raw, ok := b.once[key]; ok {
		return raw, nil
	}
	raw, err := f(ctx)
	if err != nil {
		return nil, err
	}
	if b.once == nil {
		b.once = map[string]json.RawMessage{}
	}
	b.once[key] = raw
	return raw, nil
}

// of returns the params of the notifications of a method, as JSON.
func (b *fakeBack) of(t *testing.T, method string) []string {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []string
	for _, n := range b.notes {
		if n.method == method {
			list = append(list, toJSON(t, n.params))
		}
	}
	return list
}

// logged is a server's log in memory.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newServer returns a server that logs into memory.
func newServer(opts Options) (*Server, *logged) {
	l := &logged{}
	opts.Logger = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelInfo}))
	return New(mcp.Implementation{Name: "test", Version: "1"}, &opts), l
}

// request returns an exchange; params is JSON.
func request(method, params string) *mcp.Exchange {
	x := &mcp.Exchange{ID: jsonrpc.IntID(1), Method: method, Back: &fakeBack{}}
	if params != "" {
		x.Params = json.RawMessage(params)
	}
	return x
}

func notification(method, params string) *mcp.Exchange {
	x := request(method, params)
	x.ID = jsonrpc.ID{}
	return x
}

// serve returns the result as JSON, or the error as text.
func serve(t *testing.T, s *Server, method, params string) string {
	t.Helper()
	return serveExchange(t, s, request(method, params))
}

func serveExchange(t *testing.T, s *Server, x *mcp.Exchange) string {
	t.Helper()
	result, err := s.Serve(t.Context(), x)
	if err != nil {
		return "error: " + err.Error()
	}
	return toJSON(t, result)
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := wire.Marshal(v)
	if err != nil {
		t.Fatalf("encoding %T: %v", v, err)
	}
	return string(raw)
}

func call(t *testing.T, s *Server, tool, args string) string {
	t.Helper()
	return serve(t, s, mcp.MethodCallTool, `{"name":"`+tool+`","arguments":`+args+`}`)
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// mustPanic returns the message of the panic of f.
func mustPanic(t *testing.T, f func()) (message string) {
	t.Helper()
	defer func() {
		p := recover()
		if p == nil {
			t.Fatal("no panic")
		}
		message, _ = p.(string)
	}()
	f()
	return ""
}
