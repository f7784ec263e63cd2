package bridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/frames"
)

// heard is what somebody hears and is asked.
type heard struct {
	mu  sync.Mutex
	all []string
}

func (h *heard) add(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, text)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.all, ", ")
}

// person connects somebody to a bridge, and returns what calls a tool for them.
func person(t *testing.T, b *bridge.Bridge, principal string, h *heard) (call func(tool string) error) {
	t.Helper()
	told := func(_ context.Context, _ string, params json.RawMessage) { h.add(string(params)) }
	tr := frames.InProcess(b, &frames.Options{Principal: principal, ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	c, err := client.Connect(t.Context(), tr, &client.Options{
		Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: mcptest.Quiet(),
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}}},
		Answer: func(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
			h.add("asked " + string(params))
			return json.RawMessage(`{"action":"decline"}`), nil
		},
		Notification: told,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return func(tool string) error {
		_, err := c.Do(t.Context(), mcp.MethodCallTool, map[string]string{"name": tool}, client.WithNotifications(told))
		return err
	}
}

// haunted is a server that speaks of an earlier call, and asks, during the next one. Nothing
// that it says names a call.
type haunted struct {
	mcp.Transport

	receiver mcp.Receiver
	failed   bool // the question had no answer
}

func newHaunted() *haunted {
	h := new(haunted)
	s := serving(func(ctx context.Context, x *mcp.Exchange) (any, error) {
		if mcp.MethodNamed(x.Method).SubjectOf(x.Params) == "next" {
			h.speak(ctx)
		}
		return json.RawMessage(`{"content":[]}`), nil
	})
	h.Transport = &mcptest.Transport{Handler: s, Over: mcptest.Lines, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	return h
}

// Connect implements mcp.Transport.
func (h *haunted) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	h.receiver = r
	return h.Transport.Connect(ctx, r)
}

func (h *haunted) speak(ctx context.Context) {
	h.receiver.Notification(ctx, message(mcp.NoteMessage, `{"level":"error","data":"the first has failed"}`))
	asks := message(mcp.MethodElicit, `{"message":"Is this the first?","requestedSchema":{"type":"object","properties":{}}}`)
	asks.Kind, asks.ID = jsonrpc.Request, jsonrpc.StringID("late")
	_, err := h.receiver.Request(ctx, asks)
	h.failed = err != nil
}

// bridge returns a bridge to the server that is for all.
func (h *haunted) bridge(t *testing.T, logger *slog.Logger) *bridge.Bridge {
	t.Helper()
	b, err := bridge.New(t.Context(), bridge.Options{Share: bridge.ShareAll, Logger: logger, Connect: func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
		c.Revisions = []mcp.Revision{mcp.Revision20251125}
		return client.Connect(ctx, h, c)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func message(method, params string) *jsonrpc.Message {
	return &jsonrpc.Message{Kind: jsonrpc.Notification, Method: method, Params: json.RawMessage(params)}
}

// What a server may be saying of a call of one principal, on a connection that is for all,
// does not reach another, though theirs is the only call in flight.
func TestNothingIsGuessedBetweenPrincipals(t *testing.T) {
	for name, test := range map[string]struct {
		second string
		want   bool // that it reaches the second
	}{"another": {"bob", false}, "the same": {"ann", true}} {
		t.Run(name, func(t *testing.T) {
			h := newHaunted()
			b := h.bridge(t, mcptest.Quiet())
			var first, second heard
			if err := person(t, b, "ann", &first)("first"); err != nil {
				t.Error(err)
			}
			if err := person(t, b, test.second, &second)("next"); err != nil {
				t.Error(err)
			}
			if got := second.String(); strings.Contains(got, "has failed") != test.want || strings.Contains(got, "Is this") != test.want {
				t.Errorf("who calls next hears %q", got)
			}
			if h.failed == test.want {
				t.Errorf("the question has failed: %t", h.failed)
			}
			if got := first.String(); got != "" {
				t.Errorf("who has called first hears %q", got)
			}
		})
	}
}

// What reaches nobody is logged, without what it says: that may be somebody's secret.
func TestWhatReachesNobodyIsNotLogged(t *testing.T) {
	var log bytes.Buffer
	h := newHaunted()
	b := h.bridge(t, slog.New(slog.NewTextHandler(&log, nil)))
	var nobody heard
	if err := person(t, b, "ann", &nobody)("first"); err != nil {
		t.Error(err)
	}
	if err := person(t, b, "bob", &nobody)("next"); err != nil {
		t.Error(err)
	}
	_ = b.Close()
	if got := log.String(); !strings.Contains(got, "method="+mcp.NoteMessage+" bytes=47") || strings.Contains(got, "the first has failed") {
		t.Errorf("the log is %s", got)
	}
}
