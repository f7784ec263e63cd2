package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/mcp"
)

var serverToolsOutput = []Probe{
	{
		Info: probe.Info{
			ID: "tools/result-has-content", Rows: []string{"26.server.tools-014", "26.schema-002", "2511.server.tools-044"},
			Does:    "Looks at the results of tools.",
			Accepts: "content, an array, and isError, if it is there, a boolean.",
			Mend:    "Give every result content, if only an empty array.",
		},
		Needs: []string{needsTool},
		Watch: each(resultsOf(mcp.MethodCallTool), func(w *probe.Watch, r part) {
			if v, _ := r.get("content"); !isArray(v) {
				r.fault(w, "the result of the tool has no array content")
			}
			if v, ok := r.get("isError"); ok && v != true && v != false {
				w.Fault(r.m, r.at+"/isError", "isError is not a boolean")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/no-links-yet", Rows: []string{"2511.server.tools-018"},
			Does:    "Looks for resource links in results of tools, which came with 2025-06-18.",
			Accepts: "None.",
			Mend:    "Give clients of older revisions the link as text, or leave it out.",
		},
		Needs: []string{needsTool},
		Watch: noneOfType("resource_link"),
	},
	{
		Info: probe.Info{
			ID: "tools/no-audio-yet", Rows: []string{"2511.server.tools-019"},
			Does:    "Looks for audio in results of tools, which came with 2025-03-26.",
			Accepts: "None.",
		},
		Needs: []string{needsTool},
		Watch: noneOfType("audio"),
	},
	{
		Info: probe.Info{
			ID: "tools/types-of-content", Rows: []string{"2503.server.tools-001"},
			Does:    "Looks at the types of content in results of tools.",
			Accepts: "text, image, audio or resource; another rule speaks of links.",
		},
		Needs: []string{needsTool},
		Watch: each((*X).blocksOfTools, func(w *probe.Watch, b part) {
			if !slices.Contains([]string{"text", "image", "audio", "resource", "resource_link"}, b.text("type")) {
				b.fault(w, "the content is of no type that the revision has")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/embeds-with-resources", Rows: []string{"26.server.tools-042", "2511.server.tools-021"},
			Does:    "Looks for resources that are embedded in results of tools.",
			Accepts: "None, or the capability resources.",
			After:   []string{"resources/declared"},
		},
		Needs: []string{needsTool},
		Watch: func(x *X, w *probe.Watch) {
			for _, r := range embedded(x.blocksOfTools()) {
				w.Saw(r.m)
				if !x.Offer.Has("resources") {
					r.fault(w, "a resource is embedded, and the server does not declare the capability resources")
				}
			}
			w.Nothing(probe.NotApplicable("no result embedded a resource"))
		},
	},
	{
		Info: probe.Info{
			ID: "tools/structured-is-object", Rows: []string{"2511.server.tools-022"},
			Does:    "Looks at structuredContent in results of tools.",
			Accepts: "A JSON object.",
		},
		Needs: []string{needsTool},
		Watch: eachStructured(func(w *probe.Watch, _ *X, s part) {
			if _, ok := s.v.(map[string]any); !ok {
				s.fault(w, "the structuredContent is not an object")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/structured-as-text", Rows: []string{"26.server.tools-043", "2511.server.tools-023"},
			Does:    "Compares structuredContent with the blocks of text.",
			Accepts: "A block with the same JSON.",
		},
		Needs: []string{needsTool},
		Watch: eachStructured(func(w *probe.Watch, _ *X, s part) {
			blocks := part{m: s.m, at: "/result"}
			blocks.v, _ = s.m.Get("result")
			if !slices.ContainsFunc(ofType(blocks.items("content"), "text"), func(b part) bool { return sameJSON(b.text("text"), s.v) }) {
				s.fault(w, "no block of text has the JSON of the structuredContent")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/structured-there", Rows: []string{"26.server.tools-046", "2511.server.tools-024"},
			Does:    "Looks at successful results of tools that have an outputSchema.",
			Accepts: "Results with structuredContent.",
		},
		Needs: []string{needsTool},
		Watch: func(x *X, w *probe.Watch) {
			for _, r := range x.results(mcp.MethodCallTool) {
				if failed, _ := r.get("isError"); failed == true || x.outputSchema(r.m) == nil {
					continue
				}
				w.Saw(r.m)
				if !r.has("structuredContent") {
					r.fault(w, "the tool has an outputSchema, and its result no structuredContent")
				}
			}
			w.Nothing(noOutput())
		},
	},
	{
		Info: probe.Info{
			ID: "tools/structured-conforms", Rows: []string{"26.server.tools-045", "26.server.tools-044", "26.schema-038", "2511.server.tools-024"},
			Does:    "Compares the structuredContent of successful results with the outputSchema of the tool.",
			Accepts: "Values that the schema accepts.",
			After:   []string{"tools/schemas-are-valid", "tools/structured-is-object"},
		},
		Needs: []string{needsTool},
		Watch: eachStructured(func(w *probe.Watch, x *X, s part) {
			out := x.outputSchema(s.m)
			if out == nil {
				return
			}
			compiled, err := schema.Compile(peer.Encode(out))
			if err != nil {
				return
			}
			if err := compiled.Validate(peer.Encode(s.v)); err != nil {
				s.fault(w, "the structuredContent does not fit the outputSchema: %v", err)
			}
		}),
	},
}

func isArray(v any) bool {
	_, ok := v.([]any)
	return ok
}

func noOutput() probe.Finding {
	return probe.NotApplicable("no tool that was called gives structured results")
}

// noneOfType looks for blocks of a type that the revision does not have.
func noneOfType(name string) func(*X, *probe.Watch) {
	return each((*X).blocksOfTools, func(w *probe.Watch, b part) {
		if b.text("type") == name {
			b.fault(w, "the revision has no content of the type %s", name)
		}
	})
}

// eachStructured looks at the structuredContent of successful results.
func eachStructured(look func(*probe.Watch, *X, part)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, r := range x.results(mcp.MethodCallTool) {
			failed, _ := r.get("isError")
			if s, ok := r.member("structuredContent"); ok && failed != true {
				w.Saw(r.m)
				look(w, x, s)
			}
		}
		w.Nothing(noOutput())
	}
}

// outputSchema is that of the tool whose result a message is, or nil.
func (x *X) outputSchema(result *peer.Message) any {
	asked := x.Log.RequestOf(result)
	if asked == nil {
		return nil
	}
	tool := x.Offer.tool(asked.Text("params/name"))
	if tool == nil {
		return nil
	}
	return tool["outputSchema"]
}

// sameJSON reports whether a text is the JSON of a value.
func sameJSON(text string, v any) bool {
	other, err := peer.Decode([]byte(text))
	return err == nil && same(plain(other), plain(v))
}

// plain returns a value in which equal numbers have equal digits.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		members := map[string]any{}
		for name, member := range v {
			members[name] = plain(member)
		}
		return members
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, plain(item))
		}
		return list
	case interface{ Float64() (float64, error) }:
		if f, err := v.Float64(); err == nil {
			return f
		}
	}
	return v
}
