package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// notes is a server with a tool that answers with what it is called with.
func notes(names ...string) *server.Server {
	s := server.New(mcp.Implementation{Name: "notes", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	for _, name := range names {
		addEcho(s, name)
	}
	return s
}

func addEcho(s *server.Server, name string) {
	tool := mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: strings.HasPrefix(name, "read")}}
	s.AddRawTool(tool, func(_ context.Context, _ *server.Call, arguments json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.Contents{mcp.Textf("%s %s", name, arguments)}}, nil
	})
}

// pass lets time pass.
func pass(d time.Duration) { <-time.NewTimer(d).C }

func inMemory(h mcp.Handler) *mcptest.Transport {
	return &mcptest.Transport{Handler: h, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
}

// open opens a host that ends with the test, and waits until its servers are up or have
// failed.
func open(t *testing.T, servers map[string]host.Server, o *host.Options) *host.Host {
	t.Helper()
	if o == nil {
		o = &host.Options{Approve: host.ApproveAll}
	}
	if o.Client == nil {
		o.Client = &client.Options{}
	}
	o.Client.Logger = mcptest.Quiet()
	h, err := host.Open(t.Context(), servers, o)
	if err != nil {
		t.Fatal(err)
	}
	stop := func() {
		_ = h.Close()
		for _, s := range servers {
			if tr, ok := s.Transport.(*mcptest.Transport); ok {
				tr.Wait()
			}
		}
	}
	t.Cleanup(stop)
	if err := h.Ready(t.Context()); err != nil {
		t.Log(err)
	}
	return h
}

func toolNames(h *host.Host) string {
	var names []string
	for _, tool := range h.Tools() {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

func said(r *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// The tools of all servers have names that lead back to them, whatever they are called.
func TestToolsOfAll(t *testing.T) {
	long := strings.Repeat("x", 100)
	h := open(t, map[string]host.Server{
		"files":   {Transport: inMemory(notes("read", "get.it", long))},
		"My Shop": {Transport: inMemory(notes("read"))},
		"off":     {Disabled: true},
	}, nil)
	if got, want := toolNames(h), "files__get_it_ZNIUCAMK files__read files__"+long[:48]+"_ECPTANPZ my-shop__read"; got != want {
		t.Errorf("the tools are %s, want %s", got, want)
	}
	for _, tool := range h.Tools() {
		r, err := h.Call(t.Context(), tool.Name, json.RawMessage(`{"a":1.0}`))
		if err != nil || !strings.HasSuffix(said(r), ` {"a":1.0}`) {
			t.Errorf("%s: %v, %v", tool.Name, r, err)
		}
	}
	if r, err := h.Call(t.Context(), "files__get_it_ZNIUCAMK", nil); err != nil || said(r) != "get.it {}" {
		t.Errorf("get.it: %v, %v", r, err)
	}
	for name, want := range map[string]error{"files__none": host.ErrNoTool, "none__read": host.ErrNoTool, "read": host.ErrNoTool, "": host.ErrNoTool} {
		if _, err := h.Call(t.Context(), name, nil); !errors.Is(err, want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, arguments := range []string{"[]", "null", `{"a":1,"a":2}`, "{", `"{}"`} {
		if _, err := h.Call(t.Context(), "files__read", json.RawMessage(arguments)); !errors.Is(err, host.ErrArguments) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}

func TestNamesThatCollide(t *testing.T) {
	_, err := host.Open(t.Context(), map[string]host.Server{"My Shop": {}, "my-shop": {}}, nil)
	if err == nil || !strings.Contains(err.Error(), `"My Shop" and "my-shop"`) {
		t.Error(err)
	}
}

// A server that cannot be started, or is described wrongly, costs only its own tools.
func TestOneFails(t *testing.T) {
	h := open(t, map[string]host.Server{
		"good":  {Transport: inMemory(notes("read"))},
		"gone":  {Command: "/nonexistent/server"},
		"wrong": {Command: "x", URL: "https://example.com"},
		"ftp":   {URL: "ftp://example.com"},
	}, nil)
	if got := toolNames(h); got != "good__read" {
		t.Errorf("the tools are %s", got)
	}
	err := h.Ready(t.Context())
	for _, name := range []string{`"gone"`, `"wrong"`, `"ftp"`} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Ready does not name %s: %v", name, err)
		}
	}
	for _, s := range h.Servers() {
		if up := s.Server == "good"; up != (s.State == host.Up) || up != (s.Err == nil) || (s.Server == "gone") == s.Retry.IsZero() {
			t.Errorf("%+v", s)
		}
	}
	_, err = h.Call(t.Context(), "gone__tool", nil)
	var down *host.ServerError
	if !errors.As(err, &down) || down.Server != "gone" {
		t.Errorf("a call of a server that is down: %v", err)
	}
	if text := said(host.ForModel(nil, err)); text != `The tool "gone__tool" cannot be called now, because the server "gone" is down.` {
		t.Errorf("the model reads %q", text)
	}
	if _, err := h.Client("gone"); !errors.As(err, &down) {
		t.Errorf("Client: %v", err)
	}
	if c, err := h.Client("good"); err != nil || c.ServerInfo().Name != "notes" {
		t.Errorf("Client: %v", err)
	}
	if err := h.Restart(t.Context(), "wrong"); !errors.As(err, &down) {
		t.Errorf("Restart: %v", err)
	}
	if err := h.Restart(t.Context(), "none"); err == nil {
		t.Error("an unknown server was restarted")
	}
}

// A server that dies is connected to again after a pause; in between its tools are gone
// and say so.
func TestDeath(t *testing.T) {
	for _, r := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		t.Run(r.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dying, changes := inMemory(notes("read")), make(chan string, 100)
				h := open(t, map[string]host.Server{"dying": {Transport: dying}, "good": {Transport: inMemory(notes("read"))}}, &host.Options{
					Approve: host.ApproveAll, Changed: func(s string) { changes <- s }, Client: &client.Options{Revisions: []mcp.Revision{r}},
				})
				synctest.Wait()
				for len(changes) > 0 {
					<-changes
				}
				dying.Break()
				synctest.Wait()
				if got := toolNames(h); got != "good__read" || len(changes) != 1 || <-changes != "dying" {
					t.Errorf("after the death the tools are %s, %d changes", got, len(changes))
				}
				s := h.Servers()[0]
				if s.State != host.Down || s.Err == nil || s.Lost != 1 || s.Retry.Before(time.Now().Add(200*time.Millisecond)) || s.Retry.After(time.Now().Add(time.Second)) {
					t.Errorf("after the death: %+v", s)
				}
				if _, err := h.Call(t.Context(), "dying__read", nil); err == nil || !strings.Contains(err.Error(), `the server "dying" is down`) {
					t.Errorf("a call: %v", err)
				}
				pass(time.Second)
				synctest.Wait()
				if r, err := h.Call(t.Context(), "dying__read", nil); err != nil || said(r) != "read {}" {
					t.Errorf("a call after the restart: %v", err)
				}
				if s := h.Servers()[0]; s.State != host.Up || s.Err == nil || s.Tools != 1 {
					t.Errorf("after the restart: %+v", s)
				}
			})
		})
	}
}

// A server that dies again and again is left alone for longer and longer, unless somebody
// asks for it.
func TestPausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &refusing{err: errors.New("no")}
		h := open(t, map[string]host.Server{"x": {Transport: tr}}, nil)
		var waits []time.Duration
		for range 6 {
			s := h.Servers()[0]
			waits = append(waits, s.Retry.Sub(s.Since))
			pass(time.Until(s.Retry))
			synctest.Wait()
		}
		if waits[0] > time.Second || waits[5] < 7*time.Second {
			t.Errorf("the pauses are %v", waits)
		}
		if err := h.Restart(t.Context(), "x"); !errors.Is(err, tr.err) {
			t.Errorf("Restart: %v", err)
		}
		if s := h.Servers()[0]; s.Retry.Sub(s.Since) > time.Second {
			t.Errorf("after a restart the pause is %v", s.Retry.Sub(s.Since))
		}
	})
}

