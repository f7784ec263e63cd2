package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

func TestStatelessHeaders(t *testing.T) {
	tests := []struct {
		method, members string
		want            map[string]string
	}{
		{"tools/list", "", map[string]string{"Mcp-Method": "tools/list", "Mcp-Name": ""}},
		{"tools/call", `"name":"add",`, map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "add"}},
		{"tools/call", `"name":"größe",`, map[string]string{"Mcp-Name": "=?base64?Z3LDtsOfZQ==?="}},
		{"prompts/get", `"name":"p q",`, map[string]string{"Mcp-Method": "prompts/get", "Mcp-Name": "p q"}},
		{"resources/read", `"uri":"file:///a%20b",`, map[string]string{"Mcp-Method": "resources/read", "Mcp-Name": "file:///a%20b"}},
		{"custom/do", `"name":"n","uri":"u",`, map[string]string{"Mcp-Method": "custom/do", "Mcp-Name": ""}},
	}
	var got http.Header
	s := scripted(t, func(p *posted) { got = p.Header; p.result(`{}`) })
	conn := dial(t, s, Client{Header: http.Header{"Authorization": {"Bearer x"}, "mcp-session-id": {"forged"}}}, newEar())
	for i, tt := range tests {
		if _, err := conn.RoundTrip(t.Context(), modern(int64(i), tt.method, tt.members)); err != nil {
			t.Fatal(err)
		}
		for name, want := range tt.want {
			if v := got.Get(name); v != want {
				t.Errorf("%s: %s is %q, want %q", tt.method, name, v, want)
			}
		}
		for name, want := range map[string]string{
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Session-Id": "", "Authorization": "Bearer x",
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		} {
			if v := got.Get(name); v != want {
				t.Errorf("%s: %s is %q, want %q", tt.method, name, v, want)
			}
		}
	}
	if err := conn.Send(t.Context(), &jsonrpc.Message{Kind: jsonrpc.Notification, Method: "notifications/x"}); err != nil {
		t.Fatal(err)
	}
	if got.Get("MCP-Protocol-Version") != "2026-07-28" || got.Get("Mcp-Method") != "notifications/x" {
		t.Errorf("a notification has the headers %v", got)
	}
}

