package server

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// A client that may not see some of the tools cannot tell this server from one
// that does not have them: neither by the cursors it gets nor by any that it
// makes up.
//
// Spec: 2026-07-28 server/resources#security-considerations.
func TestCursorsDoNotTellWhatIsHidden(t *testing.T) {
	visible, hidden := []string{"b", "d", "e", "h"}, []string{"a", "c", "f", "g", "i"}
	build := func(names ...string) *Server {
		s, _ := newServer(Options{PageSize: 2, Visible: func(_ context.Context, _ *mcp.Exchange, _ mcp.FeatureKind, name string) bool {
			return !slices.Contains(hidden, name)
		}})
		for _, name := range names {
			AddTool(s, mcp.Tool{Name: name}, textTool)
		}
		return s
	}
	without := build(visible...)
	with := build(slices.Sorted(slices.Values(slices.Concat(visible, hidden)))...)

	same(t, serve(t, with, mcp.MethodListTools, ""), serve(t, without, mcp.MethodListTools, ""))
	for _, key := range slices.Concat(visible, hidden, []string{"missing", ""}) {
		for _, index := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1<<31 - 1} {
			params := fmt.Sprintf(`{"cursor":%q}`, cursor{mcp.ToolFeature, index, key})
			got, want := serve(t, with, mcp.MethodListTools, params), serve(t, without, mcp.MethodListTools, params)
			if got != want {
				t.Errorf("a cursor after %q at %d tells that tools are hidden:\nwith them    %s\nwithout them %s", key, index, got, want)
			}
		}
	}
}

// A page goes on near where an entry was that is gone, or hidden by now, and
// nothing before it is listed again.
func TestCursorOfAHiddenEntry(t *testing.T) {
	hidden := ""
	s, _ := newServer(Options{PageSize: 2, Visible: func(_ context.Context, _ *mcp.Exchange, _ mcp.FeatureKind, name string) bool {
		return name != "a" && name != hidden
	}})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		AddTool(s, mcp.Tool{Name: name}, textTool)
	}
	result, err := s.Serve(t.Context(), request(mcp.MethodListTools, ""))
	if err != nil {
		t.Fatal(err)
	}
	next := *result.(*mcp.ListToolsResult).NextCursor
	for _, hidden = range []string{"", "c"} {
		if names, _ := listAll(t, s, next); fmt.Sprint(names) != "[d e]" {
			t.Errorf("after c, with %q hidden: got %v, want [d e]", hidden, names)
		}
	}
}