// Nobody is asked to log in over and over.
func TestLoginIsNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &refusing{err: mcp.ErrUnauthorized}
		h := open(t, map[string]host.Server{"x": {Transport: tr}}, nil)
		pass(time.Hour)
		synctest.Wait()
		if n := tr.count(); n != 1 {
			t.Errorf("it was connected to %d times", n)
		}
		if err := h.Restart(t.Context(), "x"); !errors.Is(err, mcp.ErrUnauthorized) || tr.count() != 2 {
			t.Errorf("Restart: %v", err)
		}
	})
}

// refusing is a transport without a server.
type refusing struct {
	err error
	mu  sync.Mutex
	n   int
}

func (r *refusing) Name() string { return "refusing" }

func (r *refusing) Connect(context.Context, mcp.Receiver) (mcp.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return nil, r.err
}

func (r *refusing) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// The merged list follows those of the servers, at most once a second.
func TestListsChange(t *testing.T) {
	for _, r := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		t.Run(r.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, lists := notes("read"), 0
				s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
					return func(ctx context.Context, x *mcp.Exchange) (any, error) {
						if x.Method == mcp.MethodListTools {
							lists++
						}
						return next(ctx, x)
					}
				})
				changes := 0
				h := open(t, map[string]host.Server{"a": {Transport: inMemory(s)}}, &host.Options{
					Approve: host.ApproveAll, Changed: func(string) { changes++ }, Client: &client.Options{Revisions: []mcp.Revision{r}},
				})
				synctest.Wait()
				lists, changes = 0, 0
				for i := range 1000 {
					addEcho(s, "t"+string(rune('a'+i%26)))
					pass(10 * time.Millisecond)
				}
				s.RemoveTools("read")
				pass(2 * time.Second)
				synctest.Wait()
				if got := toolNames(h); strings.Contains(got, "read") || !strings.Contains(got, "a__ta") {
					t.Errorf("the tools are %s", got)
				}
				if lists > 13 || changes > lists {
					t.Errorf("the list was fetched %d times in 12 seconds, and %d changes were reported", lists, changes)
				}
				if _, err := h.Call(t.Context(), "a__read", nil); !errors.Is(err, host.ErrNoTool) || !strings.Contains(err.Error(), "a__read") {
					t.Errorf("a call of a tool that is gone: %v", err)
				}
			})
		})
	}
}

// Close ends everything, and what comes after says so.
func TestClose(t *testing.T) {
	h := open(t, map[string]host.Server{"a": {Transport: inMemory(notes("read"))}}, nil)
	_ = h.Close()
	_ = h.Close()
	if _, err := h.Call(t.Context(), "a__read", nil); !errors.Is(err, host.ErrClosed) {
		t.Errorf("Call: %v", err)
	}
	if err := h.Restart(t.Context(), "a"); !errors.Is(err, host.ErrClosed) {
		t.Errorf("Restart: %v", err)
	}
	if s := h.Servers()[0]; s.State != host.Down || !errors.Is(s.Err, host.ErrClosed) || len(h.Tools()) != 0 {
		t.Errorf("%+v", s)
	}
}
