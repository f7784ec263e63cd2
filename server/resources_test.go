package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

func readText(text string) ResourceHandler {
	return func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) {
		return Contents(mcp.TextResource("", "text/plain", text)), nil
	}
}

func read(t *testing.T, s *Server, uri string) string {
	t.Helper()
	return serve(t, s, mcp.MethodReadResource, `{"uri":`+toJSON(t, uri)+`}`)
}

func TestReadResource(t *testing.T) {
	s, log := newServer(Options{})
	give := func(result *mcp.ReadResourceResult, err error) ResourceHandler {
		return func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) { return result, err }
	}
	for name, h := range map[string]ResourceHandler{
		"text":    readText("hi"),
		"two":     give(Contents(mcp.TextResource("x:other", "", "a"), mcp.BlobResource("", "", nil)), nil),
		"none":    give(Contents(), nil),
		"nil":     give(nil, nil),
		"unset":   give(&mcp.ReadResourceResult{}, nil),
		"missing": give(nil, fmt.Errorf("open: %w", fs.ErrNotExist)),
		"gone":    give(nil, fmt.Errorf("other: %w", mcp.ErrResourceNotFound)),
		"secret":  give(nil, errors.New("password is hunter2")),
		"bad":     give(Contents(&mcp.ResourceContents{}), nil),
		"meta": func(_ context.Context, c *Call, _ string) (*mcp.ReadResourceResult, error) {
			return Contents(), c.SetResultMeta("k", 1)
		},
	} {
		s.AddResource(mcp.Resource{URI: "x:" + name, Name: name}, h)
	}
	for _, c := range []struct{ uri, want string }{
		{"x:text", `{"contents":[{"uri":"x:text","mimeType":"text/plain","text":"hi"}]}`},
		{"x:two", `{"contents":[{"uri":"x:other","text":"a"},{"uri":"x:two","blob":""}]}`},
		{"x:none", `{"contents":[]}`},
		{"x:nil", `error: resource not found: x:nil`},
		{"x:unset", `error: resource not found: x:unset`},
		{"x:missing", `error: resource not found: x:missing`},
		{"x:gone", `error: resource not found: x:gone`},
		{"x:unknown", `error: resource not found: x:unknown`},
		{"x:secret", `error: internal error (-32603)`},
		{"x:bad", `error: internal error (-32603)`},
		{"x:meta", `{"_meta":{"k":1},"contents":[]}`},
		{"", `error: params of resources/read must have "uri"`},
		{"text", `error: invalid uri "text": no scheme`},
		{"x:%zz", `error: invalid uri "x:%zz": it has a character that must be percent-encoded`},
		{"x:a b", `error: invalid uri "x:a b": it has a character that must be percent-encoded`},
		{"x:\n", `error: invalid uri "x:\n": it has a character that must be percent-encoded`},
		{"x://a%2Fb:c/é?d#e", `error: resource not found: x://a%2Fb:c/é?d#e`},
		{"x:" + strings.Repeat("a", maxURI), `error: invalid uri "x:` + strings.Repeat("a", 98) + `…": longer than 8192 bytes`},
	} {
		same(t, read(t, s, c.uri), c.want)
	}
	if !strings.Contains(log.String(), "hunter2") {
		t.Error("the cause was not logged")
	}
}

// A result may be shared by concurrent reads.
func TestReadResultIsNotChanged(t *testing.T) {
	s, _ := newServer(Options{})
	shared := Contents(mcp.TextResource("", "", "x"))
	s.AddResource(mcp.Resource{URI: "x:a", Name: "a"}, func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) { return shared, nil })
	same(t, read(t, s, "x:a"), `{"contents":[{"uri":"x:a","text":"x"}]}`)
	same(t, toJSON(t, shared), `{"contents":[{"uri":"","text":"x"}]}`)
}

