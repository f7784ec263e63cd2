package client_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// deciding is a server that agrees to subscriptions when it is told to.
type deciding struct {
	decide chan error // what is said to a subscription; nil is yes

	mu  sync.Mutex
	log []string // what it was asked for, in order
}

func (d *deciding) Describe(context.Context, *mcp.Peer) *mcp.Description {
	return &mcp.Description{Capabilities: mcp.ServerCapabilities{Resources: &mcp.ResourcesCapability{Subscribe: true}}}
}

func (d *deciding) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	if x.Watch == nil || x.Method == mcp.NoteInitialized {
		return &mcp.Watching{Stop: func() {}}, nil
	}
	d.note("on")
	select {
	case err := <-d.decide:
		return &mcp.Watching{Filter: x.Watch.Filter, Stop: func() { d.note("off") }}, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// say answers a subscription.
func (d *deciding) say(t *testing.T, err error) {
	t.Helper()
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	select {
	case d.decide <- err:
	case <-timer.C:
		t.Fatal("nobody subscribes at the server")
	}
}

func (d *deciding) note(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, what)
}

// heard returns what it was asked for.
func (d *deciding) heard() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.log, " ")
}

// listening is a call of Listen whose answer is not there yet.
type listening struct {
	sub  *client.Subscription
	err  error
	done bool
}

func listenTo(ctx context.Context, c *client.Client) *listening {
	l := new(listening)
	go func() { // ends with the call
		l.sub, l.err = c.Listen(ctx, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"file:///a"}}, func(context.Context, client.Event) {})
		l.done = true
	}()
	synctest.Wait()
	return l
}

// withDeciding runs a test with a session.
func withDeciding(t *testing.T, body func(t *testing.T, d *deciding, c *client.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &deciding{decide: make(chan error)}
		body(t, d, mcptest.Connect(t, d, mcptest.Mode{Revision: mcp.Revision20251125, Transport: mcptest.Lines}, nil))
	})
}

// Who subscribes to what another subscription of the same session is about has not
// subscribed before the server has agreed.
//
// Spec: 2025-11-25 server/resources#subscriptions.
func TestSecondSubscriptionWaitsForTheServer(t *testing.T) {
	withDeciding(t, func(t *testing.T, d *deciding, c *client.Client) {
		one, two := listenTo(t.Context(), c), listenTo(t.Context(), c)
		if one.done || two.done {
			t.Errorf("the server has not agreed, but Listen has returned: %t, %t", one.done, two.done)
		}
		d.say(t, nil)
		synctest.Wait()
		if !one.done || !two.done || one.err != nil || two.err != nil {
			t.Errorf("the server has agreed: %+v, %+v", one, two)
		}
		if got := d.heard(); got != "on" {
			t.Errorf("the server hears %q, want one subscription", got)
		}
	})
}

// A server of this module has not agreed to a subscription either before its handler has,
// though there is one to the same resource already; what is refused to the one is asked
// for again by the other.
func TestServerAgreesTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deciding{decide: make(chan error)}
		c := mcptest.Connect(t, d, mcptest.Mode{Revision: mcp.Revision20251125, Transport: mcptest.HTTP}, nil)
		answers := make(chan error, 2)
		for range 2 {
			go func() { // ends with the call
				_, err := c.Do(t.Context(), mcp.MethodSubscribe, mcp.SubscribeParams{URI: "file:///a"})
				answers <- err
			}()
		}
		synctest.Wait()
		if len(answers) != 0 {
			t.Errorf("%d answers before the handler has agreed", len(answers))
		}
		d.say(t, jsonrpc.Errorf(jsonrpc.CodeInternalError, "busy"))
		if err := <-answers; err == nil {
			t.Error("a refusal is no error")
		}
		synctest.Wait()
		if len(answers) != 0 {
			t.Errorf("%d answers before the handler has agreed to the second", len(answers))
		}
		d.say(t, nil)
		if err := <-answers; err != nil {
			t.Error(err)
		}
		if got := d.heard(); got != "on on" {
			t.Errorf("the handler hears %q", got)
		}
	})
}

// What the server has refused to one is asked for again by the next.
func TestRefusalIsNobodyElses(t *testing.T) {
	withDeciding(t, func(t *testing.T, d *deciding, c *client.Client) {
		one, two := listenTo(t.Context(), c), listenTo(t.Context(), c)
		d.say(t, jsonrpc.Errorf(jsonrpc.CodeInternalError, "busy"))
		synctest.Wait()
		if !one.done || one.err == nil || two.done {
			t.Errorf("after a refusal: %+v, %+v", one, two)
		}
		d.say(t, nil)
		synctest.Wait()
		if !two.done || two.err != nil {
			t.Errorf("the server has agreed to the second: %+v", two)
		}
		given, cancel := context.WithCancel(t.Context())
		if err := two.sub.Close(); err != nil {
			t.Error(err)
		}
		three, four := listenTo(given, c), listenTo(t.Context(), c)
		cancel()
		synctest.Wait()
		if !three.done || three.err == nil || four.done {
			t.Errorf("after one was given up: %+v, %+v", three, four)
		}
		d.say(t, nil)
		synctest.Wait()
		if !four.done || four.err != nil {
			t.Errorf("the server has agreed to the last: %+v", four)
		}
		if got := d.heard(); got != "on on off on" {
			t.Errorf("the server hears %q, but has agreed to who gave up, before it read of that", got)
		}
	})
}

// Who subscribes while the last subscription ends is subscribed afterwards, whatever the
// server hears first.
func TestSubscribingWhileTheLastOneLeaves(t *testing.T) {
	for range 20 {
		withDeciding(t, func(t *testing.T, d *deciding, c *client.Client) {
			go func() { // ends with the test
				for {
					select {
					case d.decide <- nil:
					case <-t.Context().Done():
						return
					}
				}
			}()
			one := listenTo(t.Context(), c)
			go one.sub.Close() // ends when the server knows
			two := listenTo(t.Context(), c)
			if !two.done || two.err != nil {
				t.Errorf("not subscribed: %+v", two)
			}
			if got := d.heard(); got != "on" && got != "on off on" {
				t.Errorf("the server hears %q", got)
			}
			if err := two.sub.Close(); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if got := d.heard(); !strings.HasSuffix(got, "off") {
				t.Errorf("the server hears %q", got)
			}
		})
	}
}
