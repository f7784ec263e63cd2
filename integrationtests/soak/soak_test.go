package soak_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// run is one soak.
type run struct {
	t      *testing.T
	ctx    context.Context // ends when it is over
	enough context.CancelFunc
	world  *world
	web    *httptest.Server
	proxy  *proxy
	old    *proxy // to HTTP+SSE
	disk   *disk

	good, failed, kills, changes atomic.Int64
}

// Everything breaks, and nothing is lost, duplicated, or left behind.
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
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	older, err := sse.New(w, &sse.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, WriteTimeout: 300 * time.Millisecond, ReadTimeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	oldWeb := httptest.NewServer(older)
	r := &run{
		t: t, ctx: ctx, enough: cancel, world: w, web: web, disk: d,
		proxy: newProxy(t, web.Listener.Addr().String()), old: newProxy(t, oldWeb.Listener.Addr().String()),
	}
	r.all()
	r.proxy.close()
	r.old.close()
	http.DefaultClient.CloseIdleConnections()
	for _, end := range []func(context.Context) error{h.Close, older.Close} {
		if err := end(context.Background()); err != nil {
			t.Error(err)
		}
	}
	web.Close()
	oldWeb.Close()
	if n := h.Sessions(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	if n := w.running.Load(); n != 0 {
		t.Errorf("%d handlers are left", n)
	}
	t.Logf("%d calls returned and %d failed; %d connections were cut, %d events not kept, %d children killed, %d changes notified",
		r.good.Load(), r.failed.Load(), r.proxy.cuts.Load()+r.old.cuts.Load(), d.refused.Load(), r.kills.Load(), r.changes.Load())
	if missing := r.dry(); missing != "" {
		t.Errorf("no %s: the soak did not exercise everything", missing)
	}
	before.compare(t)
}

// dry returns what should have happened and has not.
func (r *run) dry() (missing string) {
	for what, n := range map[string]*atomic.Int64{"call returned": &r.good, "connection was cut": &r.proxy.cuts, "stream was cut": &r.old.cuts, "change was told": &r.changes} {
		if n.Load() == 0 {
			missing = what
		}
	}
	return missing
}

// tick ends the run when its time is up. On a busy machine a second may not be
// enough: then the run continues until everything has happened.
func (r *run) tick() {
	defer r.enough()
	pause(r.ctx, length(r.t))
	for i := 0; i < 600 && r.dry() != "" && pause(r.ctx, 50*time.Millisecond); i++ {
		continue
	}
}

// all runs everything until the time is up, and waits for it.
func (r *run) all() {
	var wg sync.WaitGroup
	wg.Go(r.tick)
	for i := range 4 {
		wg.Go(func() { r.cutOff(mcp.Revision20251125, i, r.through) })
		wg.Go(func() { r.cutOff(mcp.Revision20260728, i, r.through) })
	}
	wg.Go(func() { r.cutOff(mcp.Revision20250326, 9, r.through) })
	wg.Go(func() { r.cutOff(mcp.Revision20241105, 0, r.throughOld) })
	wg.Go(func() { r.cutOff(mcp.Revision20250326, 1, r.throughOld) })
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

// compare checks that the state is what it was before; what is just ending gets
// a moment to end.
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
