package mcptest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func TestAnswers(t *testing.T) {
	roots := []*mcp.Root{{URI: "file:///a"}}
	caller := &mcptest.Caller{Answers: map[string]any{
		"form": map[string]any{"sure": true}, "as it is": &mcp.ElicitResult{Action: mcp.ActionCancel},
		"no": server.ErrDeclined, "visit": nil, "not there": server.ErrCancelled,
		"model": "words", "tired": errors.New("no model"), "wrong": 5, server.RootsKey: roots,
	}}
	call := mcptest.NewCall(t, caller)
	ctx := t.Context()
	form := func(key string) error {
		_, err := server.Elicit[confirmation](ctx, call, key, "Sure?")
		return err
	}
	sample := func(key string) error {
		_, err := server.SampleText(ctx, call, key, "?", 5)
		return err
	}
	for key, want := range map[string]error{"form": nil, "as it is": server.ErrCancelled, "no": server.ErrDeclined, "not there": server.ErrCancelled} {
		if err := form(key); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", key, err, want)
		}
	}
	if err := server.ElicitURL(ctx, call, "visit", "go", "https://example.com"); err != nil {
		t.Errorf("visit: %v", err)
	}
	if text, err := server.SampleText(ctx, call, "model", "?", 5); text != "words" || err != nil {
		t.Errorf("model: %q, %v", text, err)
	}
	if err := sample("tired"); !errors.Is(err, caller.Answers["tired"].(error)) {
		t.Errorf("tired: %v", err)
	}
	if err := sample("wrong"); err == nil {
		t.Error("a number answered a sampling")
	}
	if got, err := server.Roots(ctx, call); err != nil || len(got) != 1 || got[0].URI != "file:///a" {
		t.Errorf("roots: %v, %v", got, err)
	}
	if n := len(caller.Asked()); n != 9 {
		t.Errorf("%d questions, want 9", n)
	}
}

// What was done in one round is not repeated in the next.
func TestRounds(t *testing.T) {
	caller := &mcptest.Caller{Answers: map[string]any{"sure": confirmation{true}}, Done: map[string]any{"earlier": 7}}
	paid := 0
	handler := func(ctx context.Context, call *server.Call) (int, error) {
		if _, err := server.Elicit[confirmation](ctx, call, "sure", "Sure?"); err != nil {
			return 0, err
		}
		n, err := server.Once(ctx, call, "pay", func(context.Context) (int, error) { paid++; return paid, nil })
		if err != nil {
			return 0, err
		}
		earlier, err := server.Once(ctx, call, "earlier", func(context.Context) (int, error) { return 0, errors.New("it ran again") })
		if err != nil {
			return 0, err
		}
		_, err = server.Elicit[confirmation](ctx, call, "really", "Really?")
		return n + earlier, err
	}
	_, err := handler(t.Context(), mcptest.NewCall(t, caller))
	var required *mcp.InputRequired
	if !errors.As(err, &required) || len(required.Requests) != 1 || required.Requests[0].Key != "really" {
		t.Fatalf("first round: %v", err)
	}
	caller.Answers["really"] = confirmation{true}
	got, err := handler(t.Context(), mcptest.NewCall(t, caller))
	if got != 8 || err != nil || paid != 1 || len(caller.Ran()) != 1 {
		t.Errorf("second round: %d, %v; paid %d times, ran %v", got, err, paid, caller.Ran())
	}
}

func TestCallTellsWhoCalls(t *testing.T) {
	caller := &mcptest.Caller{
		Peer: &mcp.Peer{Revision: mcp.Revision20250618, Principal: "ann"},
		Meta: mcp.Meta{"com.example/k": []byte(`"v"`)},
	}
	call := mcptest.NewCall(t, caller)
	var v string
	ok, err := call.Meta("com.example/k", &v)
	if call.Principal() != "ann" || call.Peer().Revision != mcp.Revision20250618 || !ok || v != "v" || err != nil {
		t.Errorf("peer %+v, _meta %q %v %v", call.Peer(), v, ok, err)
	}
	_, err = server.Roots(t.Context(), call)
	var missing *mcp.MissingCapabilityError
	if !errors.As(err, &missing) || len(caller.Asked()) != 0 {
		t.Errorf("a client that declared nothing was asked %v: %v", caller.Asked(), err)
	}
}

func TestCallTellsWhatItHeard(t *testing.T) {
	caller := &mcptest.Caller{LogLevel: mcp.LevelWarning}
	call, ctx := mcptest.NewCall(t, caller), t.Context()
	call.Progress(ctx, 1, 3, "one")
	call.Progress(ctx, 1, 3, "not more")
	call.Progress(ctx, 2, 3, "two")
	call.Log(ctx, mcp.LevelInfo, "quiet")
	call.Log(ctx, mcp.LevelError, "loud")
	if err := call.Notify(ctx, "acme/said", map[string]int{"a": 1}); err != nil {
		t.Error(err)
	}
	if p := caller.Progress(); len(p) != 2 || p[1].Message != "two" {
		t.Errorf("progress %v", p)
	}
	if l := caller.Logged(); len(l) != 1 || l[0].Data != "loud" {
		t.Errorf("logged %v", l)
	}
	if n := caller.Notified(); len(n) != 4 || n[3].Method != "acme/said" {
		t.Errorf("notified %v", n)
	}
	if err := call.Notify(ctx, "acme/said", func() {}); err == nil {
		t.Error("a function was sent")
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := call.Notify(gone, "acme/said", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestFinish(t *testing.T) {
	caller := new(mcptest.Caller)
	call := mcptest.NewCall(t, caller)
	call.AddContent(mcp.Text("more"))
	if err := call.SetResultMeta("com.example/k", 1); err != nil {
		t.Error(err)
	}
	r := caller.Finish(call)
	if r == nil || len(r.Content) != 1 || string(r.Meta["com.example/k"]) != "1" {
		t.Errorf("result %+v", r)
	}
	call.Progress(t.Context(), 1, 1, "too late")
	if p := caller.Progress(); p != nil {
		t.Errorf("progress after the end: %v", p)
	}
	if again := caller.Finish(call); again != r {
		t.Errorf("finished twice: %+v", again)
	}
	if other := new(mcptest.Caller).Finish(call); other != nil {
		t.Errorf("another caller's call: %+v", other)
	}
	if mcptest.NewCall(t, nil) == nil {
		t.Error("a caller without calls finished nil")
	}
}
