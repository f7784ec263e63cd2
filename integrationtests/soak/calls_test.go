package soak_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// through connects a client through the network that cuts connections, with
// short timeouts.
func (r *run) through(revision mcp.Revision, notify func(note)) (*client.Client, error) {
	transport := &streamable.Client{
		URL: "http://" + r.proxy.listener.Addr().String() + "/", Logger: mcptest.Quiet(),
		ReconnectDelay: time.Millisecond, MaxReconnects: 20, CloseTimeout: 100 * time.Millisecond, NoSSEFallback: true,
	}
	return client.Connect(r.ctx, transport, r.options(revision, notify))
}

// throughOld does the same over HTTP+SSE.
func (r *run) throughOld(revision mcp.Revision, notify func(note)) (*client.Client, error) {
	transport := &sse.Client{
		URL: "http://" + r.old.listener.Addr().String() + "/sse", ConnectTimeout: time.Second, PostTimeout: time.Second,
	}
	return client.Connect(r.ctx, transport, r.options(revision, notify))
}

func (r *run) options(revision mcp.Revision, notify func(note)) *client.Options {
	return &client.Options{
		Revisions: []mcp.Revision{revision}, Logger: mcptest.Quiet(), NoCache: true, MaxRestarts: 1 << 30,
		Timeout: 10 * time.Second, MaxTimeout: 20 * time.Second,
		Notification: func(_ context.Context, method string, params json.RawMessage) {
			var n note
			if method == noteMethod && json.Unmarshal(params, &n) == nil && notify != nil {
				notify(n)
			}
		},
	}
}

// ledger records the notifications of each call.
type ledger struct {
	mu   sync.Mutex
	told map[string][]int
}

func (l *ledger) add(n note) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told[n.Tag] = append(l.told[n.Tag], n.N)
}

func (l *ledger) take(tag string) []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	told := l.told[tag]
	delete(l.told, tag)
	return told
}

// cutOff calls a tool that sends many notifications, while its connections are
// cut.
func (r *run) cutOff(revision mcp.Revision, worker int, connect func(mcp.Revision, func(note)) (*client.Client, error)) {
	for n := 0; r.ctx.Err() == nil; n++ {
		book := &ledger{told: map[string][]int{}}
		c, err := connect(revision, book.add)
		if err != nil {
			r.failed.Add(1)
			continue
		}
		r.someCalls(c, book, fmt.Sprintf("%s-%d-%d", revision, worker, n), revision == mcp.Revision20251125)
		_ = c.Close() // the server may be out of reach
	}
}

// someCalls makes calls, one after the other. Where streams are resumed, a call
// that has begun completes, unless the disk was full in the meantime.
//
// Spec: 2025-11-25 basic/transports#resumability-and-redelivery.
func (r *run) someCalls(c *client.Client, book *ledger, name string, resumed bool) {
	for i := range 20 {
		if r.ctx.Err() != nil || c.Err() != nil {
			return
		}
		const times = 10
		tag := fmt.Sprintf("%s-%d", name, i)
		full := r.disk.refused.Load()
		out, err := client.Call[tellOut](r.ctx, c, "tell", tellIn{tag, times})
		told := book.settled(tag, err == nil, times)
		switch {
		case err != nil && resumed && len(told) > 0 && r.ctx.Err() == nil && r.disk.refused.Load() == full:
			r.t.Errorf("call %s had begun, was notified %v, and was lost: %v", tag, told, err)
		case err != nil:
			r.failed.Add(1)
		case out.Tag != tag:
			r.t.Errorf("call %s returned the result of %s", tag, out.Tag)
		case len(told) != times:
			r.t.Errorf("call %s returned, and was notified %v", tag, told)
		default:
			r.good.Add(1)
		}
		for at, n := range told {
			if n != at+1 {
				r.t.Errorf("call %s was notified %v", tag, told)
				break
			}
		}
	}
}

// settled waits for notifications on their way to the ledger, which they reach
// on another goroutine than the response.
func (l *ledger) settled(tag string, complete bool, times int) []int {
	for range 200 {
		l.mu.Lock()
		n := len(l.told[tag])
		l.mu.Unlock()
		if !complete || n >= times {
			break
		}
		pause(context.Background(), 5*time.Millisecond)
	}
	return l.take(tag)
}

// listening listens for changes while its connections are cut.
func (r *run) listening(revision mcp.Revision) {
	for r.ctx.Err() == nil {
		c, err := r.through(revision, nil)
		if err != nil {
			continue
		}
		sub, err := c.Listen(r.ctx, mcp.SubscriptionFilter{ToolsListChanged: true}, func(context.Context, client.Event) { r.changes.Add(1) })
		if err == nil {
			pause(r.ctx, time.Second)
			_ = sub.Close()
		}
		_ = c.Close() // the server may be out of reach
	}
}

// children calls a child process, which is killed in the middle of a call.
func (r *run) children(revision mcp.Revision) {
	self, err := os.Executable()
	if err != nil {
		r.t.Error(err)
		return
	}
	for n := 0; r.ctx.Err() == nil; n++ {
		book := &ledger{told: map[string][]int{}}
		command := &stdio.Command{Args: []string{self}, Env: []string{childEnv + "=1"}, Grace: 200 * time.Millisecond}
		c, err := client.Connect(r.ctx, command, r.options(revision, book.add))
		if err != nil {
			if r.ctx.Err() == nil {
				r.t.Errorf("child: %v", err)
			}
			return
		}
		r.killSoon(c)
		r.someCalls(c, book, fmt.Sprintf("child-%s-%d", revision, n), false)
		_ = c.Close() // it was killed
	}
}

// killSoon kills the child after a while.
func (r *run) killSoon(c *client.Client) {
	pid, err := client.Call[int](r.ctx, c, "pid", nil)
	if err != nil {
		return
	}
	child, err := os.FindProcess(pid)
	if err != nil || pid <= 1 {
		r.t.Errorf("child %d: %v", pid, err)
		return
	}
	time.AfterFunc(50*time.Millisecond, func() {
		if child.Kill() == nil {
			r.kills.Add(1)
		}
	})
}
