package stream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/mcp"
)

// echo answers every request with its params, and blocks on "wait".
type echo struct{ revisions []mcp.Revision }

func (e echo) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	switch x.Method {
	case "wait":
		<-ctx.Done()
		return nil, ctx.Err()
	case "panic":
		panic("on purpose")
	case "fail":
		return nil, io.ErrUnexpectedEOF
	case "echo":
		return map[string]json.RawMessage{"params": x.Params}, nil
	}
	return nil, &mcp.MethodNotFoundError{Method: x.Method}
}

func (e echo) Describe(context.Context, *mcp.Peer) *mcp.Description {
	return &mcp.Description{Info: mcp.Implementation{Name: "echo", Version: "1"}, Revisions: e.revisions}
}

// talk sends lines to a server and returns its answers in the order in which they
// came.
func talk(t *testing.T, h mcp.Handler, lines ...string) []string {
	t.Helper()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := stream.Serve(t.Context(), h, stream.Lines(strings.NewReader(strings.Join(lines, "\n")+"\n"), in, 1<<20, in.Close), mcp.ServeOptions{})
		_ = in.Close()
		done <- err
	}()
	var answers []string
	for s := bufio.NewScanner(out); s.Scan(); {
		answers = append(answers, s.Text())
	}
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	return answers
}

const (
	initMarch = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initNov   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	ready     = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func TestSessionOverLines(t *testing.T) {
	got := talk(t, echo{}, initMarch, ready, `{"jsonrpc":"2.0","id":"big","method":"echo","params":{"n":9007199254740993}}`)
	want := []string{
		`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"echo","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":"big","result":{"params":{"n":9007199254740993}}}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestBadFramesAreAnsweredAndTheConnectionLives(t *testing.T) {
	tests := []struct{ name, frame, answer string }{
		{"not JSON", `{"jsonrpc"`, `"code":-32700`},
		{"no request", `5`, `"code":-32600`},
		{"bad id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"code":-32600`},
		{"batch out of season", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `"code":-32600`},
		{"unknown method", `{"jsonrpc":"2.0","id":5,"method":"nope"}`, `"id":5,"error":{"code":-32601`},
		{"panic", `{"jsonrpc":"2.0","id":5,"method":"panic"}`, `"id":5,"error":{"code":-32603,"message":"internal error"}`},
		{"failure without its text", `{"jsonrpc":"2.0","id":5,"method":"fail"}`, `"id":5,"error":{"code":-32603,"message":"internal error"}`},
		{"too long", `{"jsonrpc":"2.0","id":5,"method":"` + strings.Repeat("x", 2<<20) + `"}`, `over the limit of 1048576 bytes`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(talk(t, echo{}, initNov, tt.frame, `{"jsonrpc":"2.0","id":9,"method":"ping"}`), "\n")
			if !strings.Contains(got, tt.answer) {
				t.Errorf("no %s in\n%s", tt.answer, got)
			}
			if !strings.Contains(got, `{"jsonrpc":"2.0","id":9,"result":{}}`) {
				t.Errorf("the connection is dead after it:\n%s", got)
			}
			if strings.Contains(got, `"id":null`) {
				t.Errorf("2025-11-25 has no null id:\n%s", got)
			}
		})
	}
}

func TestRequestsBeforeInitializeAreRefused(t *testing.T) {
	for _, tt := range []struct {
		revisions []mcp.Revision
		code      string
	}{
		{[]mcp.Revision{mcp.Revision20251125}, `"code":-32600`},
		{[]mcp.Revision{mcp.Revision20251125, mcp.Revision20260728}, `"code":-32600`},
		{[]mcp.Revision{mcp.Revision20260728}, `"code":-32602`},
	} {
		got := talk(t, echo{revisions: tt.revisions}, `{"jsonrpc":"2.0","id":1,"method":"echo"}`)
		if len(got) != 1 || !strings.Contains(got[0], tt.code) {
			t.Errorf("a server of %v answers %v, want %s", tt.revisions, got, tt.code)
		}
	}
}

// Every kind of batch: mixed, only notifications, a bad element, empty.
func TestBatches(t *testing.T) {
	tests := []struct {
		name, batch string
		want        string
	}{
		{"calls", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `[{"jsonrpc":"2.0","id":1,"result":{}}]`},
		{"with a notification", `[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `[{"jsonrpc":"2.0","id":1,"result":{}}]`},
		{"bad element", `[1]`, `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message must be a JSON object"}}]`},
		{"empty", `[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch is empty"}}`},
		{"initialize inside", `[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`, `[{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"initialize must not be part of a batch"}}]`},
		{"notifications only", `[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","method":"notifications/y"}]`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := talk(t, echo{}, initMarch, ready, tt.batch)
			if answers := strings.Join(got[1:], "\n"); answers != tt.want {
				t.Errorf("got  %s\nwant %s", answers, tt.want)
			}
		})
	}
}

func TestBothErasOnOneConnection(t *testing.T) {
	got := strings.Join(talk(t, echo{},
		initMarch, ready,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"ping"}`,
	), "\n")
	for _, want := range []string{`"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`, `{"jsonrpc":"2.0","id":2,"result":{}}`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestStatelessRefusals(t *testing.T) {
	tests := []struct{ name, frame, answer string }{
		{"unknown revision", `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`, `"code":-32022`},
		{"session revision", `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientCapabilities":{}}}}`, `"code":-32022`},
		{"no capabilities", `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, `"code":-32602`},
		{"bad log level", `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"loud"}}}`, `"code":-32602`},
		{"ping is gone", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, `"code":-32601`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := talk(t, echo{}, tt.frame)
			if len(got) != 1 || !strings.Contains(got[0], tt.answer) {
				t.Errorf("got %v, want %s", got, tt.answer)
			}
		})
	}
}

func TestDuplicateIDInFlightIsRefused(t *testing.T) {
	got := strings.Join(talk(t, echo{}, initNov,
		`{"jsonrpc":"2.0","id":7,"method":"wait"}`, `{"jsonrpc":"2.0","id":7,"method":"wait"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`), "\n")
	if !strings.Contains(got, "already being served") {
		t.Errorf("the second was not refused:\n%s", got)
	}
}

// A cancelled request has no answer; the older $/cancelRequest has one.
func TestCancellation(t *testing.T) {
	got := strings.Join(talk(t, echo{}, initNov,
		`{"jsonrpc":"2.0","id":7,"method":"wait"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
		`{"jsonrpc":"2.0","id":8,"method":"wait"}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":8}}`), "\n")
	if strings.Contains(got, `"id":7`) {
		t.Errorf("a cancelled request was answered:\n%s", got)
	}
	if !strings.Contains(got, `{"jsonrpc":"2.0","id":8,"error":{"code":-32800,"message":"Request cancelled"}}`) {
		t.Errorf("$/cancelRequest was not answered:\n%s", got)
	}
}

func TestStatelessOnlyServerNamesItsRevisions(t *testing.T) {
	got := talk(t, echo{revisions: []mcp.Revision{mcp.Revision20260728}}, initNov)
	if len(got) != 1 || !strings.Contains(got[0], `"supported":["2026-07-28"]`) {
		t.Errorf("got %v", got)
	}
}
