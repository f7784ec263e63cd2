package inspect

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// crooked is a server one of whose tools does not keep what its output schema promises.
type crooked struct{ mcp.Handler }

func (h crooked) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	if x.Method == mcp.MethodCallTool && strings.Contains(string(x.Params), `"crooked"`) {
		return json.RawMessage(`{"content":[],"structuredContent":{"sum":"12345678901234567890","odd":1.50}}`), nil
	}
	return h.Handler.Serve(ctx, x)
}

// newCallServer returns a server with tools of which calls can be told apart.
func newCallServer(t *testing.T) *server.Server {
	s := server.New(mcp.Implementation{Name: "calls", Version: "1"}, nil)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Call, in struct {
		Text string `json:"text"`
	},
	) (string, error) {
		return in.Text, nil
	})
	server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 2, "half of it")
		<-ctx.Done()
		return "", ctx.Err()
	})
	server.AddTool(s, mcp.Tool{Name: "crooked", OutputSchema: json.RawMessage(`{"type":"object","properties":{"sum":{"type":"integer"}}}`)},
		func(context.Context, *server.Call, struct{}) (map[string]int, error) { return nil, nil })
	server.AddTool(s, mcp.Tool{Name: "report", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}},
		func(context.Context, *server.Call, struct{}) (string, error) { return "done", nil }, server.TaskAfter(0))
	return s
}

// withCalls connects a stage to a server of calls, in a revision.
func withCalls(t *testing.T, revision string) (*stage, string, *server.Server) {
	srv := newCallServer(t)
	h, err := streamable.New(crooked{srv}, nil)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	s := newStage(t, Options{})
	c := s.open(map[string]any{"url": site.URL, "revision": revision})
	if c.State != "up" {
		t.Fatalf("not connected: %v", c.Error)
	}
	return s, "/connections/" + c.ID, srv
}

// saidCall is a call as the API shows it.
type saidCall struct {
	ID, Method, Subject, State string
	Params, Result             json.RawMessage
	Exchange                   uint64
	IsError                    bool
	Error                      *struct{ Code, Message string }
	Check                      *outputCheck
	Heard                      *shownHeard
	TaskNow                    *mcp.Task
	TaskKey                    string
}

// made makes a call by the API and returns it when it has ended.
func (s *stage) made(base string, body map[string]any) saidCall {
	s.Helper()
	id := must[struct{ ID string }](s, "POST", base+"/calls", body).ID
	return s.ended(base, id)
}

func (s *stage) ended(base, id string) saidCall {
	s.Helper()
	for _, k := range partOf[callBook](s.server.byID(strings.TrimPrefix(base, "/connections/"))).all() {
		if k.ID == id {
			<-k.done
		}
	}
	return must[saidCall](s, "GET", base+"/calls/"+id, nil)
}

func tool(name string, args string) map[string]any {
	return map[string]any{"method": mcp.MethodCallTool, "params": map[string]any{"name": name, "arguments": json.RawMessage(args)}}
}

var bothEnds = []string{"2024-11-05", "2025-11-25", "2026-07-28"}

// A call is kept with its result as it came, and with its exchange in the recording.
func TestCalls(t *testing.T) {
	for _, revision := range bothEnds {
		t.Run(revision, func(t *testing.T) {
			s, base, _ := withCalls(t, revision)
			first := s.made(base, tool("echo", `{"text":"one"}`))
			if first.State != "done" || first.Subject != "echo" || !strings.Contains(string(first.Result), `"one"`) {
				t.Errorf("the call is %+v, with the result %s", first, first.Result)
			}
			second := s.made(base, tool("echo", `{"text":"two"}`))
			if first.Exchange == 0 || second.Exchange <= first.Exchange {
				t.Errorf("the calls are the exchanges %d and %d, want two in order", first.Exchange, second.Exchange)
			}
			wrong := s.made(base, tool("echo", `{"text":1}`))
			if wrong.State == "done" && !wrong.IsError || wrong.State == "failed" && wrong.Error == nil {
				t.Errorf("a call with wrong arguments is %+v", wrong)
			}
			must[struct{}](s, "DELETE", base+"/calls/"+s.made(base, map[string]any{"method": mcp.MethodListTools}).ID, nil)
			all := must[struct{ Calls []saidCall }](s, "GET", base+"/calls", nil).Calls
			if len(all) != 3 || all[0].ID != wrong.ID || all[2].Result != nil {
				t.Errorf("the list is %+v, want three calls, the newest first, without results", all)
			}
			must[struct{}](s, "DELETE", base+"/calls/"+first.ID, nil)
			if e := s.refused("GET", base+"/calls/"+first.ID, nil); e.Code != "no_call" || e.Status != 404 {
				t.Errorf("a call that was forgotten: %+v", e)
			}
			must[struct{}](s, "DELETE", base+"/calls", nil)
			if all := must[struct{ Calls []saidCall }](s, "GET", base+"/calls", nil).Calls; len(all) != 0 {
				t.Errorf("there are %d calls after all were forgotten", len(all))
			}
		})
	}
}