func TestResourceRegistrationErrors(t *testing.T) {
	s, _ := newServer(Options{})
	type vars struct {
		ID int `uri:"id"`
	}
	tmpl := func(context.Context, *Call, string, vars) (*mcp.ReadResourceResult, error) { return nil, nil }
	for _, c := range []struct {
		err  error
		want string
	}{
		{s.TryAddResource(mcp.Resource{URI: "a", Name: "a"}, readText("")), "no scheme"},
		{s.TryAddResource(mcp.Resource{URI: "x:a"}, readText("")), "no name"},
		{s.TryAddResource(mcp.Resource{URI: "x:a", Name: "a"}, nil), "no handler"},
		{TryAddTemplate(s, mcp.ResourceTemplate{URITemplate: "x:{id"}, tmpl), "no name"},
		{TryAddTemplate(s, mcp.ResourceTemplate{URITemplate: "x:{id", Name: "a"}, tmpl), "x:{id"},
		{TryAddTemplate(s, mcp.ResourceTemplate{URITemplate: "{id}", Name: "a"}, tmpl), "no scheme"},
		{TryAddTemplate(s, mcp.ResourceTemplate{URITemplate: "x:{other}", Name: "a"}, tmpl), `field for "id"`},
		{TryAddTemplate[vars](s, mcp.ResourceTemplate{URITemplate: "x:{id}", Name: "a"}, nil), "no handler"},
		{TryAddTemplate(s, mcp.ResourceTemplate{URITemplate: "x:{id}", Name: "a"}, func(context.Context, *Call, string, int) (*mcp.ReadResourceResult, error) { return nil, nil }), "not a struct"},
		{TryAddTemplate(s, mcp.ResourceTemplate{URITemplate: "x:{C}", Name: "a"}, func(context.Context, *Call, string, struct{ C chan int }) (*mcp.ReadResourceResult, error) {
			return nil, nil
		}), "cannot be converted"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %q", c.err, c.want)
		}
	}
}

func TestTemplates(t *testing.T) {
	s, _ := newServer(Options{})
	type row struct {
		Table string     `uri:"table" enum:"users,orders"`
		ID    int8       `json:"id"`
		Full  *bool      `uri:"full"`
		Limit uint       `uri:"limit" default:"50"`
		From  netip.Addr `uri:"from"`
		Skip  string     `uri:"-"`
	}
	AddTemplate(s, mcp.ResourceTemplate{URITemplate: "db://{table}/{id}{?full,limit,from}", Name: "row"},
		func(_ context.Context, _ *Call, uri string, v row) (*mcp.ReadResourceResult, error) {
			full := "unset"
			if v.Full != nil {
				full = fmt.Sprint(*v.Full)
			}
			return Contents(mcp.TextResource(uri, "", fmt.Sprintf("%s %d %s %d %s", v.Table, v.ID, full, v.Limit, v.From))), nil
		})
	AddTemplate(s, mcp.ResourceTemplate{URITemplate: "db://{table}/{+rest}", Name: "rest"},
		func(_ context.Context, _ *Call, _ string, v map[string]string) (*mcp.ReadResourceResult, error) {
			return Contents(mcp.TextResource("", "", fmt.Sprint(v))), nil
		})
	type file struct {
		Path []string `uri:"path"`
	}
	AddTemplate(s, mcp.ResourceTemplate{URITemplate: "file://{/path*}", Name: "file"},
		func(_ context.Context, _ *Call, _ string, v file) (*mcp.ReadResourceResult, error) {
			return Contents(mcp.TextResource("", "", fmt.Sprintf("%q", v.Path))), nil
		})
	s.AddResource(mcp.Resource{URI: "db://users/7", Name: "seven"}, readText("the resource itself"))
	for _, c := range []struct{ uri, want string }{
		{"db://users/7", "the resource itself"},
		{"db://users/8", "users 8 unset 50 invalid IP"},
		{"db://users/8?full=true&limit=3&from=::1", "map[rest:8?full=true&limit=3&from=::1 table:users]"}, // ":" is not encoded
		{"db://users/8?full=true&limit=3&from=%3A%3A1", "users 8 true 3 ::1"},
		{"db://users/8?limit=3", "users 8 unset 3 invalid IP"},
		{"db://users/8?limit=-3", "map[rest:8?limit=-3 table:users]"},
		{"db://users/999", "map[rest:999 table:users]"}, // no int8
		{"db://others/1", "map[rest:1 table:others]"},   // not in the enum
		{"db://a%2Fb/c/d", "map[rest:c/d table:a/b]"},
		{"file:///a/b%20c", `[\"a\" \"b c\"]`},
		{"db://a/%ff", "error"}, // not UTF-8
		{"db://a", "error"},
		{"nope:x", "error"},
	} {
		if got := read(t, s, c.uri); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.uri, got, c.want)
		}
	}
	s.RemoveTemplates("db://{table}/{+rest}", "file://{/path*}")
	same(t, serve(t, s, mcp.MethodListTemplates, ""), `{"resourceTemplates":[{"uriTemplate":"db://{table}/{id}{?full,limit,from}","name":"row"}]}`)
	same(t, read(t, s, "db://users/999"), "error: resource not found: db://users/999")
}

