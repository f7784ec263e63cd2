package tokens_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/tokens"
	"github.com/parley-mcp/parley/internal/texts"
)

func TestReport(t *testing.T) {
	tool := func(backend, name, raw string) tokens.Tool {
		return tokens.Tool{Definition: &guard.Definition{Backend: backend, Name: name, Shown: backend + "__" + name}, Entry: json.RawMessage(raw)}
	}
	const (
		small = `{"name":"a__x","inputSchema":{"type":"object","properties":{}},"_meta":{"n":"what hosts do not tell models does not cost anything"}}`
		large = `{"name":"b__y","description":"It does very much, and says it at length.","inputSchema":{"type":"object","properties":{"p":{"type":"array"}}}}`
		odd   = `{"name":"b__z","inputSchema":{"type":"object","required":["a b"],"properties":{"a b":{}}}}`
	)
	r := tokens.Of([]tokens.Tool{tool("a", "x", small), tool("b", "z", odd), tool("b", "y", large)}, []tokens.View{
		{Name: "only-a", Has: func(d *guard.Definition) bool { return d.Backend == "a" }},
		{Name: "search", Has: func(*guard.Definition) bool { return true }, Search: true},
	})
	cost := func(raw string) int { return texts.ToolTokens([]byte(raw)) }
	want := []tokens.Backend{
		{Cost: tokens.Cost{Name: "b", Tokens: cost(large) + cost(odd)}, Tools: []tokens.Cost{{Name: "b__y", Tokens: cost(large)}, {Name: "b__z", Tokens: cost(odd)}}},
		{Cost: tokens.Cost{Name: "a", Tokens: cost(small)}, Tools: []tokens.Cost{{Name: "a__x", Tokens: cost(small)}}},
	}
	if !reflect.DeepEqual(r.Backends, want) || r.Tools != 3 || r.Tokens != cost(small)+cost(large)+cost(odd) || cost(small) > 30 {
		t.Errorf("%+v\nwant %+v", r, want)
	}
	if r.Search < 200 || r.Search > 1000 || !reflect.DeepEqual(r.Views, []tokens.Cost{{Name: "only-a", Tokens: cost(small)}, {Name: "search", Tokens: r.Search}}) {
		t.Errorf("%d, %+v", r.Search, r.Views)
	}
	for _, p := range r.Profiles {
		switch p.Name {
		case "claude":
			if p.Unfit != 1 || p.Tokens != cost(small)+cost(large) {
				t.Errorf("%+v", p)
			}
		case "openai":
			if p.Unfit != 0 || p.Tokens <= r.Tokens { // the array gets items
				t.Errorf("%+v", p)
			}
		}
	}
}
