package model_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// world is the server, and what is known of its internal state.
type world struct {
	*server.Server
	running  atomic.Int64 // handlers
	watching atomic.Int64 // subscriptions

	mu    sync.Mutex
	gates map[string]chan struct{} // of handlers that wait, by tag
}

type tagged struct {
	Tag string `json:"tag"`
}

type answerIn struct {
	Answer string `json:"answer"`
}

const watchedURI = "model:///a"

// noteMethod is the notification that handlers send before their answer.
const noteMethod = "model/note"

// said are the params of such a notification.
type said struct {
	Tag string `json:"tag"`
	N   int    `json:"n"`
}

// toolKinds are the tools, each of which does something different before it
// returns its tag. Earlier ones are drawn more often.
var toolKinds = []string{"block", "tell", "ask", "echo", "fail", "boom"}

func newWorld() *world {
	w := &world{gates: map[string]chan struct{}{}}
	w.Server = server.New(mcp.Implementation{Name: "world", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Subscriptions: true, ProgressInterval: time.Nanosecond})
	w.tool("echo", func(context.Context, *server.Call, string) error { return nil })
	w.tool("tell", tell)
	w.tool("block", w.block)
	w.tool("ask", func(ctx context.Context, call *server.Call, tag string) error {
		_, err := server.Elicit[answerIn](ctx, call, "q", tag)
		return err
	})
	w.tool("fail", func(context.Context, *server.Call, string) error { return errors.New("failed") })
	w.tool("boom", func(context.Context, *server.Call, string) error { panic("boom") })
	w.AddResource(mcp.Resource{URI: watchedURI, Name: "a"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(watchedURI, "", "a")), nil
	})
	return w
}

// tool adds a tool that runs do and then returns its tag.
func (w *world) tool(name string, do func(ctx context.Context, call *server.Call, tag string) error) {
	server.AddTool(w.Server, mcp.Tool{Name: name}, func(ctx context.Context, call *server.Call, in tagged) (string, error) {
		w.running.Add(1)
		defer w.running.Add(-1)
		return in.Tag, do(ctx, call, in.Tag)
	})
}

// faithful are the tools that return their tag whatever else happens.
var faithful = []string{"echo", "tell", "block"}

// notes is the number of notifications of each tool that sends some.
var notes = map[string]int{"tell": 3, "block": 4}

// tell sends notifications and progress, in this order.
func tell(ctx context.Context, call *server.Call, tag string) error {
	return say(ctx, call, tag, 1, 3)
}

// say sends the notifications with these numbers.
func say(ctx context.Context, call *server.Call, tag string, from, to int) error {
	for n := from; n <= to; n++ {
		if err := call.Notify(ctx, noteMethod, said{tag, n}); err != nil {
			return err
		}
		call.Progress(ctx, float64(n), 4, tag)
	}
	return nil
}

// block waits until it is released or cancelled, and reports which.
func (w *world) block(ctx context.Context, call *server.Call, tag string) error {
	if err := say(ctx, call, tag, 1, 2); err != nil {
		return err
	}
	select {
	case <-w.gate(tag):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return say(ctx, call, tag, 3, 4)
}

func (w *world) gate(tag string) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gates[tag] == nil {
		w.gates[tag] = make(chan struct{})
	}
	return w.gates[tag]
}

// release lets a blocked handler continue; it may not have started yet.
func (w *world) release(tag string) {
	gate := w.gate(tag)
	select {
	case <-gate:
	default:
		close(gate)
	}
}

// Serve implements mcp.Handler; it counts subscriptions.
func (w *world) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	result, err := w.Server.Serve(ctx, x)
	watching, ok := result.(*mcp.Watching)
	if err != nil || !ok {
		return result, err
	}
	w.watching.Add(1)
	end := sync.OnceFunc(func() { w.watching.Add(-1) })
	return &mcp.Watching{Filter: watching.Filter, Stop: func() {
		watching.Stop()
		end()
	}}, nil
}

// change changes the list of tools.
func (w *world) change(n int) {
	name := fmt.Sprintf("extra%d", n%3)
	if n%2 == 0 {
		w.RemoveTools(name)
		return
	}
	w.tool(name, func(context.Context, *server.Call, string) error { return nil })
}
