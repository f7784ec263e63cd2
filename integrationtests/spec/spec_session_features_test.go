package spec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// Spec: 2025-11-25 server/utilities/logging#setting-log-level.
//
// A log level includes all more severe ones. It holds for the session, from the
// next request on; a level that does not exist is invalid and changes nothing.
func TestSessionLogLevels(t *testing.T) {
	for _, r := range sessRevisions {
		sessOpen(t, sessServer(), r, `{}`, func(t *testing.T, w *sessWire) {
			for i, level := range sessLevels {
				sessWant(t, "set", w.say(sessRequest("1", "logging/setLevel", fmt.Sprintf(`{"level":%q}`, level))), `{"jsonrpc":"2.0","id":1,"result":{}}`)
				var want []string
				for _, l := range sessLevels[i:] {
					want = append(want, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":%q,"data":%q}}`, l, l))
				}
				sessWant(t, "from "+string(level), w.say(sessCall("2", "log")), append(want, `~"id":2,"result"`)...)
			}
			for _, bad := range []string{`{"level":"loud"}`, `{"level":"ERROR"}`, `{"level":3}`, `{"level":null}`, `{}`, `{"Level":"debug"}`} {
				sessWant(t, bad, w.say(sessRequest("1", "logging/setLevel", bad)), `~"error":{"code":-32602`)
			}
			sessWant(t, "still emergencies only", w.say(sessCall("2", "log")), `~"level":"emergency"`, `~"id":2,"result"`)
		})
	}
}

// Spec: 2025-11-25 server/utilities/logging#capabilities.
//
// A server that has not declared logging sends no log messages.
func TestSessionNoLoggingUndeclared(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "quiet", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "log"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Log(ctx, mcp.LevelEmergency, "fire")
		return "logged", nil
	})
	sessOpen(t, s, mcp.Revision20251125, `{}`, func(t *testing.T, w *sessWire) {
		sessWant(t, "set", w.say(sessRequest("1", "logging/setLevel", `{"level":"debug"}`)), `~"error":{"code":-32601`)
		sessWant(t, "log", w.say(sessCall("2", "log")), `~"id":2,"result"`)
	})
}

// Spec: 2025-11-25 server/resources#subscriptions.
//
// For each change of a subscribed resource there is one notification, however
// often it was subscribed to; for others there is none, and none after
// unsubscribing, not even for a change just before.
func TestSessionSubscriptions(t *testing.T) {
	for _, r := range sessRevisions {
		s := sessServer()
		sessOpen(t, s, r, `{}`, func(t *testing.T, w *sessWire) {
			updated := func(uri string) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, uri)
			}
			ok := `{"jsonrpc":"2.0","id":1,"result":{}}`
			s.ResourceUpdated("test://a")
			sessWant(t, "not subscribed", w.later())
			for range 2 {
				sessWant(t, "subscribe", w.say(sessRequest("1", "resources/subscribe", `{"uri":"test://a"}`)), ok)
			}
			sessWant(t, "one that is not there yet", w.say(sessRequest("1", "resources/subscribe", `{"uri":"test://later"}`)), ok)
			for _, uri := range []string{"test://a", "test://b", "test://a", "test://later", "TEST://a"} {
				s.ResourceUpdated(uri)
			}
			sessWant(t, "subscribed", w.later(), updated("test://a"), updated("test://later"))
			s.ResourceUpdated("test://a")
			sessWant(t, "unsubscribe", w.say(sessRequest("1", "resources/unsubscribe", `{"uri":"test://a"}`)), ok)
			s.ResourceUpdated("test://a")
			sessWant(t, "unsubscribed", w.later())
			for _, uri := range []string{"test://a", "test://never"} {
				sessWant(t, "unsubscribe "+uri, w.say(sessRequest("1", "resources/unsubscribe", fmt.Sprintf(`{"uri":%q}`, uri))), ok)
			}
			w.say(sessRequest("1", "resources/subscribe", `{"uri":"test://a"}`))
			s.ResourceUpdated("test://a")
			sessWant(t, "subscribed again", w.later(), updated("test://a"))
			for _, bad := range []string{`{}`, `{"uri":""}`, `{"uri":7}`, `{"uri":"no scheme"}`, `{"uri":"test://a b"}`} {
				sessWant(t, bad, w.say(sessRequest("1", "resources/subscribe", bad)), `~"error":{"code":-32602`)
			}
		})
	}
}

