package spec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// waiter has a tool that signals when it runs, waits for its context to end,
// tries to send more, and signals when it is done.
func waiter(started, ended chan struct{}) *server.Server {
	s := plainServer(&server.Options{Logging: true, ProgressInterval: -1})
	server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		started <- struct{}{}
		<-ctx.Done()
		quiet := context.WithoutCancel(ctx)
		call.Progress(quiet, 1, 2, "too late")
		call.Log(quiet, mcp.LevelError, "too late")
		ended <- struct{}{}
		return "too late", nil
	})
	return s
}

// Spec: 2026-07-28 basic/transports/stdio#cancellation.
// Spec: 2026-07-28 basic/patterns/cancellation#behavior-requirements (3).
// A cancelled request stops, and nothing more is sent for it: no progress, no
// log message, no response. Its ID may then be used again.
func TestSpec2026CancelledRequestIsSilent(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	w := rawly(t, waiter(started, ended), nil)
	for _, id := range []string{`5`, `"five"`, `5`} {
		w.send(frameWith(id, mcp.MethodCallTool, `"name":"wait"`, metaWith(`{}`, `,"progressToken":"p","io.modelcontextprotocol/logLevel":"debug"`)))
		<-started
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"enough"}}`)
		<-ended
		// The ID is free once the handler has returned, which is a moment later.
		for free := false; !free; {
			answer, before := w.call(id, mcp.MethodDiscover, "")
			if len(before) > 0 {
				t.Errorf("after %s was cancelled, the server sent %v", id, before)
			}
			if free = answer.Result != nil; !free {
				t.Logf("not yet: %s", answer.raw)
			}
		}
	}
}

// Spec: 2026-07-28 basic/patterns/cancellation#error-handling.
// Cancellations that are malformed, or for requests that are unknown or done,
// have no effect; a string is not equal to the number it spells.
func TestSpec2026BadCancellations(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	w := rawly(t, waiter(started, ended), nil)
	w.send(frame2026(`5`, mcp.MethodCallTool, `"name":"wait"`))
	<-started
	if a, _ := w.call(`6`, mcp.MethodDiscover, ""); a.Result == nil {
		t.Errorf("got %s", a.raw)
	}
	for _, params := range []string{
		``, `,"params":{}`, `,"params":{"requestId":null}`, `,"params":{"requestId":[5]}`, `,"params":{"requestId":5.0}`,
		`,"params":{"requestId":"5"}`, `,"params":{"requestId":6}`, `,"params":{"requestId":99}`, `,"params":{"requestid":5}`,
	} {
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"` + params + `}`)
	}
	w.alive()
	select {
	case <-ended:
		t.Error("the request was cancelled")
	default:
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	<-ended
}

