package spec_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// sessPages answers tools/list with one tool per page; next says which cursor
// follows which, as JSON. Other cursors are invalid.
func sessPages(t *testing.T, next map[string]string) func(*jsonrpc.Message, func(string)) {
	return func(m *jsonrpc.Message, say func(string)) {
		if m.Method != mcp.MethodListTools {
			return
		}
		var p struct{ Cursor json.RawMessage }
		if err := json.Unmarshal(append([]byte(nil), m.Params...), &p); m.Params != nil && err != nil {
			t.Errorf("params %s: %v", m.Params, err)
		}
		follows, ok := next[string(p.Cursor)]
		if !ok {
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Invalid cursor: pagination state expired or not found"}}`, m.ID))
			return
		}
		if follows != "" {
			follows = `,"nextCursor":` + follows
		}
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]%s}}`, m.ID, follows))
	}
}

// Spec: 2025-11-25 basic/lifecycle#operation.
//
// A server does not ask for what the client has not declared, in any revision;
// a handler that needed it fails with an error that says so.
func TestSessionServerRespectsClientCapabilities(t *testing.T) {
	tests := []struct {
		tool, capabilities string
		asks               bool
		since              int // index in sessRevisions
	}{
		{"roots", `{}`, false, 0},
		{"roots", `{"roots":{}}`, true, 0},
		{"sample", `{"roots":{}}`, false, 0},
		{"sample", `{"sampling":{}}`, true, 0},
		{"elicit", `{}`, false, 2},
		{"elicit", `{"elicitation":{}}`, true, 2},
		{"elicit", `{"elicitation":{"form":{}}}`, true, 2},
		{"elicit", `{"elicitation":{"url":{}}}`, false, 3},
		{"visit", `{"elicitation":{}}`, false, 3},
		{"visit", `{"elicitation":{"form":{}}}`, false, 3},
		{"visit", `{"elicitation":{"url":{}}}`, true, 3},
		{"tools", `{"sampling":{}}`, false, 3},
		{"tools", `{"sampling":{"tools":{}}}`, true, 3},
	}
	for _, tt := range tests {
		for _, r := range sessRevisions[tt.since:] {
			sessOpen(t, sessServer(), r, tt.capabilities, func(t *testing.T, w *sessWire) {
				want := `~"error":{"code":-32603,"message":"the client has not declared the capability `
				if tt.asks {
					want = `~"method":"`
				}
				sessWant(t, fmt.Sprint(r, " ", tt.tool, " of ", tt.capabilities), w.say(sessCall("1", tt.tool)), want)
			})
		}
	}
}

// Spec: 2025-11-25 basic/lifecycle#operation.
//
// What a client declares counts only as far as the agreed revision has it: nothing
// is asked that a client of that revision cannot know, and handlers see as much.
func TestSessionCapabilitiesOfTheRevision(t *testing.T) {
	const lacks = `~"error":{"code":-32603,"message":"the client has not declared the capability `
	tests := []struct{ tool, revision, want string }{
		{"elicit", "2024-11-05", lacks + "elicitation (form)"},
		{"elicit", "2025-03-26", lacks + "elicitation (form)"},
		{"elicit", "2025-06-18", `~"method":"elicitation/create"`},
		{"visit", "2024-11-05", lacks + "elicitation (url)"},
		{"visit", "2025-03-26", lacks + "elicitation (url)"},
		{"visit", "2025-06-18", lacks + "elicitation (url)"},
		{"visit", "2025-11-25", `~"mode":"url"`},
		{"tools", "2024-11-05", lacks + "sampling with tools"},
		{"tools", "2025-03-26", lacks + "sampling with tools"},
		{"tools", "2025-06-18", lacks + "sampling with tools"},
		{"tools", "2025-11-25", `~"type":"tool_use"`},
		{"peer", "2024-11-05", `~"text":"{\"roots\":{\"listChanged\":true},\"sampling\":{}}"`},
		{"peer", "2025-06-18", `~"text":"{\"roots\":{\"listChanged\":true},\"sampling\":{},\"elicitation\":{}}"`},
		{"peer", "2025-11-25", `~"text":"{\"roots\":{\"listChanged\":true},\"sampling\":{\"tools\":{},\"context\":{}},\"elicitation\":{\"form\":{},\"url\":{}}}"`},
	}
	for _, tt := range tests {
		r, _ := mcp.ParseRevision(tt.revision)
		sessOpen(t, sessServer(), r, sessAll, func(t *testing.T, w *sessWire) {
			sessWant(t, tt.tool+" in "+tt.revision, w.say(sessCall("1", tt.tool)), tt.want)
		})
	}
}

