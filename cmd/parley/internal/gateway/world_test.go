package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// modes are a session and the stateless era, over lines and over HTTP.
var modes = []mcptest.Mode{
	{Revision: mcp.Revision20251125, Transport: mcptest.Lines},
	{Revision: mcp.Revision20251125, Transport: mcptest.HTTP},
	{Revision: mcp.Revision20260728, Transport: mcptest.Lines},
	{Revision: mcp.Revision20260728, Transport: mcptest.HTTP},
}

func stateless(m mcptest.Mode) bool { return m.Revision == mcp.Revision20260728 }

// world is a client in front of a gateway, with three servers behind, one of which is
// always down.
type world struct {
	front, back mcptest.Mode

	c        *client.Client
	g        *gateway.Gateway
	one, two *server.Server
	reads    atomic.Int64 // how often the servers were asked for the resource static

	visited atomic.Bool                     // the user has been where they were sent
	way     atomic.Pointer[mcp.Backchannel] // to whoever has to be there first

	mu       sync.Mutex
	decision string   // what the user answers who has to approve something
	asked    []string // questions that reached the user
	noted    []string // notifications of calls
	got      []string // what reached the servers
}

// newWorld connects a client to a gateway.
func newWorld(t *testing.T, front, back mcptest.Mode, share bridge.Share, guards ...guard.Guard) *world {
	t.Helper()
	w := &world{front: front, back: back, g: gateway.New(gateway.Options{
		Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet(),
	})}
	w.one, w.two = w.server("one"), w.server("two")
	setup := gateway.Setup{
		ListTimeout: 20 * time.Second, ReadCache: 1 << 20, Guards: guards, Views: map[string]gateway.Part{"search": {Search: true}, "up": {Backends: []string{"one", "two"}}},
	}
	for name, s := range map[string]*server.Server{"one": w.one, "two": w.two} {
		setup.Servers = append(setup.Servers, behind(t, name, s, back, share))
	}
	setup.Servers = append(setup.Servers, gateway.Server{
		Rules: naming.Rules{Backend: "down"},
		Backend: backend.Options{Connect: func(context.Context, *mcp.Peer, *client.Options) (*client.Client, error) {
			return nil, errors.New("no such program")
		}},
	})
	t.Cleanup(func() { _ = w.g.Close() }) // before the servers are waited for
	if err := w.g.Load(setup); err != nil {
		t.Fatal(err)
	}
	if failed := w.g.Look(t.Context()); len(failed) != 1 || failed["down"] == nil {
		t.Fatalf("not reached: %v", failed)
	}
	w.c = w.connect(t, "")
	return w
}

// connect connects a client, which declares everything but tasks, to a view.
func (w *world) connect(t *testing.T, view string) *client.Client {
	t.Helper()
	return w.extended(t, view, nil)
}

// taking connects a client that takes tasks.
func (w *world) taking(t *testing.T) *client.Client {
	t.Helper()
	return w.extended(t, "", takesTasks)
}

func (w *world) extended(t *testing.T, view string, extensions map[string]json.RawMessage) *client.Client {
	t.Helper()
	return mcptest.Connect(t, w.g.View(view), w.front, &client.Options{
		Capabilities: &mcp.ClientCapabilities{
			Roots:       &mcp.RootsCapability{ListChanged: true},
			Sampling:    &mcp.SamplingCapability{Tools: &mcp.Empty{}},
			Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}, URL: &mcp.Empty{}},
			Extensions:  extensions,
		},
		Answer: w.answer,
	})
}

// behind returns a server that a gateway reaches in a mode.
func behind(t testing.TB, name string, h mcp.Handler, back mcptest.Mode, share bridge.Share) gateway.Server {
	t.Helper()
	tr := &mcptest.Transport{Handler: h, Over: back.Transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	t.Cleanup(tr.Wait)
	return gateway.Server{
		Rules: naming.Rules{Backend: name}, Same: name,
		Backend: backend.Options{Share: share, Connect: func(ctx context.Context, _ *mcp.Peer, o *client.Options) (*client.Client, error) {
			o.Revisions = []mcp.Revision{back.Revision}
			return client.Connect(ctx, tr, o)
		}},
	}
}

// answers are what the user answers, by what is asked.
var answers = map[string]string{
	"form":           `{"action":"accept","content":{"name":"Ann","age":1.0},"com.example/sure":true}`,
	"url":            `{"action":"accept","com.example/sure":2.0}`,
	mcp.MethodSample: `{"role":"assistant","content":{"type":"text","text":"Ho"},"model":"m","com.example/cost":1.50,"stopReason":"endTurn"}`,
	mcp.MethodRoots:  `{"roots":[{"uri":"file:///a","name":"a","com.example/size":1.0}]}`,
}

func (w *world) answer(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	w.say(&w.asked, "%s %s", method, params)
	if strings.Contains(string(params), "Do you approve") {
		w.mu.Lock()
		defer w.mu.Unlock()
		return json.RawMessage(w.decision), nil
	}
	kind := method
	if method == mcp.MethodElicit {
		kind = "form"
		if strings.Contains(string(params), `"url"`) {
			kind = "url"
			w.visited.Store(true)
			if way := w.way.Swap(nil); way != nil { // the page says that the visit is over
				_ = (*way).Notify(ctx, mcp.NoteElicitationComplete, json.RawMessage(`{"elicitationId":"e1"}`))
			}
		}
	}
	return json.RawMessage(answers[kind]), nil
}

func (w *world) say(list *[]string, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*list = append(*list, fmt.Sprintf(format, args...))
}

// heard fails the test if a list does not have texts, in this order, and forgets it.
func (w *world) heard(t *testing.T, list *[]string, texts ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	all := strings.Join(*list, "\n")
	*list = nil
	rest := all
	for _, text := range texts {
		i := strings.Index(rest, text)
		if i < 0 {
			t.Errorf("%q is not there in its place, in\n%s", text, all)
			return
		}
		rest = rest[i+len(text):]
	}
}

// call calls a tool with raw params, and returns the raw result.
func (w *world) call(t *testing.T, params string) string {
	t.Helper()
	raw, err := w.c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(params), client.WithProgress(nil), client.WithLogLevel(mcp.LevelInfo),
		client.WithNotifications(func(_ context.Context, method string, params json.RawMessage) {
			w.say(&w.noted, "%s %s", method, params)
		}))
	if err != nil {
		t.Fatalf("%s: %v", params, err)
	}
	return string(raw)
}

// has fails the test if a text does not have others.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s is not in %s", p, text)
		}
	}
}

// within fails the test when nothing comes from a channel in time.
func within[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	timer := time.NewTimer(2 * time.Minute)
	defer timer.Stop()
	select {
	case v := <-ch:
		return v
	case <-timer.C:
		t.Fatalf("%s did not come", what)
	}
	panic("unreachable")
}

// heardOne fails the test if what reached the servers does not have a text.
func (w *world) heardOne(t *testing.T, text string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	has(t, strings.Join(w.got, "\n"), text)
}

// await waits until a list has a text, and forgets the list.
func (w *world) await(t *testing.T, list *[]string, text string) {
	t.Helper()
	found := make(chan struct{})
	stop := make(chan struct{})
	defer close(stop)
	go func() { // ends with the test at the latest
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for {
			w.mu.Lock()
			ok := strings.Contains(strings.Join(*list, "\n"), text)
			if ok {
				*list = nil
			}
			w.mu.Unlock()
			if ok {
				close(found)
				return
			}
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
		}
	}()
	within(t, text, found)
}
