package spec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// Spec: 2025-11-25 basic#requests.
//
// A response has the ID of its request, whatever string or integer that is;
// null, fractions and structures are refused, and such a request is not taken
// for a notification.
func TestSessionRequestIDs(t *testing.T) {
	sessOpen(t, sessServer(), mcp.Revision20251125, `{}`, func(t *testing.T, w *sessWire) {
		for _, id := range []string{`0`, `-7`, `9007199254740993`, `123456789012345678901234567890`, `""`, `"x y"`, `"1"`} {
			sessWant(t, "id "+id, w.say(sessRequest(id, "ping", "{}")), `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`)
		}
		for _, id := range []string{`null`, `1.5`, `1e3`, `[1]`, `{}`, `true`} {
			sessWant(t, "id "+id, w.say(sessRequest(id, "ping", "{}")), `~"error":{"code":-32600`)
		}
	})
}

// Spec: 2025-11-25 basic#notifications.
//
// A message without an ID is never answered: neither an unknown notification,
// nor a request method without an ID, nor a malformed one.
func TestSessionNotificationsAreNeverAnswered(t *testing.T) {
	for _, r := range sessRevisions {
		sessOpen(t, sessServer(), r, `{}`, func(t *testing.T, w *sessWire) {
			for _, frame := range []string{
				`{"jsonrpc":"2.0","method":"notifications/unknown"}`,
				`{"jsonrpc":"2.0","method":"tools/list"}`,
				`{"jsonrpc":"2.0","method":"initialize","params":{}}`,
				`{"jsonrpc":"2.0","method":"ping"}`,
				`{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}`,
				`{"jsonrpc":"2.0","method":"notifications/initialized","params":{"_meta":5}}`,
				`{"method":"notifications/initialized"}`,
				sessReady,
			} {
				sessWant(t, frame, w.say(frame))
			}
		})
	}
}

// Spec: 2025-11-25 basic#responses.
//
// A malformed response of the client is not answered: its ID is one of the
// server's.
func TestSessionMalformedAnswersAreNotAnswered(t *testing.T) {
	sessOpen(t, sessServer(), mcp.Revision20251125, sessAll, func(t *testing.T, w *sessWire) {
		question := w.say(sessCall("1", "roots"))
		sessWant(t, "call", question, `~"method":"roots/list"`)
		id := sessField(t, question[0], "id")
		got := w.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{},"error":{"code":1,"message":"both"}}`)
		sessWant(t, "both a result and an error", got, `~"isError":true`)
		if sessField(t, got[0], "id") != "1" {
			t.Errorf("answered is %s, not the call", got[0])
		}
		for _, frame := range []string{`{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, `{"jsonrpc":"2.0","id":78,"error":{"code":1.5,"message":"m"}}`} {
			sessWant(t, frame, w.say(frame))
		}
	})
}

// Spec: 2025-11-25 basic#messages.
//
// Frames that are not messages are answered with the JSON-RPC error for them,
// and the connection stays open.
func TestSessionMalformedFrames(t *testing.T) {
	sessOpen(t, sessServer(), mcp.Revision20250326, `{}`, func(t *testing.T, w *sessWire) {
		for frame, want := range map[string]string{
			`Server started`:           `~"id":null,"error":{"code":-32700`,
			`{"jsonrpc":"2.0"`:         `~"id":null,"error":{"code":-32700`,
			`{}`:                       `~"id":null,"error":{"code":-32600`,
			`"x"`:                      `~"id":null,"error":{"code":-32600`,
			`{"jsonrpc":"2.0","id":4}`: `~"id":4,"error":{"code":-32600`,
			`{"jsonrpc":"1.0","id":4,"method":"ping"}`:                                             `~"id":4,"error":{"code":-32600`,
			`{"id":4,"method":"ping"}`:                                                             `~"id":4,"error":{"code":-32600`,
			`{"jsonrpc":"2.0","id":4,"method":7}`:                                                  `~"id":4,"error":{"code":-32600`,
			`{"jsonrpc":"2.0","id":4,"method":"nope"}`:                                             `~"id":4,"error":{"code":-32601`,
			`{"jsonrpc":"2.0","id":4,"method":"tools/call"}`:                                       `~"id":4,"error":{"code":-32602`,
			`{"jsonrpc":"2.0","id":4,"method":"ping","result":{}}`:                                 `~"id":4,"error":{"code":-32600`,
			`{"jsonrpc":"2.0","id":4,"method":"notifications/x"}`:                                  `~"id":4,"error":{"code":-32601`,
			`{"jsonrpc":"2.0","id":4,"method":"server/discover"}`:                                  `~"id":4,"error":{"code":-32601`,
			`{"jsonrpc":"2.0","id":4,"method":"elicitation/create"}`:                               `~"id":4,"error":{"code":-32601`,
			`{"jsonrpc":"2.0","id":4,"method":"notifications/cancelled","params":{"requestId":4}}`: `~"id":4,"error":{"code":-32601`,
		} {
			sessWant(t, frame, w.say(frame), want)
		}
		sessWant(t, "after all that", w.say(sessRequest("1", "ping", "{}")), `{"jsonrpc":"2.0","id":1,"result":{}}`)
	})
}

