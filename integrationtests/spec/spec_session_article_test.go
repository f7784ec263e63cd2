package spec_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// The tests of this file use a session that is typed line by line, as clients
// without a library do, in 2025-03-26: with a server that calculates, tells the
// time and describes itself.

var sessExpression = regexp.MustCompile(`^[\d\s+\-*/().%^]+$`)

func sessArticle(revisions ...mcp.Revision) *server.Server {
	s := server.New(mcp.Implementation{Name: "raw-mcp-server", Version: "1.0.0"}, &server.Options{Logger: mcptest.Quiet(), Revisions: revisions})
	type expression struct {
		Expression string `json:"expression" description:"Math expression to evaluate (e.g., '2 + 3 * 4')"`
	}
	server.AddTool(s, mcp.Tool{Name: "calculate", Description: "Evaluate a mathematical expression"}, func(_ context.Context, _ *server.Call, in expression) (string, error) {
		if !sessExpression.MatchString(in.Expression) {
			return "", fmt.Errorf("expression contains invalid characters")
		}
		v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, in.Expression)
		if err != nil {
			return "", fmt.Errorf("evaluating the expression: %w", err)
		}
		return v.Value.String(), nil
	})
	server.AddTool(s, mcp.Tool{Name: "get_timestamp", Description: "Get the current UTC timestamp in ISO 8601 format"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return time.Now().UTC().Format(time.RFC3339Nano), nil
	})
	server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	s.AddResource(mcp.Resource{URI: "server://info", Name: "Server Information", Description: "Current server status and configuration", MIMEType: "application/json"},
		func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
			return server.Contents(mcp.TextResource(uri, "application/json", "{\n  \"server\": {\n    \"name\": \"raw-mcp-server\"\n  }\n}")), nil
		})
	return s
}

// sessPiped returns what a server writes to its standard output when a client
// pipes lines into it and closes the pipe.
func sessPiped(t *testing.T, h mcp.Handler, lines ...string) []string {
	t.Helper()
	r, w := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := stream.Serve(t.Context(), h, stream.Lines(strings.NewReader(strings.Join(lines, "\n")), w, 1<<20, w.Close), mcp.ServeOptions{Logger: mcptest.Quiet()})
		_ = w.Close() // closing a pipe does not fail
		served <- err
	}()
	var out []string
	for s := bufio.NewScanner(r); s.Scan(); {
		out = append(out, s.Text())
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	return out
}

const sessArticleInit = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"test-client","version":"1.0.0"}}}`

// Spec: 2025-03-26 basic/lifecycle#lifecycle-phases.
//
// A single message that is piped in is answered, and the server ends.
func TestSessionArticlePipe(t *testing.T) {
	got := sessPiped(t, sessArticle(), sessArticleInit)
	sessWant(t, "initialize", got, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{"listChanged":true},"resources":{"listChanged":true}},"serverInfo":{"name":"raw-mcp-server","version":"1.0.0"}}}`)
}

// Spec: 2025-03-26 server/tools#message-flow.
//
// The conversation of the article, verbatim, with params that are empty objects
// everywhere.
func TestSessionArticleConversation(t *testing.T) {
	sessBare(t, sessArticle(), func(t *testing.T, w *sessWire) {
		sessWant(t, "initialize", w.say(sessArticleInit), `~{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26",`)
		sessWant(t, "initialized", w.say(`{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}`))
		got := w.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`)
		sessWant(t, "tools/list", got, `~{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"calculate","description":"Evaluate a mathematical expression","inputSchema":`)
		if strings.Contains(got[0], "nextCursor") {
			t.Errorf("the only page has a next one: %s", got[0])
		}
		sessWant(t, "calculate", w.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"calculate","arguments":{"expression":"2 + 3 * 4"}}}`),
			`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"14"}],"isError":false}}`)
		got = w.say(`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"server://info"}}`)
		sessWant(t, "server://info", got, `~{"jsonrpc":"2.0","id":4,"result":{"contents":[{"uri":"server://info","mimeType":"application/json","text":"{\n`)
		sessWant(t, "nonexistent_tool", w.say(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"nonexistent_tool","arguments":{}}}`),
			`~{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"unknown tool: \"nonexistent_tool\""`)
		asked := time.Now()
		got = w.say(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"get_timestamp","arguments":{}}}`)
		var result mcp.CallToolResult
		if err := json.Unmarshal([]byte(sessField(t, got[0], "result")), &result); err != nil {
			t.Fatal(err)
		}
		if stamp, ok := result.Content[0].(*mcp.TextContent); !ok || stamp.Text != asked.UTC().Format(time.RFC3339Nano) {
			t.Errorf("get_timestamp: %s", got[0])
		}
		sessWant(t, "resources/list", w.say(`{"jsonrpc":"2.0","id":7,"method":"resources/list","params":{}}`),
			`{"jsonrpc":"2.0","id":7,"result":{"resources":[{"uri":"server://info","name":"Server Information","description":"Current server status and configuration","mimeType":"application/json"}]}}`)
	})
}