// Spec: 2025-11-25 server/resources#list-changed-notification.
//
// Changes of a list cause one notification without content, however many there
// are at a time; and none before the client is initialized.
func TestSessionListChanged(t *testing.T) {
	for _, r := range sessRevisions {
		s := sessServer()
		sessBare(t, s, func(t *testing.T, w *sessWire) {
			change := func() {
				addText(s, "new", "x")
				addText(s, "newer", "x")
				s.RemoveTools("new", "newer")
				s.RemoveResources("test://c")
				s.AddRawPrompt(mcp.Prompt{Name: "q"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) { return nil, nil })
				s.RemovePrompts("q")
			}
			w.say(sessInit(r.String(), `{}`))
			change()
			sessWant(t, "not initialized", w.later())
			s.AddResource(mcp.Resource{URI: "test://c", Name: "c"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) { return nil, nil })
			w.say(sessReady)
			sessWant(t, "nothing happened since", w.later())
			change()
			sessWant(t, "changed", w.later(),
				`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
				`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`,
				`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`)
			w.say(sessReady)
			change()
			sessWant(t, "initialized twice", w.later(), `~tools/list_changed`, `~prompts/list_changed`)
		})
	}
}

// Spec: 2025-11-25 server/utilities/pagination#implementation-guidelines.
//
// The pages of a list are the whole list; cursors work after a restart of the
// server, and only for the list they came from.
func TestSessionPagination(t *testing.T) {
	var cursor string
	sessOpen(t, sessServer(), mcp.Revision20250326, `{}`, func(t *testing.T, w *sessWire) {
		got := w.say(sessRequest("1", "resources/list", `{}`))
		cursor = sessField(t, got[0], "result", "nextCursor")
		if !strings.Contains(got[0], "test://b") || strings.Contains(got[0], "test://c") || cursor == "" {
			t.Errorf("first page: %s", got)
		}
	})
	sessOpen(t, sessServer(), mcp.Revision20250326, `{}`, func(t *testing.T, w *sessWire) {
		got := w.say(sessRequest("1", "resources/list", `{"cursor":`+cursor+`}`))
		if strings.Contains(got[0], "test://b") || !strings.Contains(got[0], "test://c") || strings.Contains(got[0], "nextCursor") {
			t.Errorf("last page after a restart: %s", got)
		}
		for _, method := range []string{"tools/list", "prompts/list", "resources/templates/list"} {
			sessWant(t, method+" with a cursor of resources", w.say(sessRequest("1", method, `{"cursor":`+cursor+`}`)), `~"error":{"code":-32602`)
		}
		for _, bad := range []string{`""`, `"x"`, `"eyJwYWdlIjogM30="`, `7`, `{}`} {
			sessWant(t, "cursor "+bad, w.say(sessRequest("1", "resources/list", `{"cursor":`+bad+`}`)), `~"error":{"code":-32602`)
		}
	})
}

// Spec: 2025-11-25 server/utilities/completion#completion-results.
//
// At most 100 values are sent, with the total number; references and arguments
// that do not exist are invalid.
func TestSessionCompletion(t *testing.T) {
	for _, r := range sessRevisions {
		sessOpen(t, sessServer(), r, `{}`, func(t *testing.T, w *sessWire) {
			complete := func(ref, argument string) []string {
				return w.say(sessRequest("1", "completion/complete", `{"ref":`+ref+`,"argument":`+argument+`}`))
			}
			got := complete(`{"type":"ref/prompt","name":"p"}`, `{"name":"x","value":"v"}`)
			if n := strings.Count(got[0], `"v`) - 1; n != 100 || !strings.Contains(got[0], `"total":250,"hasMore":true`) {
				t.Errorf("%d values in %s", n, got[0])
			}
			sessWant(t, "nothing fits", complete(`{"type":"ref/prompt","name":"p"}`, `{"name":"x","value":"zz"}`), `~"values":[]`)
			for _, bad := range [][2]string{
				{`{"type":"ref/prompt","name":"nope"}`, `{"name":"x","value":""}`},
				{`{"type":"ref/prompt","name":"p"}`, `{"name":"nope","value":""}`},
				{`{"type":"ref/resource","uri":"test://{nope}"}`, `{"name":"x","value":""}`},
				{`{"type":"ref/tool","name":"p"}`, `{"name":"x","value":""}`},
				{`{}`, `{}`},
			} {
				sessWant(t, bad[0]+bad[1], complete(bad[0], bad[1]), `~"error":{"code":-32602`)
			}
		})
	}
}

// Spec: 2025-11-25 server/resources#error-handling.
//
// A missing resource is -32002, with the URI; a missing tool or prompt is
// -32602; a malformed URI is invalid.
func TestSessionNotFound(t *testing.T) {
	for _, r := range sessRevisions {
		sessOpen(t, sessServer(), r, `{}`, func(t *testing.T, w *sessWire) {
			sessWant(t, "resource", w.say(sessRequest("1", "resources/read", `{"uri":"test://nope"}`)), `~"error":{"code":-32002,"message":"Resource not found","data":{"uri":"test://nope"}}`)
			sessWant(t, "tool", w.say(sessCall("1", "nope")), `~"error":{"code":-32602`)
			sessWant(t, "prompt", w.say(sessRequest("1", "prompts/get", `{"name":"nope"}`)), `~"error":{"code":-32602`)
			sessWant(t, "missing argument", w.say(sessRequest("1", "prompts/get", `{"name":"p"}`)), `~"error":{"code":-32602`)
			for _, bad := range []string{`{}`, `{"uri":""}`, `{"uri":"nope"}`, `{"uri":"../../etc/passwd"}`, `{"uri":5}`} {
				sessWant(t, bad, w.say(sessRequest("1", "resources/read", bad)), `~"error":{"code":-32602`)
			}
		})
	}
}

// Spec: 2025-03-26 server/tools#calling-tools.
//
// For 2025-03-26, the project's requirements demand a description of every
// tool, and isError in every result of one.
func TestSessionToolsAreDescribed(t *testing.T) {
	for _, r := range sessRevisions {
		sessOpen(t, sessServer(), r, `{}`, func(t *testing.T, w *sessWire) {
			sessWant(t, "list", w.say(sessRequest("1", "tools/list", "{}")), `~{"name":"echo","description":"echo","inputSchema":{"type":"object"`)
			sessWant(t, "call", w.say(sessCall("1", "echo")), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"echo"}],"isError":false}}`)
			sessWant(t, "failure", w.say(sessCall("1", "fail")), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"database unreachable"}],"isError":true}}`)
		})
	}
}

