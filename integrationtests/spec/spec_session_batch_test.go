package spec_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

func sessText(text string) func(context.Context, *server.Call, struct{}) (string, error) {
	return func(context.Context, *server.Call, struct{}) (string, error) { return text, nil }
}

func sessBatch(frames ...string) string { return "[" + strings.Join(frames, ",") + "]" }

// sessParts splits a frame that is an array.
func sessParts(t *testing.T, what string, got []string) map[string]string {
	t.Helper()
	parts := map[string]string{}
	if len(got) != 1 {
		t.Fatalf("%s: got %d frames, want one array:\n%s", what, len(got), strings.Join(got, "\n"))
	}
	entries, err := new(jsonrpc.Decoder).DecodeBatch([]byte(got[0]))
	if err != nil {
		t.Fatalf("%s: %v in %s", what, err, got[0])
	}
	for _, e := range entries {
		if e.Err != nil {
			t.Errorf("%s: %v in %s", what, e.Err, got[0])
			continue
		}
		body := string(e.Message.Result)
		if e.Message.Error != nil {
			body = fmt.Sprint(e.Message.Error.Code)
		}
		parts[e.Message.ID.String()] += body
	}
	return parts
}

// Spec: 2025-03-26 basic#batching.
//
// The responses to a batch come as one array with a response for each request,
// none for notifications and responses, and an error for anything that is not a
// message.
func TestSessionBatch(t *testing.T) {
	ping := func(id string) string { return sessRequest(id, "ping", "{}") }
	tests := []struct {
		name, batch string
		want        map[string]string // nil: no answer
	}{
		{"mixed", sessBatch(ping("1"), sessReady, sessCall("2", "nope"), sessRequest("3", "nope", "{}"), `{"jsonrpc":"2.0","id":99,"result":{}}`), map[string]string{"1": "{}", "2": "-32602", "3": "-32601"}},
		{"notifications only", sessBatch(sessReady, `{"jsonrpc":"2.0","method":"notifications/x"}`), nil},
		{"answers only", sessBatch(`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m"}}`), nil},
		{"malformed answers and notifications only", sessBatch(`{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, `{"jsonrpc":"2.0","method":"notifications/x","params":[]}`), nil},
		{"bad elements", sessBatch(`1`, `[]`, `{}`, ping("1"), `{"jsonrpc":"2.0","id":2}`), map[string]string{"1": "{}", "": "-32600-32600-32600", "2": "-32600"}},
		{"initialize", sessBatch(sessInit("2025-03-26", "{}"), ping("1")), map[string]string{`"init"`: "-32600", "1": "{}"}},
		{"initialize as a notification", sessBatch(`{"jsonrpc":"2.0","method":"initialize"}`, ping("1")), map[string]string{"1": "{}"}},
		{"one ID twice", sessBatch(ping("1"), ping("1"), ping(`"1"`)), map[string]string{"1": "{}-32600", `"1"`: "{}"}},
		{"of the other era", sessBatch(sessRequest("1", "server/discover", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`), ping("2")), map[string]string{"1": "-32600", "2": "{}"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sessOpen(t, sessServer(), mcp.Revision20250326, `{}`, func(t *testing.T, w *sessWire) {
				got := w.say(tt.batch)
				if tt.want == nil {
					sessWant(t, tt.name, got)
					return
				}
				if parts := sessParts(t, tt.name, got); fmt.Sprint(parts) != fmt.Sprint(tt.want) && fmt.Sprint(parts) != strings.Replace(fmt.Sprint(tt.want), "{}-32600", "-32600{}", 1) {
					t.Errorf("got %v, want %v", parts, tt.want)
				}
				if more := w.later(); len(more) > 0 {
					t.Errorf("more arrived: %q", more)
				}
			})
		})
	}
}

