package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var serverCaching = []Probe{
	hinted("server/discover", "26.server.utilities.caching-001", "26.server.discover-004", "26.schema-001"),
	hinted(mcp.MethodListTools, "26.server.utilities.caching-002", "26.server.tools-013", "26.schema-001", "26.server.utilities.caching-027"),
	hinted(mcp.MethodListPrompts, "26.server.utilities.caching-003", "26.server.prompts-006", "26.schema-001", "26.server.utilities.caching-027"),
	hinted(mcp.MethodListResources, "26.server.utilities.caching-004", "26.server.resources-007", "26.schema-001", "26.server.utilities.caching-027"),
	hinted(mcp.MethodListTemplates, "26.server.utilities.caching-005", "26.server.resources-013", "26.schema-001", "26.server.utilities.caching-027"),
	hinted(mcp.MethodReadResource, "26.server.utilities.caching-006", "26.server.resources-011", "26.schema-001"),
	{
		Info: probe.Info{
			ID: "caching/ttl", Rows: []string{"26.server.utilities.caching-015"},
			Does:    "Looks at each ttlMs.",
			Accepts: "An integer of at least 0.",
		},
		Needs: []string{needsStateless},
		Watch: eachHint("ttlMs", func(w *probe.Watch, hint part) {
			if n, ok := (part{v: map[string]any{"n": hint.v}}).number("n"); !ok || n < 0 || n != float64(int64(n)) {
				hint.fault(w, "ttlMs is no integer of at least 0")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "caching/scope", Rows: []string{"26.server.utilities.caching-021"},
			Does:    "Looks at each cacheScope.",
			Accepts: `"public" or "private".`,
		},
		Needs: []string{needsStateless},
		Watch: eachHint("cacheScope", func(w *probe.Watch, hint part) {
			if hint.v != "public" && hint.v != "private" {
				hint.fault(w, `cacheScope is neither "public" nor "private"`)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "caching/none-on-questions", Rows: []string{"26.server.utilities.caching-007"},
			Does:    "Looks at results that ask for input.",
			Accepts: "No ttlMs and no cacheScope.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsResult) {
				if !asks(m) {
					continue
				}
				w.Saw(m)
				for _, name := range []string{"ttlMs", "cacheScope"} {
					if peerHas(m, "result/"+name) {
						w.Fault(m, "/result/"+name, "a result that asks for input has the hint %s", name)
					}
				}
			}
			w.Nothing(probe.NotApplicable("the server asks for nothing"))
		},
	},
	{
		Info: probe.Info{
			ID: "caching/private-after-input", Rows: []string{"26.server.utilities.caching-010"},
			Does:    "Looks at results of requests that brought input with them.",
			Accepts: `ttlMs 0, or the cacheScope "private".`,
		},
		Needs: []string{needsStateless},
		Watch: watchAfterInput,
	},
	{
		Info: probe.Info{
			ID: "caching/same-scope-on-all-pages", Rows: []string{"26.server.utilities.caching-032"},
			Does:    "Compares the cacheScope of the pages of each list.",
			Accepts: "The same one on all.",
			After:   []string{"caching/scope"},
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, l := range lists() {
				for _, walk := range x.walks(l) {
					for _, page := range walk[1:] {
						w.Saw(page.m)
						first, there := walk[0].get("cacheScope")
						if scope, ok := page.get("cacheScope"); ok && there && !same(first, scope) {
							w.FaultOf([]probe.Blame{{Message: page.m, Pointer: page.at + "/cacheScope"}, {Message: walk[0].m, Pointer: "/result/cacheScope"}},
								"the cacheScope of the page is not that of the first page")
						}
					}
				}
			}
			w.Nothing(probe.NotApplicable("no list has more than one page"))
		},
	},
}

// hinted is the probe for a method whose results must have caching hints.
func hinted(method string, rows ...string) Probe {
	p := Probe{
		Info: probe.Info{
			ID: "caching/hints-of-" + method, Rows: rows,
			Does:    "Looks at the results of " + method + ".",
			Accepts: "ttlMs and cacheScope.",
			Mend:    `Add "ttlMs": 0 and "cacheScope": "private" if nothing better is known.`,
		},
		Needs: []string{needsStateless},
		Watch: each(resultsOf(method), func(w *probe.Watch, r part) {
			for _, name := range []string{"ttlMs", "cacheScope"} {
				if !r.has(name) {
					r.fault(w, "the result has no %s", name)
				}
			}
		}),
	}
	if row := mcp.MethodNamed(method); row != nil && row.Capability != "" {
		p.Needs = append(p.Needs, string(row.Capability))
	}
	return p
}

// eachHint looks at a hint on all results that may be cached.
func eachHint(name string, look func(*probe.Watch, part)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, m := range x.Received((*peer.Message).IsResult) {
			asked := x.Log.RequestOf(m)
			if asked == nil || !complete(m) {
				continue
			}
			if row := mcp.MethodNamed(asked.Method); row == nil || !row.Cacheable {
				continue
			}
			if v, ok := m.Get("result/" + name); ok {
				w.Saw(m)
				look(w, part{m, "/result/" + name, v})
			}
		}
	}
}

func watchAfterInput(x *X, w *probe.Watch) {
	for _, r := range x.results(mcp.MethodReadResource) {
		asked := x.Log.RequestOf(r.m)
		if asked == nil || !peerHas(asked, "params/inputResponses") && !peerHas(asked, "params/requestState") {
			continue
		}
		w.Saw(r.m)
		if ttl, _ := r.number("ttlMs"); ttl > 0 && r.text("cacheScope") == "public" {
			w.Fault(r.m, "/result/cacheScope", "the result depends on what the client was asked, and says that everybody may have it")
		}
	}
	w.Nothing(probe.NotApplicable("no resource asks for input"))
}
