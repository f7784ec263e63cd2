package hostile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// Whatever a server sends to a client, the call ends as the specification
// requires, or with a clear error, and other clients and calls continue.
func TestClients(t *testing.T) {
	files := load(t, "client")
	files["fields"] = tables(t, files["fields"], "result")
	files["asks"] = asks(tables(t, files["asks"], "params"))
	var bystanders []*client.Client
	for _, r := range toClients {
		bystanders = append(bystanders, connect(t, r, new(entry), villainFor(t, r, new(entry))))
	}
	turn := 0
	for _, class := range slices.Sorted(maps.Keys(files)) {
		t.Run(class, func(t *testing.T) {
			n := 0
			for _, e := range files[class] {
				for _, r := range toClients {
					if !e.goes(r) {
						continue
					}
					n++
					t.Run(r.String()+"/"+e.name, func(t *testing.T) {
						endure(t, r, e)
						turn = (turn + 1) % len(bystanders)
						fine(t, bystanders[turn])
					})
				}
			}
			t.Logf("%d inputs", n)
		})
	}
}

// endure runs a client against one case.
func endure(t *testing.T, r route, e *entry) {
	t.Helper()
	v := villainFor(t, r, e)
	var c *client.Client
	var err error
	cost(t, func() {
		if c, err = v.meet(t); err == nil {
			err = e.perform(t.Context(), r, c)
		}
	})
	e.ended(t, r, err)
	if reply := e.one("reply", r); reply != "" && reply != "none" {
		v.replied(t, reply)
	}
	if c != nil && e.one("dies", r) == "" {
		fine(t, c)
	}
	if reply := e.one("reply", r); reply == "none" {
		v.silent(t)
	}
}

// ended compares how a call ended with how it should end.
func (e *entry) ended(t *testing.T, r route, err error) {
	t.Helper()
	want, text, _ := strings.Cut(e.one("want", r), " ")
	switch want {
	case "ok":
		if err != nil {
			t.Errorf("the call failed: %v", err)
		}
	case "error":
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got the error %v, want one with %q", err, text)
		}
	case "timeout":
		if !errors.Is(err, client.ErrTimeout) {
			t.Errorf("got the error %v, want %v", err, client.ErrTimeout)
		}
	case "any":
	default:
		t.Fatalf("the case does not say what to expect: %q", want)
	}
}

// fine makes a call that must succeed.
func fine(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if got, err := client.Call[string](ctx, c, "good", nil); err != nil || got != "fine" {
		t.Errorf("a good call returned %q, %v", got, err)
	}
}

// perform makes the call that the case is about.
func (e *entry) perform(ctx context.Context, r route, c *client.Client) error {
	var err error
	switch method := e.called(r); method {
	case mcp.MethodCallTool:
		limit := patience
		if e.one("want", r) == "timeout" {
			limit = shortly // for this call alone: connecting, and the good call after it, may take as long as they need
		}
		_, err = client.Call[json.RawMessage](ctx, c, "attack", nil,
			client.WithProgress(func(*mcp.ProgressParams) {}), client.WithTimeout(limit), client.WithMaxTimeout(limit))
	case mcp.MethodListTools:
		_, err = client.Collect(c.Tools(ctx))
	case mcp.MethodListResources:
		_, err = client.Collect(c.Resources(ctx))
	case mcp.MethodListTemplates:
		_, err = client.Collect(c.ResourceTemplates(ctx))
	case mcp.MethodListPrompts:
		_, err = client.Collect(c.Prompts(ctx))
	case mcp.MethodReadResource:
		_, err = c.ReadResource(ctx, "test:///a")
	case mcp.MethodGetPrompt:
		_, err = c.GetPrompt(ctx, "greet", nil)
	case mcp.MethodComplete:
		_, err = c.CompletePrompt(ctx, "greet", "who", "", nil)
	case mcp.MethodListen:
		_, err = c.Listen(ctx, mcp.SubscriptionFilter{ToolsListChanged: true}, func(context.Context, client.Event) {})
	case mcp.MethodInitialize, mcp.MethodDiscover, "GET": // already done by connecting
	default:
		err = fmt.Errorf("the corpus calls %q", method)
	}
	return err
}