// Spec: 2025-11-25 client/roots#error-handling.
//
// An answer reaches the handler that asked; an error, a refusal of the user, or
// an answer of the wrong shape makes the tool fail, and the session stays open.
func TestSessionAnswersOfClients(t *testing.T) {
	tests := []struct{ tool, answer, want string }{
		{"roots", `"result":{"roots":[{"uri":"file:///a"},{"uri":"file:///b","name":"B"}]}`, `2 roots`},
		{"roots", `"result":{"roots":[]}`, `0 roots`},
		{"roots", `"error":{"code":-32601,"message":"Roots not supported","data":{"reason":"none"}}`, `Roots not supported`},
		{"roots", `"error":{"code":-32603,"message":"boom"}`, `boom`},
		{"roots", `"result":{"roots":5}`, `"error":{"code":-32602`},
		{"sample", `"result":{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"m","stopReason":"endTurn"}`, `Paris`},
		{"sample", `"error":{"code":-1,"message":"User rejected sampling request"}`, `User rejected sampling request`},
		{"sample", `"result":{"role":"system","content":{"type":"text","text":"Paris"},"model":"m"}`, `"error":{"code":-32602,"message":"answer to \"s\": unknown role \"system\""`},
		{"sample", `"result":{"content":{"type":"text","text":"Paris"},"model":"m"}`, `unknown role`},
		{"elicit", `"result":{"action":"accept","content":{"city":"Rome"}}`, `Rome`},
		{"elicit", `"result":{"action":"decline"}`, `the user declined`},
		{"elicit", `"result":{"action":"cancel"}`, `the user cancelled`},
		{"elicit", `"result":{"action":"accept","content":{"city":5}}`, `"text":"the answer to the form \"city\" does not fit it: \"city\": `},
		{"elicit", `"result":{"action":"accept"}`, `"isError":true`},
		{"elicit", `"result":{"action":"perhaps"}`, `perhaps`},
		{"elicit", `"error":{"code":-32602,"message":"mode"}`, `mode`},
	}
	for _, tt := range tests {
		sessOpen(t, sessServer(), mcp.Revision20251125, sessAll, func(t *testing.T, w *sessWire) {
			question := w.say(sessCall("1", tt.tool))
			sessWant(t, "question", question, `~"method"`)
			id := sessField(t, question[0], "id")
			answer := `{"jsonrpc":"2.0","id":` + id + `,` + tt.answer + `}`
			got := w.say(answer)
			sessWant(t, tt.tool+" answered "+tt.answer, got, "~"+tt.want)
			if sessField(t, got[0], "id") != "1" {
				t.Errorf("%s answers something else", got[0])
			}
			sessWant(t, "the answer twice", w.say(answer))
			sessWant(t, "after that", w.say(sessRequest("2", "ping", "{}")), `{"jsonrpc":"2.0","id":2,"result":{}}`)
		})
	}
}

