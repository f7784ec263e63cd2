package catalogue_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/mcp"
)

// counting counts the requests to a backend that are under way.
type counting struct {
	catalogue.Lister

	running atomic.Int64
}

func (c *counting) List(ctx context.Context, peer *mcp.Peer, method string) ([]json.RawMessage, error) {
	c.running.Add(1)
	defer c.running.Add(-1)
	return c.Lister.List(ctx, peer, method)
}

// newForgetful returns a catalogue of one backend, which lists the same for everybody.
func newForgetful(t *testing.T) (*catalogue.Catalogue, *fake, *counting) {
	t.Helper()
	f := has("x")
	f.hints = `,"ttlMs":10000,"cacheScope":"public"`
	asked := &counting{Lister: f}
	c := made(t, func(o *catalogue.Options) { o.Sources[0].Lister = asked }, f)
	return c, f, asked
}

// Requests end with those who have made them, also such that no list waits for any more and
// such that are outdated.
func TestForgottenRequestsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, f, asked := newForgetful(t)
		f.takes = 30 * time.Second
		for range 2 {
			want(t, listed(t, c, "p", all), ` for 0s private without {"a":"no answer in time"}`)
			c.Changed("a", nil, mcp.ToolsChanged)
		}
		if n := asked.running.Load(); n != 2 {
			t.Errorf("%d requests are under way, and not the first and the one after the change", n)
		}
		c.Forget("a", &mcp.Peer{Principal: "q"})
		synctest.Wait()
		if n := asked.running.Load(); n != 2 {
			t.Errorf("%d requests are under way after somebody else has left", n)
		}
		c.Forget("a", &mcp.Peer{Principal: "p"})
		synctest.Wait()
		if n := asked.running.Load(); n != 0 {
			t.Errorf("%d requests go on for somebody who has left", n)
		}
	})
}

// Whoever waits for what somebody else has asked for asks again when that one leaves.
func TestForgottenForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, f, _ := newForgetful(t)
		want(t, listed(t, c, "p", all), "a__x for 10s public")
		f.set(func(f *fake) { f.pages[""], f.takes = []string{tools("y")}, 2*time.Second })
		c.Changed("a", nil, mcp.ToolsChanged)
		ctx, leaves := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() { // ends with its request
			defer close(gone)
			if _, err := c.List(ctx, &mcp.Peer{Principal: "p"}, mcp.MethodListTools, all, nil); err == nil {
				t.Error("who has left gets a list")
			}
		}()
		synctest.Wait()
		time.AfterFunc(time.Second, func() {
			leaves()
			<-gone
			c.Forget("a", &mcp.Peer{Principal: "p"})
		})
		begun := time.Now()
		want(t, listed(t, c, "q", all), "a__y for 10s public")
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("it takes %s, and not the second until then and two for another request", took)
		}
	})
}

// deaf is a backend that does not hear that nobody wants its answer any more.
type deaf struct{ catalogue.Lister }

func (d deaf) List(ctx context.Context, peer *mcp.Peer, method string) ([]json.RawMessage, error) {
	return d.Lister.List(context.WithoutCancel(ctx), peer, method)
}

// An answer is not kept that comes for somebody who has left.
func TestForgottenAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := has("x")
		f.hints = `,"ttlMs":60000,"cacheScope":"public"`
		c := made(t, func(o *catalogue.Options) { o.Sources[0].Lister = deaf{f} }, f)
		want(t, listed(t, c, "p", all), "a__x for 1m0s public")
		f.set(func(f *fake) { f.hints, f.takes = `,"ttlMs":60000,"cacheScope":"private"`, 5*time.Second })
		c.Changed("a", nil, mcp.ToolsChanged)
		want(t, listed(t, c, "p", all), `a__x for 0s public without {"a":"no answer in time"}`)
		c.Forget("a", &mcp.Peer{Principal: "p"})
		pass(10 * time.Second)
		f.set(func(f *fake) { f.takes = 0 })
		listed(t, c, "p", all) // it does not wait for what was slow
		synctest.Wait()
		want(t, listed(t, c, "p", all), "a__x for 1m0s private")
		if n := f.count(); n != 3 {
			t.Errorf("%d requests in all, and not 3: the answer was kept", n)
		}
	})
}