func (e *entry) called(r route) string {
	if m := e.one("call", r); m != "" {
		return m
	}
	return mcp.MethodCallTool
}

// connect connects a client that answers every question.
func connect(t *testing.T, r route, e *entry, v *villain) *client.Client {
	t.Helper()
	c, err := v.meet(t)
	if err != nil {
		t.Fatalf("%v %s: %v", r, e.name, err)
	}
	return c
}

func (v *villain) options() *client.Options {
	r, want := v.route, v.entry.one("want", v.route)
	o := &client.Options{
		Logger: mcptest.Quiet(), Timeout: patience, MaxTimeout: patience, ProbeTimeout: patience, Revisions: []mcp.Revision{mcp.Revision20251125},
		NoCache: true, MaxRestarts: 1000, MaxRounds: 3, LogLevel: mcp.LevelDebug, Log: func(context.Context, *mcp.LogParams) {},
	}
	if r.era == "stateless" {
		o.Revisions = []mcp.Revision{mcp.Revision20260728}
	}
	if want == "timeout" && v.entry.called(r) != mcp.MethodCallTool {
		o.Timeout, o.MaxTimeout = 5*shortly, 5*shortly // connecting counts, too
	}
	if v.entry.one("bare", r) != "" {
		return o
	}
	o.Roots = []*mcp.Root{{URI: "file:///work"}}
	o.Elicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"text":"` + strings.Repeat("a", 4096) + `!"}`)}, nil
	}
	o.VisitURL = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
	}
	o.Sample = func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
		return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "m", Content: mcp.OneOrMany{mcp.Text("x")}}, nil
	}
	return o
}

// meet connects a client to the villain; it is closed when the test ends.
func (v *villain) meet(t *testing.T) (*client.Client, error) {
	t.Helper()
	var transport mcp.Transport = v
	if v.route.transport != "stdio" {
		web := httptest.NewServer(v)
		t.Cleanup(web.Close)
		transport = v.over(web.URL)
	}
	c, err := client.Connect(t.Context(), transport, v.options())
	if err != nil {
		v.enough()
		return nil, err
	}
	t.Cleanup(func() {
		v.enough() // ends floods
		_ = c.Close()
		v.running.Wait()
	})
	return c, nil
}

// over is the transport to a villain on the network.
func (v *villain) over(url string) mcp.Transport {
	if v.route.transport == "sse" {
		connect := patience
		if v.entry.one("hangs", v.route)+v.entry.one("endless", v.route) != "" && v.entry.called(v.route) == "GET" {
			connect = shortly
		}
		return &sse.Client{URL: url + "/sse", MaxMessageBytes: maxBytes, ConnectTimeout: connect, PostTimeout: patience}
	}
	return &streamable.Client{
		URL: url + "/mcp", Logger: mcptest.Quiet(), MaxMessageBytes: maxBytes,
		MaxReconnects: 2, ReconnectDelay: time.Millisecond, CloseTimeout: shortly,
	}
}

// replied checks that the client answered the villain's question as expected:
// with an error of that code, or with a result.
func (v *villain) replied(t *testing.T, want string) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var frame string
	select {
	case frame = <-v.replies:
	case <-timer.C:
		t.Error("the client did not answer the question")
		return
	}
	var m message
	got := "result" // also for the answers to a batch
	if err := json.Unmarshal([]byte(frame), &m); err != nil && frame[0] != '[' {
		t.Errorf("the client answered %.300s: %v", frame, err)
	}
	if m.Error != nil {
		got = strconv.FormatInt(m.Error.Code, 10)
	}
	if !slices.Contains(strings.Split(want, "|"), got) {
		t.Errorf("the client answered %s, want %s: %.300s", got, want, frame)
	}
}

// silent checks that the client has not answered.
func (v *villain) silent(t *testing.T) {
	t.Helper()
	select {
	case frame := <-v.replies:
		t.Errorf("the client answered %.300s", frame)
	default:
	}
}
