package gateway_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// dumb is a server over lines that says nothing, and reads only if it is not deaf: to
// whoever writes to it, its pipe is full.
type dumb struct{ deaf bool }

func (dumb) Name() string { return "dumb" }

// Connect implements mcp.Transport.
func (d dumb) Connect(_ context.Context, r mcp.Receiver) (mcp.Conn, error) {
	near, far := net.Pipe()
	if !d.deaf {
		go func() { _, _ = io.Copy(io.Discard, far) }() // ends with the connection
	}
	return stream.Dial(stream.Lines(near, near, 1<<20, near.Close), r, 1<<20, nil, nil), nil
}

// dumbSite is a server over HTTP that takes requests and says nothing.
func dumbSite(t *testing.T) mcp.Transport {
	t.Helper()
	site := mcptest.NewSite(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server that has not read does not notice that its client has gone
		<-r.Context().Done()
	}))
	t.Cleanup(site.Close)
	return &streamable.Client{URL: site.URL, HTTP: site.Client, Logger: mcptest.Quiet(), NoSSEFallback: true}
}

// A server that does not say who it is costs its own clients the time that is configured,
// once, and nobody else anything.
func TestHangsAtTheBeginning(t *testing.T) {
	for name, deaf := range map[string]bool{"silent": false, "deaf": true} {
		t.Run(name, func(t *testing.T) {
			cells(t, backend.Options{Timeout: 10 * time.Second}, func(t *testing.T, s *stage) {
				s.via = dumb{deaf}
				if s.back.IsHTTP() {
					s.via = dumbSite(t)
				}
				begun, failed := time.Now(), make(chan error, 1)
				go func() { failed <- s.call(t, "bad__write") }() // ends with the call
				s.answers(t)
				names, lacks, took := s.lists(t)
				if names != "good__work " || lacks["bad"] == "" || took > 3*time.Second {
					t.Errorf("meanwhile the list is %q, without %v, after %s", names, lacks, took)
				}
				if state := s.state(); state.Status != backend.Connecting {
					t.Errorf("meanwhile it is %q", state.Status)
				}
				fails(t, "the call", <-failed, `"bad" is not available`, "did not answer in time")
				if took := time.Since(begun); took > 12*time.Second {
					t.Errorf("it failed after %s", took)
				}
				if state := s.state(); state.Status != backend.Broken || state.Failures != 1 || state.Err == nil {
					t.Errorf("then it is %+v", state)
				}
				begun = time.Now()
				fails(t, "another call", s.call(t, "bad__write"), `"bad" is not available`, "it is tried again in")
				if took := time.Since(begun); took > 0 {
					t.Errorf("it failed after %s", took)
				}
			})
		})
	}
}

