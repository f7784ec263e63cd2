package server

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// Arguments are taken as their sender means them: null is how some write what they leave
// out, and 2.0 how some write an integer.
func TestArgumentsInOtherWords(t *testing.T) {
	s, _ := newServer(Options{})
	type in struct {
		Count int     `json:"count"`
		Small uint8   `json:"small,omitempty"`
		Note  *string `json:"note"`
		Pace  float64 `json:"pace" default:"1.5"`
	}
	var got in
	AddTool(s, mcp.Tool{Name: "take"}, func(_ context.Context, _ *Call, in in) (string, error) {
		got = in
		return "", nil
	})
	for args, want := range map[string]in{
		`{"count":10.0,"note":null}`:                {Count: 10, Pace: 1.5},
		`{"count":1e1,"small":2.0,"pace":null}`:     {Count: 10, Small: 2, Pace: 1.5},
		`{"count":9007199254740993.0,"small":null}`: {Count: 9007199254740993, Pace: 1.5},
	} {
		got = in{}
		if said := call(t, s, "take", args); strings.Contains(said, "isError") || got != want {
			t.Errorf("%s: %s; got %+v, want %+v", args, said, got, want)
		}
	}
	for _, args := range []string{`{"count":null}`, `{"count":1.5}`, `{"count":1,"small":300.0}`, `{"count":1,"x":null}`} {
		if said := call(t, s, "take", args); !strings.Contains(said, "invalid arguments") {
			t.Errorf("%s: %s", args, said)
		}
	}
}

// A pointer in a result is null when it is nil.
func TestNilPointersInResults(t *testing.T) {
	s, _ := newServer(Options{})
	type out struct {
		Text string  `json:"text"`
		Note *string `json:"note"`
	}
	AddTool(s, mcp.Tool{Name: "look"}, func(context.Context, *Call, struct{}) (out, error) { return out{Text: "a"}, nil })
	same(t, call(t, s, "look", "{}"), `{"content":[{"type":"text","text":"{\"text\":\"a\",\"note\":null}"}],"structuredContent":{"text":"a","note":null}}`)
}

// Blocks of content are not data.
func TestContentIsNoStructuredContent(t *testing.T) {
	s, _ := newServer(Options{})
	for name, err := range map[string]error{
		"image":  TryAddTool(s, mcp.Tool{Name: "a"}, func(context.Context, *Call, struct{}) (out mcp.ImageContent, _ error) { return out, nil }),
		"text":   TryAddTool(s, mcp.Tool{Name: "a"}, func(context.Context, *Call, struct{}) (*mcp.TextContent, error) { return nil, nil }),
		"blocks": TryAddTool(s, mcp.Tool{Name: "a"}, func(context.Context, *Call, struct{}) ([]mcp.Content, error) { return nil, nil }),
		"named":  TryAddTool(s, mcp.Tool{Name: "a"}, func(context.Context, *Call, struct{}) (mcp.Contents, error) { return nil, nil }),
	} {
		if err == nil || !strings.Contains(err.Error(), "Call.AddContent") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
