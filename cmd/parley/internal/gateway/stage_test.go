package gateway_test

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// stage is a gateway in front of two servers: one that can be made to do anything, and
// one that always answers.
type stage struct {
	g    *gateway.Gateway
	c    *client.Client
	back mcptest.Mode
	way  *mcptest.Transport // to the bad server
	bad  *server.Server
	via  mcp.Transport // in place of way, unless it is nil

	logged log

	reads, writes atomic.Int64 // calls of its tools that have arrived
	arrived       chan struct{}
	mu            sync.Mutex
	does          server.Middleware // what the bad server does in place of what it should
}

// log counts what a gateway logs.
type log struct{ records, bytes atomic.Int64 }

// Write implements io.Writer.
func (l *log) Write(p []byte) (int, error) {
	l.records.Add(1)
	l.bytes.Add(int64(len(p)))
	return len(p), nil
}

// cells runs a test in a bubble for clients of both eras, each before servers of both
// eras, over lines and over HTTP.
func cells(t *testing.T, o backend.Options, body func(t *testing.T, s *stage)) {
	t.Helper()
	for _, front := range []mcptest.Mode{modes[1], modes[3]} {
		for _, back := range modes {
			t.Run(front.String()+" to "+back.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { body(t, newStage(t, front, back, o)) })
			})
		}
	}
}

// newStage connects a client to a gateway.
func newStage(t *testing.T, front, back mcptest.Mode, o backend.Options) *stage {
	t.Helper()
	s := &stage{back: back, arrived: make(chan struct{}, 1000)}
	s.bad = server.New(mcp.Implementation{Name: "bad", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Logging: true, Subscriptions: true, ProgressInterval: -1})
	s.bad.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			s.mu.Lock()
			does := s.does
			s.mu.Unlock()
			if does == nil {
				return next(ctx, x)
			}
			return does(next)(ctx, x)
		}
	})
	add := func(name string, readOnly bool, calls *atomic.Int64) {
		server.AddTool(s.bad, mcp.Tool{Name: name, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: readOnly}}, func(context.Context, *server.Call, struct{}) (string, error) {
			calls.Add(1)
			return name, nil
		})
	}
	add("read", true, &s.reads)
	add("write", false, &s.writes)
	s.bad.AddResource(mcp.Resource{URI: "test://static", Name: "static"}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		s.reads.Add(1)
		return server.Contents(mcp.TextResource(uri, "text/plain", "static")), nil
	})
	good := server.New(mcp.Implementation{Name: "good", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(good, mcp.Tool{Name: "work"}, func(context.Context, *server.Call, struct{}) (string, error) { return "worked", nil })
	s.way = &mcptest.Transport{Handler: s.bad, Over: back.Transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	t.Cleanup(s.way.Wait)
	o.Share = cmp.Or(o.Share, bridge.SharePrincipal)
	o.Connect = func(ctx context.Context, _ *mcp.Peer, o *client.Options) (*client.Client, error) {
		o.Revisions = []mcp.Revision{back.Revision}
		s.mu.Lock()
		via := s.via
		s.mu.Unlock()
		if via == nil {
			via = s.way
		}
		return client.Connect(ctx, via, o)
	}
	behindGood := behind(t, "good", good, back, bridge.SharePrincipal)
	s.g = gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: slog.New(slog.NewTextHandler(&s.logged, nil))})
	t.Cleanup(func() { _ = s.g.Close() }) // before the servers are waited for
	err := s.g.Load(gateway.Setup{Servers: []gateway.Server{
		{Rules: naming.Rules{Backend: "bad"}, Backend: o}, behindGood,
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.c = mcptest.Connect(t, s.g.View(""), front, &client.Options{Timeout: time.Hour, MaxTimeout: time.Hour})
	return s
}

// do makes the bad server do something in place of what it should.
func (s *stage) do(m server.Middleware) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.does = m
}

// hang makes the bad server answer no request of a method any more, and say so.
func (s *stage) hang(method string) {
	s.do(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			if x.Method != method {
				return next(ctx, x)
			}
			s.arrived <- struct{}{}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
	})
}

// answers fails the test if the good server does not answer at once.
func (s *stage) answers(t *testing.T) {
	t.Helper()
	begun := time.Now()
	got, err := client.Call[string](t.Context(), s.c, "good__work", nil)
	if took := time.Since(begun); err != nil || got != "worked" || took > time.Second {
		t.Errorf("the other server answers %q, error %v, after %s", got, err, took)
	}
}

// call calls a tool.
func (s *stage) call(t *testing.T, tool string) error {
	t.Helper()
	_, err := client.Call[string](t.Context(), s.c, tool, nil)
	return err
}

// lists returns the names of the tools, what the list says is missing, and how long it took.
func (s *stage) lists(t *testing.T) (names string, lacks map[string]string, took time.Duration) {
	t.Helper()
	begun := time.Now()
	raw, err := s.c.Do(t.Context(), mcp.MethodListTools, nil)
	if err != nil {
		t.Fatal(err)
	}
	var list mcp.ListToolsResult
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names += tool.Name + " "
	}
	return names, missing(t, list.Meta), time.Since(begun)
}

// state returns how the bad server is.
func (s *stage) state() backend.State { return s.g.State()[0] }

// fails fails the test if an error does not have texts.
func fails(t *testing.T, what string, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s does not fail", what)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s fails with %q, which does not say %q", what, err, text)
		}
	}
}

// missing returns what a list says about the servers whose entries it lacks.
func missing(t *testing.T, meta mcp.Meta) map[string]string {
	t.Helper()
	said := map[string]string{}
	if raw, ok := meta["com.github.parley-mcp/unavailable"]; ok {
		if err := json.Unmarshal(raw, &said); err != nil {
			t.Error(err)
		}
	}
	return said
}

// pass lets time pass inside a bubble.
func pass(d time.Duration) { <-time.NewTimer(d).C }