// Lists have what a server said last when it does not list any more, and say so; a list
// waits for it once.
func TestHangsAtAList(t *testing.T) {
	cells(t, backend.Options{Timeout: 10 * time.Second}, func(t *testing.T, s *stage) {
		const all = "bad__read bad__write good__work "
		names, lacks, _ := s.lists(t)
		if names != all || len(lacks) != 0 {
			t.Errorf("at first the list is %q, without %v", names, lacks)
		}
		s.hang(mcp.MethodListTools)
		server.AddTool(s.bad, mcp.Tool{Name: "more"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
		pass(2 * time.Minute) // what a server without sessions has said is kept no longer
		names, lacks, took := s.lists(t)
		if names != all || lacks["bad"] == "" || took > 3*time.Second {
			t.Errorf("the list is %q, without %v, after %s", names, lacks, took)
		}
		names, lacks, took = s.lists(t)
		if names != all || lacks["bad"] == "" || took > time.Second {
			t.Errorf("the next is %q, without %v, after %s", names, lacks, took)
		}
		s.answers(t)
		if err := s.call(t, "bad__write"); err != nil {
			t.Errorf("what does not hang: %v", err)
		}
		s.do(nil)
		pass(2 * time.Minute)
		s.lists(t) // does not wait for a server that was slow
		pass(time.Second)
		names, lacks, took = s.lists(t)
		if names != "bad__read bad__write bad__more good__work " || len(lacks) != 0 || took > time.Second {
			t.Errorf("then the list is %q, without %v, after %s", names, lacks, took)
		}
	})
}

// A call that is not answered fails after the time that is configured, is not made again,
// and keeps nobody.
func TestHangsDuringACall(t *testing.T) {
	cells(t, backend.Options{Timeout: 10 * time.Second}, func(t *testing.T, s *stage) {
		read := func() error {
			_, err := s.c.ReadResource(t.Context(), "mcp:bad:test://static")
			return err
		}
		for what, call := range map[string]func() error{
			mcp.MethodReadResource: read, mcp.MethodCallTool: func() error { return s.call(t, "bad__write") },
		} {
			if err := call(); err != nil {
				t.Fatal(err)
			}
			s.hang(what)
			begun, failed := time.Now(), make(chan error, 1)
			go func() { failed <- call() }() // ends with the call
			<-s.arrived
			s.answers(t)
			err := <-failed
			fails(t, what, err, `"bad"`, "did not answer in time")
			if took := time.Since(begun); took < 10*time.Second || took > 12*time.Second {
				t.Errorf("%s failed after %s", what, took)
			}
			if unknown := strings.Contains(err.Error(), "it is not known whether"); unknown != (what == mcp.MethodCallTool) {
				t.Errorf("%s fails with %v", what, err)
			}
			select {
			case <-s.arrived:
				t.Errorf("%s was made again", what)
			default:
			}
			s.do(nil)
			if err := call(); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		}
	})
}

// Where calls may take for ever, connecting may not.
func TestHangsForEver(t *testing.T) {
	cells(t, backend.Options{}, func(t *testing.T, s *stage) {
		s.via = dumb{deaf: true}
		if s.back.IsHTTP() {
			s.via = dumbSite(t)
		}
		begun := time.Now()
		fails(t, "the call", s.call(t, "bad__write"), `"bad" is not available`, "did not answer in time")
		if took := time.Since(begun); took > 11*time.Minute {
			t.Errorf("it failed after %s", took)
		}
	})
}

// stuck is a transport to a server that does not read the first subscription: its
// connection is lost once that has been waited for.
type stuck struct {
	mcp.Transport
	met *atomic.Bool
}

type stuckConn struct {
	mcp.Conn
	met *atomic.Bool
}

// Connect implements mcp.Transport.
func (s stuck) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	c, err := s.Transport.Connect(ctx, r)
	return stuckConn{c, s.met}, err
}

// RoundTrip implements mcp.Conn.
func (c stuckConn) RoundTrip(ctx context.Context, m *jsonrpc.Message) (*jsonrpc.Message, error) {
	if m.Method != mcp.MethodSubscribe || c.met.Swap(true) {
		return c.Conn.RoundTrip(ctx, m)
	}
	<-ctx.Done()
	_ = c.Close() // always nil
	return nil, errStuck
}

// Err implements mcp.Conn.
func (stuckConn) Err() error { return errStuck }

var errStuck = errors.New("the server does not read what it is sent")

// A subscription that a server is too slow for is granted, and open when the server is
// there again, however its connection has failed.
func TestHangsWhileSubscribing(t *testing.T) {
	cells(t, backend.Options{}, func(t *testing.T, s *stage) {
		if stateless(s.back) {
			return // a subscription is a stream there, whose connection is not lost
		}
		met := new(atomic.Bool)
		s.via = stuck{s.way, met}
		if _, err := s.c.ReadResource(t.Context(), "mcp:bad:test://static"); err != nil {
			t.Fatal(err)
		}
		events := make(chan client.Event, 10)
		_, err := s.c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"mcp:bad:test://static"}}, func(_ context.Context, e client.Event) { events <- e })
		if err != nil {
			t.Fatal(err)
		}
		if !met.Load() {
			t.Error("the first subscription was not held up")
		}
		if e := <-events; e.Change.URI != "mcp:bad:test://static" {
			t.Errorf("when it is there again, the client hears %+v", e)
		}
		s.bad.ResourceUpdated("test://static")
		if e := <-events; e.Change.URI != "mcp:bad:test://static" {
			t.Errorf("of a change, the client hears %+v", e)
		}
	})
}