// Spec: 2025-11-25 basic/lifecycle#initialization.
//
// Before initialize, a server that only has sessions serves nothing but pings:
// requests are refused with -32600, notifications are ignored, and it asks
// nothing.
func TestSessionOrderOfLife(t *testing.T) {
	sessBare(t, sessOnly(), func(t *testing.T, w *sessWire) {
		sessWant(t, "ping", w.say(sessRequest("1", "ping", "{}")), `{"jsonrpc":"2.0","id":1,"result":{}}`)
		for _, method := range []string{"tools/list", "tools/call", "resources/subscribe", "logging/setLevel", "nope"} {
			sessWant(t, method, w.say(sessRequest("2", method, `{}`)), `~"id":2,"error":{"code":-32600,"message":"Server not initialized`)
		}
		sessWant(t, "early notifications", w.say(sessReady, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`))
		sessWant(t, "batch", w.say(`[`+sessRequest("1", "ping", "{}")+`]`), `~"code":-32600`)
		sessWant(t, "initialize", w.say(sessInit("2025-03-26", "{}")), `~"protocolVersion":"2025-03-26"`)
		sessWant(t, "initialize again", w.say(sessInit("2024-11-05", "{}")), `~"error":{"code":-32600,"message":"the session is already initialized"`)
		sessWant(t, "call", w.say(sessCall("3", "echo")), `~"id":3,"result"`)
	})
}

// sessOnly is a server that speaks no stateless revision.
func sessOnly() *server.Server {
	s := server.New(mcp.Implementation{Name: "sess", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Logging: true, Subscriptions: true, Revisions: sessRevisions})
	addText(s, "echo", "echo")
	return s
}

// Spec: 2025-11-25 basic/lifecycle#initialization.
//
// Before notifications/initialized the server does not ask the client anything,
// although it serves requests; handlers that try to ask fail.
func TestSessionServerDoesNotAskBeforeInitialized(t *testing.T) {
	sessBare(t, sessServer(), func(t *testing.T, w *sessWire) {
		w.say(sessInit("2025-11-25", sessAll))
		sessWant(t, "too early", w.say(sessCall("1", "roots")), `~"isError":true`)
		sessWant(t, "in time", w.say(sessReady, sessCall("2", "roots")), `~"method":"roots/list"`)
	})
}

// Spec: 2025-11-25 basic/lifecycle#version-negotiation.
//
// The server accepts every revision that has sessions, and offers the newest of
// them for any other text; only a missing or mistyped one is an error.
func TestSessionVersionNegotiation(t *testing.T) {
	agreed := map[string]string{"2026-07-28": "2025-11-25", "1.0": "2025-11-25", "latest": "2025-11-25", " 2025-03-26": "2025-11-25", "2025-3-26": "2025-11-25", "9999-12-31": "2025-11-25", "\\u0000": "2025-11-25", strings.Repeat("9", 5000): "2025-11-25"}
	for _, r := range sessRevisions {
		agreed[r.String()] = r.String()
	}
	for asked, want := range agreed {
		sessBare(t, sessServer(), func(t *testing.T, w *sessWire) {
			init := strings.Replace(sessInit("@", "{}"), "@", asked, 1)
			sessWant(t, "asked for "+asked[:min(len(asked), 20)], w.say(init), `~"protocolVersion":"`+want+`"`)
		})
	}
	for _, bad := range []string{`{}`, `{"protocolVersion":""}`, `{"protocolVersion":20250326}`, `{"protocolVersion":null}`, `{"protocolVersion":["2025-03-26"]}`, `{"ProtocolVersion":"2025-03-26"}`} {
		sessBare(t, sessServer(), func(t *testing.T, w *sessWire) {
			sessWant(t, bad, w.say(sessRequest("1", "initialize", bad)), `~"id":1,"error":{"code":-32602`)
			sessWant(t, "and then properly", w.say(sessInit("2025-06-18", "{}")), `~"protocolVersion":"2025-06-18"`)
		})
	}
}

// Spec: 2025-11-25 basic/lifecycle#initialization.
//
// Initialize without a member that it must have is refused with the name of that
// member, and the client may try again.
func TestSessionInitializeNeedsItsMembers(t *testing.T) {
	const version, capabilities = `"protocolVersion":"2025-06-18"`, `"capabilities":{}`
	for params, want := range map[string]string{
		`{}`: "protocolVersion",
		`{` + version + `,"clientInfo":{"name":"t","version":"1"}}`:                     "capabilities",
		`{` + version + `,"capabilities":null,"clientInfo":{"name":"t","version":"1"}}`: "capabilities",
		`{` + version + `,` + capabilities + `}`:                                        "clientInfo",
		`{` + version + `,` + capabilities + `,"clientInfo":"t"}`:                       "clientInfo",
		`{` + version + `,` + capabilities + `,"clientInfo":{}}`:                        "clientInfo must have a name",
		`{` + version + `,` + capabilities + `,"clientInfo":{"name":"t"}}`:              "clientInfo must have a version",
	} {
		sessBare(t, sessServer(), func(t *testing.T, w *sessWire) {
			got := w.say(sessRequest("1", "initialize", params))
			sessWant(t, params, got, `~"id":1,"error":{"code":-32602`)
			if !strings.Contains(got[0], want) {
				t.Errorf("%s: got %s, want words about %s", params, got[0], want)
			}
			sessWant(t, "and then properly", w.say(sessInit("2025-06-18", "{}")), `~"protocolVersion":"2025-06-18"`)
		})
	}
}

// Spec: 2025-11-25 basic/lifecycle#version-negotiation.
//
// A server that is limited to some revisions offers the newest of these.
func TestSessionVersionsOfAServerThatSpeaksSome(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "old", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Revisions: []mcp.Revision{mcp.Revision20241105, mcp.Revision20250326}})
	for asked, want := range map[string]string{"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-11-25": "2025-03-26"} {
		sessBare(t, s, func(t *testing.T, w *sessWire) {
			sessWant(t, "asked for "+asked, w.say(sessInit(asked, "{}")), `~"protocolVersion":"`+want+`"`)
		})
	}
}

// Spec: 2025-11-25 basic/lifecycle#capability-negotiation.
//
// The response to initialize declares what the server has, and names the
// server; a method of an undeclared capability is "method not found".
func TestSessionServerCapabilities(t *testing.T) {
	sessBare(t, sessServer(), func(t *testing.T, w *sessWire) {
		got := w.say(sessInit("2025-03-26", "{}"))
		sessWant(t, "everything", got, `{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}},"serverInfo":{"name":"sess","version":"1"}}}`)
	})
	bare := server.New(mcp.Implementation{Name: "bare", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	sessBare(t, bare, func(t *testing.T, w *sessWire) {
		sessWant(t, "nothing", w.say(sessInit("2025-03-26", "{}")), `~"capabilities":{}`)
		for _, method := range []string{"tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list", "resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel"} {
			sessWant(t, method, w.say(sessRequest("1", method, `{}`)), `~"id":1,"error":{"code":-32601`)
		}
	})
}

// Spec: 2025-11-25 basic/lifecycle#operation.
//
// A feature that was not declared when the session was opened is not announced
// in it later.
func TestSessionUndeclaredListsAreNotAnnounced(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "bare", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	sessBare(t, s, func(t *testing.T, w *sessWire) {
		w.say(sessInit("2025-11-25", "{}"))
		addText(s, "new", "x") // between the response and notifications/initialized
		w.say(sessReady)
		addText(s, "newer", "x")
		sessWant(t, "a tool was added", w.later())
	})
}

func addText(s *server.Server, name, text string) {
	server.AddTool(s, mcp.Tool{Name: name}, sessText(text))
}

// Spec: 2025-11-25 basic/utilities/ping.
//
// A ping is answered with an empty result, with and without params, even while
// a request is being served.
func TestSessionPing(t *testing.T) {
	for _, r := range sessRevisions {
		sessOpen(t, sessServer(), r, `{}`, func(t *testing.T, w *sessWire) {
			sessWant(t, "no params", w.say(`{"jsonrpc":"2.0","id":"123","method":"ping"}`), `{"jsonrpc":"2.0","id":"123","result":{}}`)
			sessWant(t, "meta", w.say(sessRequest("1", "ping", `{"_meta":{"k":1}}`)), `{"jsonrpc":"2.0","id":1,"result":{}}`)
			sessWant(t, "a call that waits", w.say(sessCall("2", "wait")))
			sessWant(t, "meanwhile", w.say(sessRequest("3", "ping", `{}`)), `{"jsonrpc":"2.0","id":3,"result":{}}`)
		})
	}
}

// Spec: 2025-11-25 basic/utilities/cancellation#behavior-requirements.
//
// A cancelled request ends and is not answered, even if its handler returns a
// result; its ID may be used again.
func TestSessionCancellation(t *testing.T) {
	for _, r := range sessRevisions {
		sessOpen(t, sessServer(), r, `{}`, func(t *testing.T, w *sessWire) {
			for _, tool := range []string{"wait", "stubborn"} {
				sessWant(t, tool, w.say(sessCall(`"a"`, tool), sessCancel(`"a"`)))
			}
			sessWant(t, "the ID again", w.say(sessCall(`"a"`, "echo")), `~"id":"a","result"`)
		})
	}
}

func sessCancel(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"enough"}}`, id)
}

// Spec: 2025-11-25 basic/utilities/cancellation#error-handling.
//
// Cancellations of unknown and of answered requests, malformed cancellations,
// and a cancellation of initialize have no effect.
func TestSessionUselessCancellations(t *testing.T) {
	sessBare(t, sessServer(), func(t *testing.T, w *sessWire) {
		sessWant(t, "initialize", w.say(sessInit("2025-03-26", "{}"), sessCancel(`"init"`), sessReady), `~"id":"init","result"`)
		w.say(sessCall("1", "echo"))
		w.say(sessCall("2", "wait"))
		for _, frame := range []string{
			sessCancel("1"), sessCancel("99"), sessCancel(`"2"`), sessCancel("null"), sessCancel("2.0"), sessCancel(`{"id":2}`),
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"id":2}}`,
			`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"requestId":2}}`, `{"jsonrpc":"2.0","method":"$/cancelRequest"}`,
		} {
			sessWant(t, frame, w.say(frame))
		}
		sessWant(t, "the request still runs", w.say(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}`), `{"jsonrpc":"2.0","id":2,"error":{"code":-32800,"message":"Request cancelled"}}`)
	})
}