func TestAnswers(t *testing.T) {
	tests := map[string]struct {
		script func(p *posted)
		want   string // the result, or the error's words
		notes  int
	}{
		"object":       {func(p *posted) { p.result(`{"a":1}`) }, `{"a":1}`, 0},
		"array":        {func(p *posted) { arrayOf(p) }, `{"a":1}`, 1},
		"stream":       {func(p *posted) { p.events(": hi\n\n", note(1), note(2), p.answer(`{"a":1}`)) }, `{"a":1}`, 2},
		"named events": {func(p *posted) { p.events("event: ping\ndata: x\n\nevent: message\n" + p.answer(`{"a":1}`)) }, `{"a":1}`, 0},
		"ID as text":   {func(p *posted) { p.ID = json.RawMessage(`"1"`); p.result(`{"a":1}`) }, `{"a":1}`, 0},
		"error":        {func(p *posted) { p.object(200, `"error":{"code":-32603,"message":"boom"}`) }, "-32603 boom", 0},
		"error 400":    {func(p *posted) { p.object(400, `"error":{"code":-32022,"message":"no"}`) }, "-32022 no", 0},
		"error 404":    {func(p *posted) { p.object(404, `"error":{"code":-32601,"message":"no"}`) }, "-32601 no", 0},
		"error no id": {func(p *posted) {
			p.ID = json.RawMessage("null")
			p.object(400, `"error":{"code":-32000,"message":"no"}`)
		}, "-32000 no", 0},
		"error 500":      {func(p *posted) { p.object(500, `"error":{"code":-32603,"message":"no"}`) }, "-32603 no", 0},
		"html 404":       {func(p *posted) { http.Error(p.w, "Cannot POST", 404) }, `answered 404 Not Found: "Cannot POST"`, 0},
		"other JSON 400": {func(p *posted) { p.object(400, `"oops":1`) }, `answered 400 Bad Request`, 0},
		"html 200":       {func(p *posted) { p.w.Header().Set("Content-Type", "text/html"); io.WriteString(p.w, "<html>") }, `a body of the Content-Type "text/html", neither JSON nor an event stream, which begins "<html>"`, 0},
		"nothing":        {func(p *posted) {}, `without a Content-Type, neither JSON nor`, 0},
		"stream 202": {func(p *posted) {
			p.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			p.w.WriteHeader(202)
			io.WriteString(p.w, note(1)+p.answer(`{"a":1}`))
		}, `{"a":1}`, 1},
		"object 201": {func(p *posted) {
			p.w.Header().Set("Content-Type", "application/json")
			p.w.WriteHeader(201)
			io.WriteString(p.w, `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`)
		}, `{"a":1}`, 0},
		"accepted":    {func(p *posted) { p.w.WriteHeader(202) }, `202 Accepted, which carries no answer`, 0},
		"not JSON":    {func(p *posted) { p.w.Header().Set("Content-Type", "application/json"); io.WriteString(p.w, "{") }, `malformed answer`, 0},
		"other id":    {func(p *posted) { p.ID = json.RawMessage("99"); p.result(`{}`) }, `not an answer to request 1`, 0},
		"both":        {func(p *posted) { p.object(200, `"result":{},"error":{"code":1,"message":""}`) }, `malformed answer`, 0},
		"stream ends": {func(p *posted) { p.events(note(1)) }, `ended the stream without an answer`, 1},
		"stream cut":  {func(p *posted) { p.events("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n") }, `without an answer`, 0},
		"stream junk": {func(p *posted) { p.events("data: hello\n\n") }, `malformed answer`, 0},
		"stream other id": {func(p *posted) {
			p.events("data: {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n\n", p.answer(`{"a":1}`))
		}, `{"a":1}`, 0},
		"bad note": {func(p *posted) {
			p.events("data: {\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":7}\n\n", p.answer(`{"a":1}`))
		}, `{"a":1}`, 0},
		"too long":       {func(p *posted) { p.result(`"` + strings.Repeat("x", 5000) + `"`) }, `over the limit of 4096 bytes`, 0},
		"too long event": {func(p *posted) { p.events(p.answer(`"` + strings.Repeat("x", 9000) + `"`)) }, `over the limit of 4096 bytes`, 0},
		"aborted":        {func(p *posted) { p.events(note(1)); panic(http.ErrAbortHandler) }, `without an answer`, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEar()
			conn := dial(t, scripted(t, tt.script), Client{MaxMessageBytes: 4096}, e)
			m, err := conn.RoundTrip(t.Context(), modern(1, "x/y", ""))
			got := outcome(m, err)
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if m != nil && m.ID != jsonrpc.IntID(1) {
				t.Errorf("the answer has the ID %s", m.ID)
			}
			var rpc *jsonrpc.Error
			if errors.As(err, &rpc) {
				t.Errorf("the error %v looks as if the server had sent it", err)
			}
			for i := range tt.notes {
				if m := within(t, "notification", e.notes); !strings.Contains(string(m.Params), fmt.Sprint(i+1)) {
					t.Errorf("notification %d is %s", i+1, m.Params)
				}
			}
			if conn.Err() != nil {
				t.Errorf("the connection ended: %v", conn.Err())
			}
		})
	}
}

// In the stateless era servers must not ask, and clients must not answer.
func TestStatelessQuestionIsIgnored(t *testing.T) {
	e := newEar()
	e.request = func(context.Context, *jsonrpc.Message) (any, *jsonrpc.Error) {
		t.Error("the receiver was asked")
		return nil, nil
	}
	s := scripted(t, func(p *posted) {
		if p.Method == "" {
			t.Error("the client answered")
		}
		p.events("data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}\n\n", p.answer(`{}`))
	})
	var l log
	conn := dial(t, s, Client{Logger: slog.New(slog.NewTextHandler(&l, nil))}, e)
	if _, err := conn.RoundTrip(t.Context(), modern(1, "x/y", "")); err != nil {
		t.Error(err)
	}
	if !strings.Contains(l.String(), "must not send any") {
		t.Errorf("the log says %q", l.String())
	}
}

// A subscription that the server ends by a notification counts as answered, even if
// the server sends no response.
func TestListenTornDown(t *testing.T) {
	s := scripted(t, func(p *posted) {
		p.events(note(1), `data: {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n\n")
		<-p.Context().Done()
	})
	conn := dial(t, s, Client{}, newEar())
	m, err := conn.RoundTrip(t.Context(), modern(1, mcp.MethodListen, ""))
	if err != nil || string(m.Result) != "{}" {
		t.Errorf("got %s", outcome(m, err))
	}
}