// Spec: 2025-11-25 server/utilities/pagination#implementation-guidelines.
//
// A client passes a cursor on unchanged, whatever it is. A missing cursor ends a
// list, and so does an empty one: servers of these revisions mean that by it.
func TestSessionClientTreatsCursorsAsOpaque(t *testing.T) {
	next := map[string]string{"": `"null"`, `"null"`: `" {\"page\": 3} ü"`, `" {\"page\": 3} ü"`: `""`}
	f := &sessFake{}
	f.on = sessOpens("2025-03-26", `{"tools":{}}`, sessPages(t, next))
	sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
		tools, err := client.Collect(c.Tools(t.Context()))
		if err != nil || len(tools) != 3 {
			t.Errorf("%d tools, %v; want 3", len(tools), err)
		}
		var page *mcp.ListToolsResult
		for at := new(string); at != nil && err == nil; at = page.NextCursor {
			if *at == "" {
				at = nil
			}
			page, err = c.ListTools(t.Context(), at)
		}
		if err != nil {
			t.Errorf("page by page: %v", err)
		}
	})
}

// Spec: 2025-11-25 server/utilities/pagination#error-handling.
//
// A cursor that the server no longer knows ends an iteration with its error.
func TestSessionClientHearsOfLostCursors(t *testing.T) {
	f := &sessFake{}
	f.on = sessOpens("2025-03-26", `{"tools":{}}`, sessPages(t, map[string]string{"": `"gone"`}))
	sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
		tools, err := client.Collect(c.Tools(t.Context()))
		if len(tools) != 1 || sessCode(err) != -32602 || errors.Is(err, client.ErrNotFound) {
			t.Errorf("%d tools, %v; want one, and -32602", len(tools), err)
		}
	})
}
