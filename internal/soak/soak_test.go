package soak_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// run is one soak.
type run struct {
	t     *testing.T
	ctx   context.Context // ends when it is over
	world *world
	web   *httptest.Server
	proxy *proxy
	disk  *disk

	good, failed, kills, changes atomic.Int64
}

// Everything breaks, and nothing is lost, doubled, or left behind.
func TestSoak(t *testing.T) {
	before := measure()
	w, d := newWorld(), &disk{EventStore: streamable.NewMemoryEvents(nil)}
	h, err := streamable.New(w, &streamable.Options{
		ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, Events: d, Retry: time.Millisecond,
		WriteTimeout: 300 * time.Millisecond, ReadTimeout: 300 * time.Millisecond, SessionIdle: 2 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h)
	ctx, cancel := context.WithTimeout(t.Context(), length(t))
	defer cancel()
	r := &run{t: t, ctx: ctx, world: w, web: web, disk: d, proxy: newProxy(t, web.Listener.Addr().String())}
	r.all()
	r.proxy.close()
	http.DefaultClient.CloseIdleConnections()
	if err := h.Close(context.Background()); err != nil {
		t.Error(err)
	}
	web.Close()
	if n := h.Sessions(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	if n := w.running.Load(); n != 0 {
		t.Errorf("%d handlers are left", n)
	}
	t.Logf("%d calls returned and %d failed; %d connections were cut, %d events not kept, %d children killed, %d changes told",
		r.good.Load(), r.failed.Load(), r.proxy.cuts.Load(), d.refused.Load(), r.kills.Load(), r.changes.Load())
	for what, n := range map[string]int64{"call returned": r.good.Load(), "connection was cut": r.proxy.cuts.Load(), "change was told": r.changes.Load()} {
		if n == 0 {
			t.Errorf("no %s: the soak is dry", what)
		}
	}
	before.compare(t)
}

// all runs everything until the time is up, and waits for it.
func (r *run) all() {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { r.cutOff(mcp.Revision20251125, i) })
		wg.Go(func() { r.cutOff(mcp.Revision20260728, i) })
	}
	wg.Go(func() { r.cutOff(mcp.Revision20250326, 9) })
	wg.Go(func() { r.listening(mcp.Revision20260728) })
	wg.Go(func() { r.listening(mcp.Revision20251125) })
	wg.Go(func() { r.children(mcp.Revision20260728) })
	wg.Go(func() { r.children(mcp.Revision20251125) })
	for range 3 {
		wg.Go(r.lazy)
		wg.Go(r.halfway)
	}
	wg.Go(func() { r.world.restless(r.ctx) })
	wg.Wait()
}

// through connects a client through the network that cuts. Nobody waits long
// here.
func (r *run) through(revision mcp.Revision, notify func(note)) (*client.Client, error) {
	transport := &streamable.Client{
		URL: "http://" + r.proxy.listener.Addr().String() + "/", Logger: mcptest.Quiet(),
		ReconnectDelay: time.Millisecond, MaxReconnects: 20, CloseTimeout: 100 * time.Millisecond, NoSSEFallback: true,
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

// ledger keeps what each call was told.
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

// cutOff calls a tool that has much to say, while its connections are cut.
func (r *run) cutOff(revision mcp.Revision, worker int) {
	for n := 0; r.ctx.Err() == nil; n++ {
		book := &ledger{told: map[string][]int{}}
		c, err := r.through(revision, book.add)
		if err != nil {
			r.failed.Add(1)
			continue
		}
		r.someCalls(c, book, fmt.Sprintf("%s-%d-%d", revision, worker, n), revision == mcp.Revision20251125)
		_ = c.Close() // the server may be out of reach
	}
}

// someCalls makes calls, one after the other. Where streams are resumed, one
// that has begun comes to its end, unless the disk was full meanwhile.
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
			r.t.Errorf("call %s had begun, was told %v, and was lost: %v", tag, told, err)
		case err != nil:
			r.failed.Add(1)
		case out.Tag != tag:
			r.t.Errorf("call %s returned the result of %s", tag, out.Tag)
		case len(told) != times:
			r.t.Errorf("call %s returned, and was told %v", tag, told)
		default:
			r.good.Add(1)
		}
		for at, n := range told {
			if n != at+1 {
				r.t.Errorf("call %s was told %v", tag, told)
				break
			}
		}
	}
}

// settled waits for notifications on their way from the reader to whoever
// keeps the ledger: they are told on another goroutine than the answer.
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

// listening hears of changes, while its connections are cut.
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

// children calls a child process, which is killed in the middle of it.
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

// measured is the state of the process.
type measured struct {
	heap       uint64
	goroutines int
}

func measure() measured {
	runtime.GC()
	runtime.GC() // what finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return measured{m.HeapAlloc, runtime.NumGoroutine()}
}

// compare checks that things are what they were; a moment is given to what is
// just ending.
func (before measured) compare(t *testing.T) {
	t.Helper()
	var now measured
	for range 100 {
		now = measure()
		if now.goroutines <= before.goroutines && now.heap < before.heap+8<<20 {
			return
		}
		pause(t.Context(), 50*time.Millisecond)
	}
	t.Errorf("%d goroutines and %d KiB became %d and %d", before.goroutines, before.heap>>10, now.goroutines, now.heap>>10)
}
