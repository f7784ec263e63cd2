package catalogue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// described returns a page of tools with these names and descriptions.
func described(all ...string) string {
	var entries []string
	for i := 0; i < len(all); i += 2 {
		entries = append(entries, fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"path":{}}},"x":1.0}`, all[i], all[i+1]))
	}
	return strings.Join(entries, ",")
}

func searched() []*fake {
	return []*fake{
		{pages: map[string][]string{"": {described(
			"read_file", "Reads a file from the disk.",
			"write_file", "Writes a file to the disk. Nothing is kept of what was there.",
			"listDirectories", "Names what is in a directory.",
		)}}},
		{pages: map[string][]string{"": {described(
			"create_issue", "Opens an issue, with a title and a body.",
			"search_issues", "Finds issues by their words.",
			"delete_file", "Removes a file from a repository.",
		)}}},
	}
}

func TestSearch(t *testing.T) {
	c := made(t, func(o *catalogue.Options) { o.Guards = []guard.Guard{hider{"b__delete_file"}} }, searched()...)
	for _, test := range []struct {
		text  string
		limit int
		view  catalogue.View
		want  string
	}{
		{"read file", 10, all, "a__read_file a__write_file"},
		{"files", 1, all, "a__read_file"},
		{"ISSUE", 10, all, "b__search_issues b__create_issue"},
		{"open an issue", 1, all, "b__create_issue"},
		{"directories", 10, all, "a__listDirectories"},
		{"path", 10, catalogue.View{Backends: []string{"b"}}, "b__search_issues b__create_issue"},
		{"nothing fits", 10, all, "a__write_file"},
		{"weather", 10, all, ""},
		{" ?! ", 2, all, "a__read_file a__write_file"},
		{strings.Repeat("word ", 1<<16), 1, all, "b__search_issues"},
	} {
		hits, n, err := c.Search(t.Context(), &mcp.Peer{}, test.view, test.text, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, h.Tool.Name)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%.40q finds %q, want %s", test.text, got, test.want)
		}
		if test.view.Backends == nil && n != 5 {
			t.Errorf("there are %d tools", n)
		}
	}
}

func TestTool(t *testing.T) {
	c := made(t, func(o *catalogue.Options) { o.Guards = []guard.Guard{hider{"b__delete_file"}} }, searched()...)
	hit, ok, err := c.Tool(t.Context(), &mcp.Peer{}, all, "a__read_file")
	if err != nil || !ok || hit.Tool.Name != "a__read_file" || !strings.Contains(string(hit.Raw), `"x":1.0`) {
		t.Errorf("%+v, %v, %v", hit, ok, err)
	}
	for _, name := range []string{"b__delete_file", "a__nothing", ""} {
		if _, ok, err := c.Tool(t.Context(), &mcp.Peer{}, all, name); ok || err != nil {
			t.Errorf("%q is there (%v)", name, err)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	c := many(b)
	for b.Loop() {
		hits, _, err := c.Search(b.Context(), &mcp.Peer{}, all, "read the pages of a report", 10)
		if err != nil || len(hits) != 10 {
			b.Fatal(len(hits), err)
		}
	}
}