// Spec: 2025-11-25 basic#requests.
//
// The server's questions have IDs of their own, each used once.
func TestSessionQuestionsHaveTheirOwnIDs(t *testing.T) {
	sessOpen(t, sessServer(), mcp.Revision20251125, sessAll, func(t *testing.T, w *sessWire) {
		seen := map[string]bool{}
		for range 5 {
			for _, q := range w.say(sessCall("1", "roots")) {
				id := sessField(t, q, "id")
				if seen[id] {
					t.Errorf("the ID %s is used twice", id)
				}
				seen[id] = true
				w.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"roots":[]}}`)
			}
		}
		if len(seen) != 5 {
			t.Errorf("%d questions, want 5", len(seen))
		}
	})
}

// Spec: 2025-11-25 client/roots#root-list-changes.
//
// A server that handles the notification is notified that roots have changed.
func TestSessionRootsChangedReachesTheServer(t *testing.T) {
	heard := make(chan mcp.Revision, 1)
	h := func() mcp.Handler {
		s := sessServer()
		s.HandleNotification(mcp.NoteRootsChanged, func(_ context.Context, call *server.Call, _ json.RawMessage) { heard <- call.Peer().Revision })
		return s
	}
	for _, r := range sessRevisions {
		c := mcptest.Connect(t, h(), mcptest.Mode{Revision: r, Transport: mcptest.Lines}, &client.Options{Roots: []*mcp.Root{}})
		if err := c.SetRoots(t.Context(), []*mcp.Root{{URI: "file:///x"}}); err != nil {
			t.Fatal(err)
		}
		if got := <-heard; got != r {
			t.Errorf("received in %s, want %s", got, r)
		}
		if got, err := client.Call[string](t.Context(), c, "roots", nil); err != nil || got != "1 roots" {
			t.Errorf("%s: got %q, %v", r, got, err)
		}
	}
}

// Spec: 2025-11-25 client/roots#root.
//
// Roots are file:// URIs; anything else is refused where it is set.
func TestSessionRootsAreFiles(t *testing.T) {
	_, err := client.Connect(t.Context(), &sessFake{}, &client.Options{Roots: []*mcp.Root{{URI: "https://example.com"}}})
	if err == nil || !strings.Contains(err.Error(), "roots[0]") {
		t.Errorf("Connect: %v", err)
	}
	c := mcptest.Connect(t, sessServer(), mcptest.Mode{Revision: mcp.Revision20251125, Transport: mcptest.Memory}, &client.Options{Roots: []*mcp.Root{}})
	if err := c.SetRoots(t.Context(), []*mcp.Root{{URI: "file:///ok"}, nil}); err == nil || !strings.Contains(err.Error(), "roots[1]") {
		t.Errorf("SetRoots: %v", err)
	}
}

// sessVisiting has a tool whose hand-made question sends the user to a URL.
func sessVisiting() *server.Server {
	s := server.New(mcp.Implementation{Name: "v", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	s.AddRawTool(mcp.Tool{Name: "v", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, call *server.Call, _ json.RawMessage) (*mcp.CallToolResult, error) {
		if x := call.Exchange(); x.Answers["v"] != nil {
			return &mcp.CallToolResult{Content: mcp.Contents{mcp.Textf("%s", x.Answers["v"])}}, nil
		}
		return nil, &mcp.InputRequired{Requests: []mcp.InputRequest{{Key: "v", Method: mcp.MethodElicit, Params: &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "Connect", URL: "https://example.com/connect"}}}}
	})
	return s
}

// Spec: 2025-11-25 client/elicitation#url-mode-elicitation-requests.
//
// A hand-made question that sends the user to a URL is asked in place, with an
// elicitationId; a client that cannot open URLs is not asked.
func TestSessionHandMadeVisit(t *testing.T) {
	sessOpen(t, sessVisiting(), mcp.Revision20251125, sessAll, func(t *testing.T, w *sessWire) {
		got := w.say(sessCall("1", "v"))
		sessWant(t, "call", got, `~"method":"elicitation/create"`)
		if id := sessField(t, got[0], "params", "elicitationId"); id == "" || id == `""` {
			t.Errorf("no elicitationId in %s", got[0])
		}
	})
	for _, r := range sessRevisions {
		sessOpen(t, sessVisiting(), r, `{"elicitation":{"form":{}}}`, func(t *testing.T, w *sessWire) {
			got := w.say(sessCall("1", "v"))
			sessWant(t, r.String(), got, `~"id":1`)
		})
	}
}

// Spec: 2025-11-25 basic/lifecycle#timeouts.
//
// A question that the client does not answer is withdrawn after AnswerTimeout, and
// its handler gets an error that says so.
func TestSessionQuestionsEnd(t *testing.T) {
	for method, name := range map[string]string{mcp.MethodElicit: "elicit", mcp.MethodSample: "sample", mcp.MethodRoots: "roots"} {
		for _, limit := range []time.Duration{0, time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				w := new(sessWire)
				w.send = mcptest.Raw(t, &mcptest.Transport{Handler: sessServer(), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet(), AnswerTimeout: limit}}, w.receive)
				w.say(sessInit("2025-11-25", sessAll), sessReady)
				asked := time.Now()
				question := w.say(sessCall("1", name))
				sessWant(t, "question", question, `~"method":"`+method+`"`)
				within := cmp.Or(limit, 15*time.Minute)
				<-time.NewTimer(within - time.Since(asked) - time.Nanosecond).C
				synctest.Wait()
				sessWant(t, "before its time", w.take())
				<-time.NewTimer(time.Second).C
				synctest.Wait()
				reason := fmt.Sprintf("the client did not answer %s within %s, the AnswerTimeout of mcp.ServeOptions", method, within)
				sessWant(t, "in time", w.take(),
					`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+sessField(t, question[0], "id")+`,"reason":"`+reason+`"}}`,
					`~"text":"`+reason+`"}],"isError":true`)
				sessWant(t, "too late", w.say(`{"jsonrpc":"2.0","id":`+sessField(t, question[0], "id")+`,"result":{}}`))
			})
		}
	}
}