// Spec: 2025-11-25 basic/utilities/cancellation#cancellation-flow.
//
// When a request is cancelled while its handler asks the client, the question
// is cancelled, and a late answer to it is ignored.
func TestSessionCancellationWithdrawsQuestions(t *testing.T) {
	sessOpen(t, sessServer(), mcp.Revision20251125, sessAll, func(t *testing.T, w *sessWire) {
		question := w.say(sessCall("1", "sample"))
		sessWant(t, "call", question, `~"method":"sampling/createMessage"`)
		id := sessField(t, question[0], "id")
		sessWant(t, "cancelled", w.say(sessCancel("1")), `~"method":"notifications/cancelled","params":{"requestId":`+id)
		sessWant(t, "late", w.say(`{"jsonrpc":"2.0","id":`+id+`,"result":{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"}}`))
	})
}

// Spec: 2025-11-25 basic/utilities/progress#behavior-requirements.
//
// Progress carries the token of its request, a string or an integer exactly as
// it was sent, increases, precedes the response, and is only sent if asked for;
// updates that follow too soon are left out.
func TestSessionProgress(t *testing.T) {
	for _, r := range sessRevisions {
		sessOpen(t, sessServer(), r, `{}`, func(t *testing.T, w *sessWire) {
			words := `,"message":"words"`
			if r == mcp.Revision20241105 {
				words = ""
			}
			for _, token := range []string{`"abc"`, `0`, `9007199254740993`} {
				got := w.say(sessRequest("1", "tools/call", `{"name":"progress","_meta":{"progressToken":`+token+`}}`))
				var want []string
				for _, p := range []string{"1", "4"} {
					want = append(want, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+token+`,"progress":`+p+`,"total":4`+words+`}}`)
				}
				sessWant(t, "token "+token, got, append(want, `~"id":1,"result"`)...)
			}
			sessWant(t, "no token", w.say(sessCall("1", "progress")), `~"id":1,"result"`)
			for _, token := range []string{`null`, `1.5`, `{}`, `true`} {
				sessWant(t, "token "+token, w.say(sessRequest("1", "tools/call", `{"name":"progress","_meta":{"progressToken":`+token+`}}`)), `~"id":1,"error":{"code":-32602`)
			}
		})
	}
}
