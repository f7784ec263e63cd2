package catalogue_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

func TestFind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := has("x")
		c := made(t, nil, f)
		peer := &mcp.Peer{Principal: "p"}
		// found reports whether a tool is known, and how many requests it took.
		found := func(shown string) (bool, int) {
			before := f.count()
			d := c.Find(t.Context(), peer, "a", mcp.ToolFeature, shown, false)
			synctest.Wait()
			return d != nil && d.Shown == shown, f.count() - before
		}
		check := func(what, shown string, known bool, requests int) {
			t.Helper()
			if k, n := found(shown); k != known || n != requests {
				t.Errorf("%s: known %v with %d requests, want %v with %d", what, k, n, known, requests)
			}
		}
		check("nothing was listed yet", "a__x", true, 1)
		check("it is known", "a__x", true, 0)
		check("nonsense at once", "a__nonsense", false, 0)
		pass(11 * time.Second)
		check("nonsense later", "a__nonsense", false, 1)
		check("nonsense again", "a__nonsense2", false, 0)
		pass(11 * time.Second)
		f.set(func(f *fake) { f.pages[""] = []string{tools("x", "y")} })
		check("a tool that is new", "a__y", true, 1)
		pass(59 * time.Second)
		check("the list has not run out", "a__y", true, 0)
		pass(2 * time.Second)
		check("the list has run out", "a__y", true, 1)
		f.set(func(f *fake) { f.pages[""] = []string{tools("x")} })
		c.Changed("a", nil, mcp.ToolsChanged)
		check("the list has changed", "a__y", false, 1)
		c.Changed("a", nil, mcp.ToolsChanged)
		check("the list has changed again", "a__x", true, 0)
		pass(time.Second)
		check("the list had changed", "a__x", true, 1)
		f.set(func(f *fake) { f.err = errors.New("broken") })
		c.Changed("a", nil, mcp.ToolsChanged)
		pass(time.Second)
		check("the backend is broken", "a__x", true, 1)
		f.set(func(f *fake) { f.err, f.takes = nil, time.Hour })
		pass(time.Second)
		begun := time.Now()
		check("the backend hangs", "a__x", true, 1)
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("it took %s", took)
		}
		check("the backend still hangs", "a__x", true, 0)
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("then %s", took)
		}
		if c.Find(t.Context(), peer, "none", mcp.ToolFeature, "a__x", false) != nil || c.Find(t.Context(), peer, "a", mcp.TaskFeature, "a:1", false) != nil {
			t.Error("nobody's are found")
		}
	})
}

// Most resources are in no list, so nothing is listed for them.
func TestFindResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{pages: map[string][]string{"": {`{"uri":"x:1","name":"one"}`}}}
		c := made(t, nil, f)
		peer := &mcp.Peer{}
		if c.Find(t.Context(), peer, "a", mcp.ResourceFeature, "mcp:a:x:1", false) != nil || f.count() != 0 {
			t.Errorf("%d requests", f.count())
		}
		for method, name := range map[string]string{mcp.MethodListResources: "mcp:a:x:1", mcp.MethodListSkills: "mcp:a:x:1"} {
			if _, err := c.List(t.Context(), peer, method, all, nil); err != nil {
				t.Fatal(err)
			}
			if d := c.Find(t.Context(), peer, "a", mcp.ResourceFeature, name, false); d == nil || d.Name != "x:1" {
				t.Errorf("it is %+v", d)
			}
		}
	})
}

// Where somebody has to be sure, the first list of resources is waited for, and no more than
// that: what it lacks is not looked for again at once.
func TestFindResourcesForSure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{pages: map[string][]string{"": {`{"uri":"x:1","name":"one"}`}}}
		c := made(t, nil, f)
		peer := &mcp.Peer{}
		if d := c.Find(t.Context(), peer, "a", mcp.ResourceFeature, "mcp:a:x:1", true); d == nil || d.Name != "x:1" {
			t.Errorf("it is %+v", d)
		}
		before := f.count()
		if c.Find(t.Context(), peer, "a", mcp.ResourceFeature, "mcp:a:x:2", true) != nil {
			t.Error("what is in no list is found")
		}
		if f.count() > before+1 { // the list of skills
			t.Errorf("%d more requests", f.count()-before)
		}
		before = f.count()
		if c.Find(t.Context(), peer, "a", mcp.ResourceFeature, "mcp:a:x:3", true); f.count() != before {
			t.Errorf("%d more requests", f.count()-before)
		}
	})
}