// Spec: 2026-07-28 basic/patterns/progress#progress-flow.
// Spec: 2026-07-28 basic/patterns/progress#behavior-requirements (1).
// Progress carries the token exactly as it was sent, only increases, and ends
// with the response; without a token there is none.
func TestSpec2026Progress(t *testing.T) {
	kept := make(chan *server.Call, 1)
	s := plainServer(&server.Options{ProgressInterval: -1})
	server.AddTool(s, mcp.Tool{Name: "t"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		for _, p := range []float64{0, 0.5, 0.5, 0.25, 2, 1} {
			call.Progress(ctx, p, 0, "")
		}
		kept <- call
		return "", nil
	})
	w := rawly(t, s, nil)
	for _, token := range []string{`0`, `7`, `""`, `"ä"`, `9007199254740993`} {
		_, before := w.exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"t"`, metaWith(`{}`, `,"progressToken":`+token)))
		(<-kept).Progress(t.Context(), 3, 0, "too late")
		var got []string
		for _, m := range before {
			got = append(got, m.Method+string(m.Params))
		}
		var want strings.Builder
		for _, p := range []string{"0", "0.5", "2"} {
			fmt.Fprintf(&want, `notifications/progress{"progressToken":%s,"progress":%s}`, token, p)
		}
		if strings.Join(got, "") != want.String() {
			t.Errorf("token %s: got %v, want %s", token, got, want.String())
		}
	}
	if _, before := w.call(`1`, mcp.MethodCallTool, `"name":"t"`); len(before) > 0 {
		t.Errorf("without a token there was %v", before)
	}
	(<-kept).Progress(t.Context(), 3, 0, "too late")
	if _, before := w.call(`1`, mcp.MethodDiscover, ""); len(before) > 0 {
		t.Errorf("after the answer there was %v", before)
	}
}

// Spec: 2026-07-28 server/utilities/logging#per-request-log-level.
// A request gets log messages only if it asks for them, from its level on,
// before its response; and no other request does.
func TestSpec2026LogLevels(t *testing.T) {
	levels := []mcp.LoggingLevel{mcp.LevelDebug, mcp.LevelInfo, mcp.LevelNotice, mcp.LevelWarning, mcp.LevelError, mcp.LevelCritical, mcp.LevelAlert, mcp.LevelEmergency}
	logging := func(declared bool) *server.Server {
		s := plainServer(&server.Options{Logging: declared})
		server.AddTool(s, mcp.Tool{Name: "t"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
			for _, l := range levels {
				call.Log(ctx, l, string(l))
			}
			return "", nil
		})
		return s
	}
	w := rawly(t, logging(true), nil)
	w.send(frame2026(`"listening"`, mcp.MethodListen, `"notifications":{"toolsListChanged":true}`))
	if m := w.next(); m.Method != mcp.NoteAcknowledged {
		t.Fatalf("got %s", m.raw)
	}
	for i, level := range levels {
		_, before := w.exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"t"`, metaWith(`{}`, `,"io.modelcontextprotocol/logLevel":"`+string(level)+`"`)))
		var got []string
		for _, m := range before {
			var p struct {
				Level mcp.LoggingLevel
				Meta  json.RawMessage `json:"_meta"`
			}
			if err := json.Unmarshal(m.Params, &p); err != nil || m.Method != mcp.NoteMessage || p.Meta != nil {
				t.Errorf("got %s, %v", m.raw, err)
			}
			got = append(got, string(p.Level))
		}
		if want := fmt.Sprint(levels[i:]); fmt.Sprint(got) != want {
			t.Errorf("from %s on: %v, want %s", level, got, want)
		}
	}
	if _, before := w.call(`1`, mcp.MethodCallTool, `"name":"t"`); len(before) > 0 {
		t.Errorf("%v was not asked for", before)
	}
	w = rawly(t, logging(false), nil)
	if _, before := w.exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"t"`, metaWith(`{}`, `,"io.modelcontextprotocol/logLevel":"debug"`))); len(before) > 0 {
		t.Errorf("a server that has not declared logging sent %v", before)
	}
}

// Spec: 2026-07-28 basic/patterns/subscriptions#opening-a-stream.
// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
// Spec: 2026-07-28 basic/patterns/subscriptions#multiple-concurrent-subscriptions.
// Each subscription is acknowledged first, with the part of its filter that the
// server supports, and only gets what it asked for; each of its messages
// carries the ID of its request exactly as it was sent.
func TestSpec2026Subscriptions(t *testing.T) {
	s := everything()
	w := rawly(t, s, &mcp.ServeOptions{ChangeWindow: time.Nanosecond})
	open := func(id, filter, honoured string) {
		t.Helper()
		w.send(frame2026(id, mcp.MethodListen, `"notifications":`+filter))
		want := `{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `},"notifications":` + honoured + `}`
		if m := w.next(); m.Method != mcp.NoteAcknowledged || string(m.Params) != want {
			t.Errorf("got %s, want an acknowledgement with %s", m.raw, want)
		}
	}
	open(`1`, `{"toolsListChanged":true}`, `{"toolsListChanged":true}`)
	open(`"1"`, `{"promptsListChanged":true,"toolsListChanged":false}`, `{"promptsListChanged":true}`)
	open(`"ü\""`, `{"resourceSubscriptions":["test://a","test://b"]}`, `{"resourceSubscriptions":["test://a","test://b"]}`)
	open(`-9007199254740993`, `{"resourcesListChanged":true,"unheard":true}`, `{"resourcesListChanged":true}`)
	open(`"nothing"`, `{}`, `{}`)

	tell := func(change func(), method, params string) {
		t.Helper()
		change()
		if m := w.next(); m.Method != method || string(m.Params) != params {
			t.Errorf("got %s, want %s %s", m.raw, method, params)
		}
	}
	tell(func() { s.RemoveTools("list") }, mcp.NoteToolsChanged, `{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}`)
	tell(func() { s.RemovePrompts("p") }, mcp.NotePromptsChanged, `{"_meta":{"io.modelcontextprotocol/subscriptionId":"1"}}`)
	tell(func() { s.ResourceUpdated("test://b") }, mcp.NoteResourceUpdated, `{"_meta":{"io.modelcontextprotocol/subscriptionId":"ü\""},"uri":"test://b"}`)
	tell(func() { s.RemoveResources("test://a") }, mcp.NoteResourcesChanged, `{"_meta":{"io.modelcontextprotocol/subscriptionId":-9007199254740993}}`)
	s.ResourceUpdated("test://c") // has no watcher
	w.alive()

	// A cancelled subscription is silent at once; the others continue.
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	w.alive()
	tell(func() { s.RemoveTools("fail"); s.ResourceUpdated("test://a") }, mcp.NoteResourceUpdated, `{"_meta":{"io.modelcontextprotocol/subscriptionId":"ü\""},"uri":"test://a"}`)
	w.alive()
}

// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
// What the server has not declared is left out of the acknowledgement; the
// subscription is still open.
func TestSpec2026UnsupportedFilter(t *testing.T) {
	s := plainServer(&server.Options{Announce: server.Features{Resources: true}})
	w := rawly(t, s, nil)
	w.send(frame2026(`1`, mcp.MethodListen, `"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["x:a"]}`))
	if m := w.next(); !strings.HasSuffix(string(m.Params), `"notifications":{"resourcesListChanged":true}}`) {
		t.Errorf("got %s", m.raw)
	}
	w.alive()
}

// Spec: 2026-07-28 basic/patterns/subscriptions#graceful-closure.
// Spec: 2026-07-28 basic/patterns/cancellation#behavior-requirements (2).
// A server that shuts down ends each subscription by name and answers its
// request; it cancels nothing else.
func TestSpec2026GracefulClosure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
		tr, far := serveOver(t, waiter(started, ended))
		tr.write(frame2026(`1`, mcp.MethodListen, `"notifications":{"toolsListChanged":true}`))
		tr.write(frame2026(`2`, mcp.MethodCallTool, `"name":"wait"`))
		<-started
		synctest.Wait()
		far.shutdown()
		var got []string
		for _, frame := range tr.all() {
			if strings.Contains(frame, mcp.NoteCancelled) && !strings.Contains(frame, `"requestId":1`) {
				t.Errorf("cancelled something other than a subscription: %s", frame)
			}
			if strings.Contains(frame, `"subscriptionId":1`) || strings.Contains(frame, `subscriptionId":1`) {
				got = append(got, frame)
			}
		}
		want := []string{mcp.NoteAcknowledged, mcp.NoteCancelled, `{"jsonrpc":"2.0","id":1,"result":{`}
		if len(got) != len(want) {
			t.Fatalf("got %v", got)
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("message %d is %s, want %s", i, got[i], want[i])
			}
		}
		if !strings.Contains(got[2], `"resultType":"complete"`) {
			t.Errorf("the answer has no type: %s", got[2])
		}
	})
}

// Spec: 2026-07-28 basic/index#requests.
// Requests beyond the in-flight limit of a connection are refused individually,
// and accepted again when there is room.
func TestSpec2026TooManyAtATime(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	w := rawly(t, waiter(started, ended), &mcp.ServeOptions{MaxInFlight: 1})
	w.send(frame2026(`1`, mcp.MethodCallTool, `"name":"wait"`))
	<-started
	w.refused(`2`, frame2026(`2`, mcp.MethodDiscover, ""), jsonrpc.CodeInternalError, "limit is 1")
	w.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
	<-ended
	if m := w.next(); string(m.ID) != `1` || m.Error == nil {
		t.Errorf("got %s", m.raw)
	}
	w.alive()
}