// Spec: 2025-03-26 basic/transports#stdio.
//
// Trouble 1: every line on standard output is one message of the protocol, even
// if a text has line breaks or is not UTF-8, or an input line was not a
// message.
func TestSessionArticleNothingButMessages(t *testing.T) {
	s := sessArticle()
	addText(s, "breaks", "a\nb\r\nc\u2028d\xffe")
	got := sessPiped(t, s, sessArticleInit, sessReady, "", "  \t ", "not JSON", sessCall("2", "breaks"), sessRequest("3", "resources/read", `{"uri":"server://info"}`)+"\r", sessRequest("4", "ping", "{}"))
	if len(got) != 5 {
		t.Errorf("%d lines, want 5:\n%s", len(got), strings.Join(got, "\n"))
	}
	for _, line := range got {
		if _, err := new(jsonrpc.Decoder).Decode([]byte(line)); err != nil {
			t.Errorf("%q is not a message: %v", line, err)
		}
	}
}

// Spec: 2025-03-26 basic#notifications.
//
// Trouble 2: notifications/initialized is not answered, whatever it carries.
func TestSessionArticleNotificationsHaveNoAnswer(t *testing.T) {
	got := sessPiped(t, sessArticle(), sessArticleInit, sessReady, sessReady, `{"jsonrpc":"2.0","method":"notifications/initialized","params":null}`, `{"jsonrpc":"2.0","method":"nope","params":{}}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3}}`)
	sessWant(t, "answers", got, `~"id":1,"result"`)
}

// Spec: 2025-03-26 basic/lifecycle#initialization.
//
// Trouble 3: requests before initialize are refused with -32600; the server
// neither crashes nor considers the session open.
func TestSessionArticleBeforeInitialize(t *testing.T) {
	got := sessPiped(t, sessArticle(sessRevisions...), `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`)
	sessWant(t, "tools/list", got, `~{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"Server not initialized`)
}

// Spec: 2025-03-26 server/tools#error-handling.
//
// Trouble 4: a failure of a tool, or arguments that it cannot use, is a result
// that says so, not an error of the protocol.
func TestSessionArticleToolErrors(t *testing.T) {
	sessOpen(t, sessArticle(), mcp.Revision20250326, `{}`, func(t *testing.T, w *sessWire) {
		for arguments, want := range map[string]string{
			`{}`:                             `expression`,
			`{"expression":5}`:               `expression`,
			`{"expression":"os.exit(1)"}`:    `invalid characters`,
			`{"expression":"2 +"}`:           `evaluating the expression`,
			`{"expression":"1/0"}`:           `division by zero`,
			`{"expression":"2","other":[1]}`: `other`,
		} {
			got := w.say(sessRequest("1", "tools/call", `{"name":"calculate","arguments":`+arguments+`}`))
			sessWant(t, arguments, got, `~"isError":true`)
			if !strings.Contains(got[0], want) {
				t.Errorf("%s: %s does not say %q", arguments, got[0], want)
			}
		}
		sessWant(t, "arguments that are no object", w.say(sessRequest("1", "tools/call", `{"name":"calculate","arguments":[1]}`)), `~"error":{"code":-32602`)
	})
}

// Spec: 2025-03-26 basic/utilities/cancellation#timing-considerations.
//
// $/cancelRequest is answered with -32800 if it arrives in time, and ignored if
// the answer was on its way.
func TestSessionArticleCancelRequest(t *testing.T) {
	sessOpen(t, sessArticle(), mcp.Revision20250326, `{}`, func(t *testing.T, w *sessWire) {
		cancel := `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3}}`
		sessWant(t, "in time", w.say(sessCall("3", "wait"), cancel), `{"jsonrpc":"2.0","id":3,"error":{"code":-32800,"message":"Request cancelled"}}`)
		sessWant(t, "too late", w.say(sessCall("3", "get_timestamp")), `~"id":3,"result"`)
		sessWant(t, "after the answer", w.say(cancel, cancel))
	})
}