// Spec: 2025-11-25 basic#responses.
//
// An answer under the number of the question as a string is taken for the answer.
func TestSessionAnswerUnderAString(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		w := new(sessWire)
		w.send = mcptest.Raw(t, &mcptest.Transport{Handler: sessServer(), Serve: &mcp.ServeOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}}, w.receive)
		w.say(sessInit("2025-11-25", sessAll), sessReady)
		id := sessField(t, w.say(sessCall("1", "roots"))[0], "id")
		sessWant(t, "another number", w.say(`{"jsonrpc":"2.0","id":"`+id+`0","result":{"roots":[]}}`))
		sessWant(t, "no number", w.say(`{"jsonrpc":"2.0","id":"x`+id+`","result":{"roots":[]}}`))
		sessWant(t, "as a string", w.say(`{"jsonrpc":"2.0","id":"`+id+`","result":{"roots":[]}}`), `~0 roots`)
		if !strings.Contains(log.String(), `asked=`+id+` answered="\"`+id+`\""`) {
			t.Errorf("the log does not name both: %s", log.String())
		}
	})
}

// Spec: 2025-11-25 basic/utilities/cancellation#implementation-notes.
//
// Both sides log why the other one cancels.
func TestCancellationReasonsAreLogged(t *testing.T) {
	logger := func(b *strings.Builder) *slog.Logger {
		return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		w := new(sessWire)
		w.send = mcptest.Raw(t, &mcptest.Transport{Handler: sessServer(), Serve: &mcp.ServeOptions{Logger: logger(&log)}}, w.receive)
		w.say(sessInit("2025-11-25", sessAll), sessReady, sessCall("7", "wait"))
		w.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"out of patience"}}`)
		if want := `id=7 reason="out of patience"`; !strings.Contains(log.String(), want) {
			t.Errorf("the server logs\n%swant %s", log.String(), want)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		f := &sessFake{}
		f.on = sessOpens("2025-11-25", sessEverything, nil)
		c, err := client.Connect(t.Context(), f, &client.Options{Revisions: sessRevisions, Logger: logger(&log)})
		if err != nil {
			t.Fatal(err)
		}
		f.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"no longer needed"}}`)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		f.running.Wait()
		if want := `id="\"q\"" reason="no longer needed"`; !strings.Contains(log.String(), want) {
			t.Errorf("the client logs\n%swant %s", log.String(), want)
		}
	})
}

// errSess is a failure of a test's user or model.
var errSess = errors.New("not today")
