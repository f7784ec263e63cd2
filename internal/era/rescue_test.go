package era

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// trap is a result that panics when it is encoded.
type trap struct{}

func (trap) MarshalJSON() ([]byte, error) { panic("trap") }

// handing is a handler that answers every request with the same result.
type handing struct{ result any }

func (h handing) Serve(context.Context, *mcp.Exchange) (any, error) { return h.result, nil }
func (handing) Describe(context.Context, *mcp.Peer) *mcp.Description {
	return new(mcp.Description)
}

// A result that panics when it is read or encoded fails its own request, and does
// not end the process.
func TestBadResultsFailTheirRequest(t *testing.T) {
	for name, result := range map[string]any{
		"panics":         trap{},
		"nil result":     (*mcp.GetPromptResult)(nil),
		"nil call":       (*mcp.CallToolResult)(nil),
		"no JSON":        func() {},
		"broken content": &mcp.CallToolResult{StructuredContent: json.RawMessage("{")},
	} {
		t.Run(name, func(t *testing.T) {
			opts := mcp.ServeOptions{Logger: slog.New(slog.DiscardHandler)}
			s, err := NewStateless(handing{result}, opts)
			if err != nil {
				t.Fatal(err)
			}
			out := new(keeper)
			s.Receive(t.Context(), decode(t, `{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`), out, Sender{})
			refused(t, out)

			session := NewSession(handing{result}, opts, new(keeper), nil)
			session.Receive(t.Context(), decode(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`), new(keeper), Sender{})
			defer session.Close(jsonrpc.ErrClosed)
			out = new(keeper)
			session.Receive(t.Context(), decode(t, `{"jsonrpc":"2.0","id":1,"method":"x/y"}`), out, Sender{})
			refused(t, out)
		})
	}
}

func refused(t *testing.T, out *keeper) {
	t.Helper()
	if !strings.Contains(string(out.frame), `"code":-32603`) {
		t.Errorf("answered %s", out.frame)
	}
}

// panicking is a handler that panics on a subscription.
type panicking struct{ handing }

func (panicking) Serve(context.Context, *mcp.Exchange) (any, error) { panic("watch") }

// A subscription whose handler panics fails, too, and does not end the process.
func TestPanicInWatch(t *testing.T) {
	s, err := NewStateless(panicking{}, mcp.ServeOptions{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	out := new(keeper)
	s.Receive(t.Context(), decode(t, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`), out, Sender{})
	refused(t, out)
}

// undescribed is a handler whose Describe fails.
type undescribed struct {
	handing
	panics bool
}

func (u undescribed) Describe(context.Context, *mcp.Peer) *mcp.Description {
	if u.panics {
		panic("describe")
	}
	return nil
}

// A handler that cannot say what it offers fails each request, in both eras, and
// does not end the process.
func TestDescribeFails(t *testing.T) {
	for _, h := range []mcp.Handler{undescribed{panics: true}, undescribed{}} {
		opts := mcp.ServeOptions{Logger: slog.New(slog.DiscardHandler)}
		s, err := NewStateless(h, opts)
		if err != nil {
			t.Fatal(err)
		}
		c := NewConversation(h, opts, s, new(keeper), nil)
		for _, frame := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":3,"method":"ping"}`,
		} {
			out := new(keeper)
			m := decode(t, frame)
			c.front(t.Context(), m).Receive(t.Context(), m, out, Sender{})
			refused(t, out)
		}
		c.Receive(t.Context(), decode(t, `{"jsonrpc":"2.0","method":"n/x"}`), nil, new(Delivery))
		c.Close(jsonrpc.ErrClosed)
	}
}