// A call that runs shows its progress, and can be cancelled with a reason.
func TestCancelCall(t *testing.T) {
	for _, revision := range bothEnds {
		t.Run(revision, func(t *testing.T) {
			s, base, _ := withCalls(t, revision)
			id := must[struct{ ID string }](s, "POST", base+"/calls", tool("wait", `{}`)).ID
			must[struct{}](s, "DELETE", base+"/calls/"+id+"?reason=enough", nil)
			k := s.ended(base, id)
			if k.State != "cancelled" || k.Error == nil || k.Error.Message != "enough" {
				t.Errorf("the call is %s: %+v, want it cancelled with its reason", k.State, k.Error)
			}
		})
	}
}

// What does not fit the output schema is said with its place, and the result stays as it was.
func TestOutputCheck(t *testing.T) {
	s, base, _ := withCalls(t, "2026-07-28")
	k := s.made(base, tool("crooked", `{}`))
	if k.State != "done" || !strings.Contains(string(k.Result), `"odd":1.50`) {
		t.Fatalf("the call is %s, with the result %s", k.State, k.Result)
	}
	if k.Check == nil || k.Check.Fits || len(k.Check.Problems) != 1 || k.Check.Problems[0].Pointer != "/sum" {
		t.Errorf("the check says %+v, want a problem at /sum", k.Check)
	}
}

// What cannot be sent at all is refused, and the field that is wrong is named.
func TestRefusedCalls(t *testing.T) {
	s, base, _ := withCalls(t, "2026-07-28")
	for _, tt := range []struct {
		field string
		body  map[string]any
	}{
		{"method", map[string]any{}},
		{"method", map[string]any{"method": "initialize"}},
		{"method", map[string]any{"method": mcp.NoteProgress}},
		{"method", map[string]any{"method": mcp.MethodElicit}},
		{"params", map[string]any{"method": "tools/call", "params": []int{1}}},
		{"timeout", map[string]any{"method": "tools/call", "timeout": -1}},
		{"ttl", map[string]any{"method": "tools/call", "ttl": -1}},
		{"nonsense", map[string]any{"method": "tools/call", "nonsense": 1}},
	} {
		if e := s.refused("POST", base+"/calls", tt.body); e.Field != tt.field || e.Status != 400 {
			t.Errorf("%v is refused with %+v, want status 400 for the field %q", tt.body, e, tt.field)
		}
	}
	if e := s.refused("DELETE", base+"/calls/99", nil); e.Status != 404 {
		t.Errorf("an unknown call: %+v", e)
	}
	must[struct{}](s, "POST", base+"/disconnect", nil)
	if e := s.refused("POST", base+"/calls", tool("echo", `{}`)); e.Status != 409 {
		t.Errorf("a call without a connection: %+v", e)
	}
}

// Of many calls, the oldest that have ended are forgotten.
func TestCallsAreBounded(t *testing.T) {
	var b callBook
	for range maxCalls + 10 {
		k := &call{done: make(chan struct{})}
		close(k.done)
		if err := b.add(k); err != nil {
			t.Fatal(err)
		}
	}
	b.shrink()
	if all := b.all(); len(all) != maxCalls || all[0].ID != "11" {
		t.Errorf("%d calls are kept, from %s on", len(all), all[0].ID)
	}
	for range maxRunning {
		if err := b.add(&call{done: make(chan struct{})}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.add(&call{done: make(chan struct{})}); err == nil {
		t.Errorf("more than %d calls can run", maxRunning)
	}
}
