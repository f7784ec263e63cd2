package catalogue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/plain"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

var all catalogue.View

func TestListsAreMergedAndKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := has("x", "y"), has("x")
		one.hints = `,"ttlMs":20000,"cacheScope":"public"`
		two.hints = `,"ttlMs":10000,"cacheScope":"public"`
		c := made(t, nil, one, two)
		want(t, listed(t, c, "p", all), "a__x a__y b__x for 10s public")
		pass(4 * time.Second)
		want(t, listed(t, c, "q", all), "a__x a__y b__x for 6s public")
		pass(7 * time.Second)
		want(t, listed(t, c, "q", all), "a__x a__y b__x for 9s public")
		if one.count() != 1 || two.count() != 2 {
			t.Errorf("%d and %d requests", one.count(), two.count())
		}
		two.set(func(f *fake) { f.hints = `,"ttlMs":0` })
		pass(time.Minute)
		want(t, listed(t, c, "q", all), "a__x a__y b__x for 0s private")
	})
}

func TestPrivateListsAreOnesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{pages: map[string][]string{"p": {tools("x"), tools("y")}, "q": {tools("z")}}, hints: `,"ttlMs":10000,"cacheScope":"private"`}
		c := made(t, nil, f)
		for range 2 {
			want(t, listed(t, c, "p", all), "a__x a__y for 10s private")
			want(t, listed(t, c, "q", all), "a__z for 10s private")
		}
		if f.count() != 2 {
			t.Errorf("%d requests", f.count())
		}
		f.set(func(f *fake) { f.hints = `,"ttlMs":10000,"cacheScope":"public"` })
		c.Changed("a", &mcp.Peer{Principal: "p"}, mcp.ToolsChanged)
		want(t, listed(t, c, "q", all), "a__z for 10s private")
		want(t, listed(t, c, "p", all), "a__x a__y for 10s public")
		want(t, listed(t, c, "q", all), "a__x a__y for 10s public")
		f.set(func(f *fake) { f.hints = "" })
		c.Changed("a", nil, mcp.ToolsChanged)
		want(t, listed(t, c, "q", all), "a__z for 1m0s private")
		want(t, listed(t, c, "p", all), "a__x a__y for 1m0s private")
	})
}

// What nobody sees any more is forgotten; the others keep theirs, and what is everybody's
// stays.
func TestForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{pages: map[string][]string{"p": {tools("x")}, "q": {tools("z")}}, hints: `,"ttlMs":10000,"cacheScope":"private"`}
		c := made(t, nil, f)
		list := func() {
			want(t, listed(t, c, "p", all), "a__x for 10s private")
			want(t, listed(t, c, "q", all), "a__z for 10s private")
		}
		list()
		c.Forget("a", &mcp.Peer{Principal: "p"})
		c.Forget("none", &mcp.Peer{Principal: "q"})
		list()
		if f.count() != 3 {
			t.Errorf("%d requests", f.count())
		}
		f.set(func(f *fake) { f.hints = `,"ttlMs":10000,"cacheScope":"public"` })
		c.Changed("a", nil, mcp.ToolsChanged)
		want(t, listed(t, c, "q", all), "a__z for 10s public")
		c.Forget("a", &mcp.Peer{Principal: "q"})
		want(t, listed(t, c, "p", all), "a__z for 10s public")
		if f.count() != 4 {
			t.Errorf("%d requests", f.count())
		}
	})
}

// A list that was everybody's is not any more while two wait for it.
func TestPublicThatBecomesPrivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{pages: map[string][]string{"p": {tools("x")}, "q": {tools("z")}}, hints: `,"ttlMs":0,"cacheScope":"public"`}
		c := made(t, nil, f)
		want(t, listed(t, c, "p", all), "a__x for 0s public")
		f.set(func(f *fake) { f.hints, f.takes = `,"ttlMs":10000`, time.Second })
		var work sync.WaitGroup
		for principal, list := range map[string]string{"p": "a__x", "q": "a__z"} {
			work.Go(func() { want(t, listed(t, c, principal, all), list+" for 10s private") })
		}
		work.Wait()
	})
}

func TestKeptUntilChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := has("x"), has("x")
		c := made(t, func(o *catalogue.Options) {
			o.Sources[0].Notifies = func(kind mcp.ChangeKind) bool { return kind == mcp.ToolsChanged }
		}, one, two)
		want(t, listed(t, c, "p", all), "a__x b__x for 1m0s private")
		pass(time.Hour)
		want(t, listed(t, c, "p", all), "a__x b__x for 1m0s private")
		if one.count() != 1 || two.count() != 2 {
			t.Errorf("%d and %d requests", one.count(), two.count())
		}
		one.set(func(f *fake) { f.pages[""] = []string{tools("new")} })
		c.Changed("a", nil, mcp.PromptsChanged)
		c.Changed("a", &mcp.Peer{Principal: "q"}, mcp.ToolsChanged)
		c.Changed("none", nil, mcp.ToolsChanged)
		want(t, listed(t, c, "p", all), "a__x b__x for 1m0s private")
		c.Changed("a", &mcp.Peer{Principal: "p"}, mcp.ToolsChanged)
		want(t, listed(t, c, "p", all), "a__new b__x for 1m0s private")
	})
}

func TestConcurrentMissesAreOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := has("x")
		f.takes = time.Second
		c := made(t, nil, f)
		var work sync.WaitGroup
		for range 100 {
			work.Go(func() { want(t, listed(t, c, "p", all), "a__x for 1m0s private") })
		}
		work.Wait()
		if f.count() != 1 {
			t.Errorf("%d requests", f.count())
		}
	})
}

// A change while a list is on its way makes the next one a new request, but not each of
// many changes.
func TestChangesOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := has("x")
		f.takes = time.Second
		c := made(t, nil, f)
		var work sync.WaitGroup
		for range 50 {
			work.Go(func() { page(t, c, "p", all, nil) })
			synctest.Wait()
			c.Changed("a", nil, mcp.ToolsChanged)
		}
		work.Wait()
		if f.count() != 2 {
			t.Errorf("%d requests", f.count())
		}
		page(t, c, "p", all, nil)
		if f.count() != 3 {
			t.Errorf("%d requests: what has changed on its way counts as fresh", f.count())
		}
	})
}

type late struct {
	mu   sync.Mutex
	said []string
}

func (l *late) add(backend string, peer *mcp.Peer, kind mcp.ChangeKind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	who := "everybody"
	if peer != nil {
		who = peer.Principal
	}
	if kind == mcp.ToolsChanged {
		l.said = append(l.said, backend+" for "+who)
	}
}

func (l *late) take() (said []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	said, l.said = l.said, nil
	return said
}

func TestNobodyWaitsForTheSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick, slow := has("x"), has("s")
		slow.takes = 10 * time.Second
		var told late
		c := made(t, func(o *catalogue.Options) { o.Late = told.add }, quick, slow)
		begun := time.Now()
		want(t, listed(t, c, "p", all), `a__x for 0s private without {"b":"no answer in time"}`)
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("it took %s", took)
		}
		want(t, listed(t, c, "p", all), `a__x for 0s private without {"b":"no answer in time"}`)
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("the second took %s", took-3*time.Second)
		}
		pass(8 * time.Second)
		if said := told.take(); len(said) != 1 || said[0] != "b for p" {
			t.Errorf("late: %q", said)
		}
		want(t, listed(t, c, "p", all), "a__x b__s for 49s private")
		// What it said last is there from now on, and if it says the same nobody is told.
		pass(time.Hour)
		begun = time.Now()
		want(t, listed(t, c, "p", all), `a__x b__s for 0s private without {"b":"no answer in time"}`)
		if took := time.Since(begun); took != 0 {
			t.Errorf("it took %s", took)
		}
		pass(11 * time.Second)
		if said := told.take(); said != nil {
			t.Errorf("late: %q", said)
		}
	})
}

func TestTheBrokenCostOnlyThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good, bad, never := has("x"), has("y"), has("z")
		never.err = plain.New("gone")
		c := made(t, nil, good, bad, never)
		want(t, listed(t, c, "p", all), `a__x b__y for 0s private without {"c":"gone"}`)
		bad.set(func(f *fake) { f.err = plain.New("broken") })
		pass(2 * time.Minute)
		want(t, listed(t, c, "p", all), `a__x b__y for 0s private without {"b":"broken","c":"gone"}`)
		want(t, listed(t, c, "q", all), `a__x for 0s private without {"b":"broken","c":"gone"}`)
		bad.set(func(f *fake) { f.err = nil })
		never.set(func(f *fake) { f.err = &mcp.MethodNotFoundError{Method: mcp.MethodListTools} })
		want(t, listed(t, c, "p", all), "a__x b__y for 1m0s private")
		never.set(func(f *fake) { f.err = jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "what?") })
		c.Changed("c", nil, mcp.ToolsChanged)
		want(t, listed(t, c, "p", all), "a__x b__y for 1m0s private")
	})
}

func TestOneThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := has("x")
		f.takes = time.Hour
		c := made(t, nil, f)
		want(t, listed(t, c, "p", all), ` for 0s private without {"a":"no answer in time"}`)
		pass(2 * time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.List(ctx, &mcp.Peer{}, mcp.MethodListTools, all, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

type hider struct{ hides string }

func (h hider) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	return next(ctx, op)
}

func (h hider) Sees(_ context.Context, peer *mcp.Peer, d *guard.Definition) bool {
	return d.Shown != h.hides || peer.Principal == "root"
}

func TestGuardsAndViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := has("x", "y"), has("x", "z")
		one.hints, two.hints = `,"ttlMs":1000,"cacheScope":"public"`, `,"ttlMs":1000,"cacheScope":"public"`
		c := made(t, func(o *catalogue.Options) { o.Guards = []guard.Guard{hider{"a__y"}, hider{"b__x"}} }, one, two)
		want(t, listed(t, c, "p", all), "a__x b__z for 1s private")
		want(t, listed(t, c, "root", all), "a__x a__y b__x b__z for 1s private")
		want(t, listed(t, c, "root", catalogue.View{Backends: []string{"b"}}), "b__x b__z for 1s private")
		want(t, listed(t, c, "root", catalogue.View{Has: func(d *guard.Definition) bool { return d.Name == "x" }}), "a__x b__x for 1s private")
		want(t, listed(t, c, "root", catalogue.View{Backends: []string{}}), " for 1m0s private")
		if _, err := c.List(t.Context(), &mcp.Peer{}, mcp.MethodCallTool, all, nil); err == nil {
			t.Error("it has listed what is no list")
		}
	})
}

// Entries that make no sense cost nobody the others.
func TestEntriesAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{pages: map[string][]string{"": {tools("x", "x", "") + `,5,{"name":"bad","description":[]},{"name":7},` + tools("y", "hidden"), ""}}}
		title := "T"
		rules := []naming.Rules{{
			Backend: "a", Tools: naming.Selection{Exclude: []string{"hid*"}}, RenameTools: map[string]string{"y": "why"},
			OverrideTools: map[string]naming.Override{"y": {Title: &title, Annotations: []byte(`{"readOnlyHint":true}`)}},
		}}
		c := madeBy(t, func(o *catalogue.Options) { o.Logger = slog.New(slog.DiscardHandler) }, rules, []*fake{f}, nil)
		want(t, listed(t, c, "p", all), "a__x why for 1m0s private")
		d := c.Find(t.Context(), &mcp.Peer{Principal: "p"}, "a", mcp.ToolFeature, "why", false)
		if d == nil || d.Name != "y" || d.List != mcp.MethodListTools || d.Annotations == nil || !d.Annotations.ReadOnlyHint || string(d.Raw) != tools("y") {
			t.Errorf("why is %+v", d)
		}
	})
}

// Another catalogue goes on with what is the same.
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := has("x"), has("x")
		fakes := []*fake{one, two}
		old := madeBy(t, nil, []naming.Rules{{Backend: "a"}, {Backend: "b"}}, fakes, nil)
		want(t, listed(t, old, "p", all), "a__x b__x for 1m0s private")
		c := madeBy(t, nil, []naming.Rules{{Backend: "a"}, {Backend: "b", RenameTools: map[string]string{"x": "new"}}}, fakes, old)
		old.Close()
		one.set(func(f *fake) { f.err = errors.New("broken") })
		want(t, listed(t, c, "p", all), "a__x new for 1m0s private")
		if one.count() != 1 || two.count() != 2 {
			t.Errorf("%d and %d requests", one.count(), two.count())
		}
	})
}

func TestClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := has("x"), has("y")
		c := made(t, nil, one, two)
		want(t, listed(t, c, "p", all), "a__x b__y for 1m0s private")
		two.set(func(f *fake) { f.takes = time.Hour })
		c.Changed("b", nil, mcp.ToolsChanged)
		var work sync.WaitGroup
		work.Go(func() {
			want(t, listed(t, c, "p", all), `a__x b__y for 0s private without {"b":"it cannot be listed"}`)
		})
		synctest.Wait()
		c.Close()
		work.Wait()
		want(t, listed(t, c, "p", all), `a__x b__y for 0s private without {"b":"the gateway is closed, or has another configuration by now"}`)
	})
}

// What is kept for many is bounded.
func TestManyPrincipals(t *testing.T) {
	f := has("x")
	c := made(t, nil, f)
	for i := range 10_100 {
		page(t, c, fmt.Sprint(i), all, nil)
	}
	before := f.count()
	page(t, c, "10099", all, nil)
	if f.count() != before {
		t.Error("the last one is forgotten")
	}
}