func TestMatch(t *testing.T) {
	for _, c := range []struct{ template, uri, want string }{
		{"x:{a}", "x:b", "a=b"},
		{"x:{a}", "x:", "a="},
		{"x:{a}", "x:b/c", "-"},
		{"x:{a}", "x:b%2Fc", "a=b/c"},
		{"x:{a}", "x:b,c", "a=b,c"},
		{"x:{+a}", "x:b/c?d#e", "a=b/c?d#e"},
		{"x:{a,b}", "x:1,2", "a=1 b=2"},
		{"x:{a,b}", "x:1", "a=1"},
		{"x:{a,b}", "x:1,2,3", "-"},
		{"x:{a,b*}", "x:1,2,3", "a=1 b=2,3"},
		{"x:{/a,b}", "x:/1/2", "a=1 b=2"},
		{"x:{/a*}/end", "x:/1/2/end", "a=1,2"},
		{"x:{.a}", "x:.txt", "a=txt"},
		{"x:{;a,b}", "x:;a=1;b=2", "a=1 b=2"},
		{"x:h{?a,b}", "x:h", ""},
		{"x:h{?a,b}", "x:h?b=2", "b=2"},
		{"x:h{?a,b}", "x:h?b=2&a=1", "a=1 b=2"},
		{"x:h{?a,b}", "x:h?c=2", "-"},
		{"x:h{?a,b}", "x:h?a=1&a=2", "-"},
		{"x:h{?a*}", "x:h?a=1&a=2", "a=1,2"},
		{"x:h{?a}{&b}", "x:h?a=1&b=2", "a=1 b=2"},
		{"x:{a}/{a}", "x:1/1", "a=1"},
		{"x:{a}/{a}", "x:1/2", "-"},
		{"x:{a}", "x:%zz", "-"},
		{"x:{a}", "x:%ff", "-"},
		{"x:{#a}", "x:#top", "a=top"},
		{"x:a.b", "x:aXb", "-"},
		{"x:a", "x:a", ""},
	} {
		m, err := newMatcher(c.template)
		if err != nil {
			t.Fatalf("%s: %v", c.template, err)
		}
		same(t, c.template+" "+c.uri+" "+matched(m, c.uri), c.template+" "+c.uri+" "+c.want)
	}
}

func matched(m *matcher, uri string) string {
	found, ok := m.match(uri)
	if !ok {
		return "-"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		parts = append(parts, name+"="+found[name].text())
	}
	return strings.Join(parts, " ")
}

// The text comes from a client. The template library's own matching, which is
// quadratic, would need hours for this one, and the test time out.
func TestMatchIsLinear(t *testing.T) {
	m, err := newMatcher("x://{a}/{b}/{c}/{+d}")
	if err != nil {
		t.Fatal(err)
	}
	m.match("x://" + strings.Repeat("a,", 500_000))
}

func FuzzMatch(f *testing.F) {
	f.Add("x:{a}/{+b}{?c,d*}", "x:1/2/3?c=4&d=5")
	f.Add("file://{/p*}", "file:///a%20b/c")
	f.Add("x:{;a,b*}{&c}{#d:3}", "x:;a=1&c=2#d")
	f.Fuzz(func(t *testing.T, template, uri string) {
		m, err := newMatcher(template)
		if err != nil {
			return
		}
		names := m.names()
		found, _ := m.match(uri)
		for name := range found {
			if !slices.Contains(names, name) {
				t.Errorf("%q matched %q to %q, which is not a variable", template, uri, name)
			}
		}
	})
}
