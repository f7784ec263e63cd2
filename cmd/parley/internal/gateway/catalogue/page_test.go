package catalogue_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// some returns the names of tools.
func some(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s%d", prefix, i))
	}
	return names
}

func TestPages(t *testing.T) {
	for _, size := range []int{1, 2, 3, 7, 100} {
		synctest.Test(t, func(t *testing.T) {
			c := made(t, func(o *catalogue.Options) {
				o.PageSize = size
				o.Guards = []guard.Guard{hider{"a__x2"}}
			}, has(some("x", 5)...), has(), has(some("x", 4)...))
			var got []string
			var cursor *string
			for n := 0; ; n++ {
				p := page(t, c, "p", all, cursor)
				got = append(got, names(p))
				if len(p.Tools) > size || len(p.Tools) == 0 || *p.TTLMs == 0 {
					t.Errorf("page %d has %d tools for %d ms", n, len(p.Tools), *p.TTLMs)
				}
				if cursor = p.NextCursor; cursor == nil {
					break
				}
			}
			want(t, strings.Join(got, " "), "a__x0 a__x1 a__x3 a__x4 c__x0 c__x1 c__x2 c__x3")
		})
	}
}

func TestCursorsSurviveChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := has(some("x", 4)...), has(some("y", 4)...)
		c := made(t, func(o *catalogue.Options) { o.PageSize = 3 }, one, two)
		next := page(t, c, "p", all, nil).NextCursor
		change := func(f *fake, names ...string) {
			f.set(func(f *fake) { f.pages[""] = []string{tools(names...)} })
			c.Changed("a", nil, mcp.ToolsChanged)
		}
		want(t, names(page(t, c, "p", all, next)), "a__x3 b__y0 b__y1")
		change(one, "new", "new2", "x0", "x1", "x2", "x3")
		want(t, names(page(t, c, "p", all, next)), "a__x3 b__y0 b__y1")
		change(one, "x0", "x1", "x3", "x4")
		want(t, names(page(t, c, "p", all, next)), "a__x3 a__x4 b__y0")
		change(one)
		want(t, names(page(t, c, "p", all, next)), "b__y2 b__y3")
		change(two)
		c.Changed("b", nil, mcp.ToolsChanged)
		if p := page(t, c, "p", all, next); len(p.Tools) != 0 || p.NextCursor != nil {
			t.Errorf("a page after the end: %s", names(p))
		}
		pass(time.Second)
	})
}

func TestCursorsThatAreNone(t *testing.T) {
	c := made(t, func(o *catalogue.Options) { o.PageSize = 1 }, has("x", "y"))
	good := *page(t, c, "p", all, nil).NextCursor
	for _, bad := range []string{"", "x", good + "A", good[1:], "B" + good[1:], strings.Repeat("A", 1<<20), good + "\n"} {
		_, err := c.List(t.Context(), &mcp.Peer{Principal: "p"}, mcp.MethodListTools, all, &bad)
		var invalid *mcp.InvalidParamsError
		if !errors.As(err, &invalid) {
			t.Errorf("%.50q: error %v", bad, err)
		}
	}
	_, err := c.List(t.Context(), &mcp.Peer{Principal: "p"}, mcp.MethodListPrompts, all, &good)
	var invalid *mcp.InvalidParamsError
	if !errors.As(err, &invalid) {
		t.Errorf("the cursor of another list: error %v", err)
	}
}

func FuzzCursor(f *testing.F) {
	c := made(f, func(o *catalogue.Options) { o.PageSize = 1 }, has("x", "y"))
	f.Add("")
	f.Add(*page(f, c, "p", all, nil).NextCursor)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := c.List(t.Context(), &mcp.Peer{Principal: "p"}, mcp.MethodListTools, all, &text)
		var invalid *mcp.InvalidParamsError
		if err != nil && !errors.As(err, &invalid) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
