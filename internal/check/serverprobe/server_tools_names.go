package serverprobe

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var serverToolsNames = []Probe{
	{
		Info: probe.Info{
			ID: "tools/length-of-names", Rows: []string{"26.server.tools-024", "2511.server.tools-012"},
			Does:    "Counts the characters of the names of tools.",
			Accepts: "1 to 128.",
		},
		Needs: []string{"tools"},
		Watch: eachName(func(w *probe.Watch, tool part, name string) {
			if n := utf8.RuneCountInString(name); n < 1 || n > 128 {
				w.Fault(tool.m, tool.at+"/name", "the name has %d characters", n)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/characters-of-names", Rows: []string{"26.server.tools-026", "26.server.tools-027", "2511.server.tools-014", "2511.server.tools-015"},
			Does:    "Looks at the characters of the names of tools.",
			Accepts: "Letters and digits of ASCII, underscore, hyphen and dot.",
		},
		Needs: []string{"tools"},
		Watch: eachName(func(w *probe.Watch, tool part, name string) {
			if other := otherThanName.FindString(name); other != "" {
				w.Fault(tool.m, tool.at+"/name", "the name %q contains %q", name, other)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/unique-names", Rows: []string{"26.server.tools-028", "2511.server.tools-016"},
			Does:    "Looks for names that two tools have, on all pages of the list.",
			Accepts: "A name of its own for each tool.",
		},
		Needs: []string{"tools"},
		Watch: unique(toolList),
	},
	{
		Info: probe.Info{
			ID: "tools/case-of-names", Rows: []string{"26.server.tools-025", "2511.server.tools-013"},
			Does:    "Calls a tool that may be called by its name in another case.",
			Accepts: "Anything but success.",
			After:   []string{"tools/unknown"},
		},
		Needs: []string{needsTool},
		Run: func(x *X) probe.Finding {
			for _, c := range x.Offer.Callable {
				other := swapCase(c.Name)
				if other == c.Name || x.Offer.tool(other) != nil {
					continue
				}
				r := x.Call(mcp.MethodCallTool, call(other, c.Arguments))
				switch {
				case r.Response == nil:
					return unanswered(r)
				case ran(r):
					return probe.Fail(probe.OfReply(r), "the tool %s was called by the name %s", c.Name, other)
				default:
					return probe.Pass(probe.OfReply(r)...)
				}
			}
			return probe.Unverified("no tool that may be called has letters in its name")
		},
	},
}

var otherThanName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// eachName looks at the name of every tool that is listed.
func eachName(look func(w *probe.Watch, tool part, name string)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, tool := range x.entries(toolList) {
			if tool.isString("name") {
				w.Saw(tool.m)
				look(w, tool, tool.text("name"))
			}
		}
	}
}

// swapCase returns a name with small letters for capitals, and the reverse.
func swapCase(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
}

// unique looks for entries of a list that can't be told apart. An entry that is
// repeated on another page, word for word, is the fault of the pages.
func unique(l listing) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, walk := range x.walks(l) {
			seen := map[string]part{}
			for _, page := range walk {
				for _, entry := range page.items(l.member) {
					if !entry.isString(l.key) {
						continue
					}
					w.Saw(entry.m)
					key := entry.text(l.key)
					if first, ok := seen[key]; ok && (first.m == entry.m || !same(first.v, entry.v)) {
						w.FaultOf([]probe.Blame{{Message: entry.m, Pointer: entry.at + "/" + l.key}, {Message: first.m, Pointer: first.at + "/" + l.key}},
							"there are two %ss with the %s %q", l.what, l.key, key)
					}
					seen[key] = entry
				}
			}
		}
	}
}