// Spec: 2025-03-26 basic#batching.
//
// An array that is empty, broken or too large is refused as a whole, with one
// error that is not an array; one of the maximum size is served.
func TestSessionBatchAsAWhole(t *testing.T) {
	sessOpen(t, sessServer(), mcp.Revision20250326, `{}`, func(t *testing.T, w *sessWire) {
		sessWant(t, "empty", w.say(`[]`), `~{"jsonrpc":"2.0","id":null,"error":{"code":-32600`)
		sessWant(t, "empty with space", w.say(` [ ] `), `~{"jsonrpc":"2.0","id":null,"error":{"code":-32600`)
		sessWant(t, "broken", w.say(`[`+sessRequest("1", "ping", "{}")+`,{"jsonrpc"]`), `~{"jsonrpc":"2.0","id":null,"error":{"code":-32700`)
		var frames []string
		for i := range jsonrpc.DefaultMaxBatch {
			frames = append(frames, sessRequest(fmt.Sprint(i), "ping", "{}"))
		}
		if parts := sessParts(t, "large", w.say(sessBatch(frames...))); len(parts) != len(frames) {
			t.Errorf("%d answers to %d requests", len(parts), len(frames))
		}
		frames = append(frames, sessRequest(`"more"`, "ping", "{}"))
		sessWant(t, "too large", w.say(sessBatch(frames...)), `~{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch has more than 1000 messages"`)
	})
}

// Spec: 2025-03-26 basic/utilities/cancellation#behavior-requirements.
//
// A request of a batch that is cancelled, by the same batch or later, is left
// out of the array; if all are cancelled, there is no array.
func TestSessionBatchCancelled(t *testing.T) {
	sessOpen(t, sessServer(), mcp.Revision20250326, `{}`, func(t *testing.T, w *sessWire) {
		sessWant(t, "waits for its last answer", w.say(sessBatch(sessCall("1", "wait"), sessRequest("2", "ping", "{}"))))
		sessWant(t, "cancelled later", w.say(sessCancel("1")), `[{"jsonrpc":"2.0","id":2,"result":{}}]`)
		sessWant(t, "cancelled inside", w.say(sessBatch(sessCall("1", "wait"), sessRequest("2", "ping", "{}"), sessCancel("1"))), `[{"jsonrpc":"2.0","id":2,"result":{}}]`)
		sessWant(t, "all cancelled", w.say(sessBatch(sessCall("1", "wait"), sessCall("2", "stubborn"), sessCancel("1"), sessCancel("2"))))
		sessWant(t, "the older way", w.say(sessBatch(sessCall("1", "wait"), `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)), `[{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"Request cancelled"}}]`)
	})
}

// Spec: 2025-03-26 basic#batching.
//
// Handlers in a batch ask the client before the array is sent, and can be
// answered by a batch, too.
func TestSessionBatchWhoseHandlersAsk(t *testing.T) {
	sessOpen(t, sessServer(), mcp.Revision20250326, sessAll, func(t *testing.T, w *sessWire) {
		questions := w.say(sessBatch(sessCall("1", "roots"), sessCall("2", "sample"), sessCall("3", "echo")))
		if len(questions) != 2 {
			t.Fatalf("got %q, want two questions", questions)
		}
		var answers []string
		for _, q := range questions {
			result := `{"roots":[{"uri":"file:///x"}]}`
			if sessField(t, q, "method") == `"sampling/createMessage"` {
				result = `{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"m"}`
			}
			answers = append(answers, `{"jsonrpc":"2.0","id":`+sessField(t, q, "id")+`,"result":`+result+`}`)
		}
		parts := sessParts(t, "answers", w.say(sessBatch(answers...)))
		for id, want := range map[string]string{"1": "1 roots", "2": "Paris", "3": "echo"} {
			if !strings.Contains(parts[id], want) {
				t.Errorf("request %s: got %s, want %s", id, parts[id], want)
			}
		}
	})
}

// Spec: 2025-03-26 basic#batching.
//
// Progress of a request in a batch is sent on its own, before the array.
func TestSessionBatchProgress(t *testing.T) {
	sessOpen(t, sessServer(), mcp.Revision20250326, `{}`, func(t *testing.T, w *sessWire) {
		got := w.say(sessBatch(sessRequest("1", "tools/call", `{"name":"progress","_meta":{"progressToken":"t"}}`)))
		sessWant(t, "progress", got, `~"progress":1,`, `~"progress":4,`, `~[{"jsonrpc":"2.0","id":1,"result"`)
	})
}
