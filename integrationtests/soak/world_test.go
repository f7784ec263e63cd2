package soak_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// noteMethod is the notification that handlers send before their response.
const noteMethod = "soak/note"

type note struct {
	Tag string `json:"tag"`
	N   int    `json:"n"`
}

type tellIn struct {
	Tag   string `json:"tag"`
	Times int    `json:"times"`
}

type tellOut struct {
	Tag string `json:"tag"`
}

// world is the server, and the number of its running handlers.
type world struct {
	*server.Server
	running atomic.Int64
}

func newWorld() *world {
	w := &world{Server: server.New(mcp.Implementation{Name: "world", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Subscriptions: true, ToolRate: mcp.Rate{PerSecond: 1e9}})}
	server.AddTool(w.Server, mcp.Tool{Name: "tell"}, func(ctx context.Context, call *server.Call, in tellIn) (tellOut, error) {
		w.running.Add(1)
		defer w.running.Add(-1)
		for n := 1; n <= in.Times; n++ {
			if err := call.Notify(ctx, noteMethod, note{in.Tag, n}); err != nil {
				return tellOut{}, err
			}
			if !pause(ctx, 2*time.Millisecond) {
				return tellOut{}, context.Cause(ctx)
			}
		}
		return tellOut{in.Tag}, nil
	})
	server.AddTool(w.Server, mcp.Tool{Name: "big"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return strings.Repeat("x", 1<<20), nil
	})
	server.AddTool(w.Server, mcp.Tool{Name: "pid"}, func(context.Context, *server.Call, struct{}) (int, error) { return os.Getpid(), nil })
	return w
}

// restless changes the list of tools until ctx ends.
func (w *world) restless(ctx context.Context) {
	for n := 0; pause(ctx, 5*time.Millisecond); n++ {
		name := fmt.Sprintf("extra%d", n%5)
		w.RemoveTools(name)
		server.AddTool(w.Server, mcp.Tool{Name: name}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
	}
}

// disk is an event store that is full at times.
type disk struct {
	streamable.EventStore
	writes  atomic.Int64
	refused atomic.Int64
}

var errFull = errors.New("no space left on device")

func (d *disk) Append(session, stream string, seq uint64, data []byte) error {
	if d.writes.Add(1)/100%4 == 3 { // a quarter of the time
		d.refused.Add(1)
		return errFull
	}
	return d.EventStore.Append(session, stream, seq, data)
}
