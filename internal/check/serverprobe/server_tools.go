package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var serverTools = []Probe{
	{
		Info: probe.Info{
			ID: "tools/declared", Rows: []string{"26.server.tools-006", "2511.server.tools-005", "26.architecture-004", "2511.architecture-002"},
			Does:    "Looks for the capability tools, and asks for tools if it is not there.",
			Accepts: "The capability, or no tools.",
			Mend:    "Declare the capability tools.",
		},
		Run: declaresList(toolList),
	},
	{
		Info: probe.Info{
			ID: "tools/list-answers", Rows: []string{"26.server.tools-008", "2511.schema-013"},
			Does:    "Asks for the tools.",
			Accepts: "A result with an array of tools, which may be empty.",
		},
		Needs: []string{"tools"},
		Run:   answersList(toolList),
	},
	{
		Info: probe.Info{
			ID: "tools/same-on-every-connection", Rows: []string{"26.server.tools-009"},
			Does:    "Lists the tools on two connections.",
			Accepts: "The same tools on both.",
			Mend:    "Keep nothing about a connection that decides which tools there are.",
			After:   []string{"tools/list-answers"},
		},
		Needs: []string{needsStateless, "tools"},
		Run:   func(x *X) probe.Finding { return x.sameElsewhere(toolList) },
	},
	{
		Info: probe.Info{
			ID: "tools/same-after-requests", Rows: []string{"26.server.tools-010"},
			Does:    "Lists the tools, calls them, and lists them again there and on another connection.",
			Accepts: "The same tools, or a change that every connection sees.",
			After:   []string{"tools/list-answers"},
		},
		Needs: []string{needsStateless, "tools"},
		Run:   func(x *X) probe.Finding { return x.sameAfterward(toolList) },
	},
	{
		Info: probe.Info{
			ID: "tools/order", Rows: []string{"26.server.tools-012", "26.changelog-007"},
			Does:    "Lists the tools several times.",
			Accepts: "The same order as long as the tools are the same.",
			Mend:    "Keep the tools in a list, or sort them; do not iterate over a hash map.",
			After:   []string{"tools/list-answers"},
		},
		Needs: []string{needsStateless, "tools"},
		Run:   func(x *X) probe.Finding { return x.sameOrder(toolList) },
	},
	{
		Info: probe.Info{
			ID: "tools/list-changes-declared", Rows: []string{"26.server.tools-007"},
			Does:    "Looks for announcements that the list of tools has changed.",
			Accepts: "None, unless tools.listChanged is declared.",
			Mend:    "Declare tools.listChanged.",
		},
		Needs: []string{"tools"},
		Watch: announcesOnlyDeclared(toolList, mcp.NoteToolsChanged),
	},
	{
		Info: probe.Info{
			ID: "tools/name-and-schema", Rows: []string{"26.server.tools-022", "2511.server.tools-041"},
			Does:    "Looks at each tool that is listed.",
			Accepts: "A name, which is a string, and an inputSchema.",
		},
		Needs: []string{"tools"},
		Watch: each(entriesOf(toolList), func(w *probe.Watch, tool part) {
			if !tool.isString("name") {
				tool.fault(w, "the tool has no name that is a string")
			}
			if !tool.has("inputSchema") {
				tool.fault(w, "the tool has no inputSchema")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/types-of-members", Rows: []string{"2511.server.tools-042"},
			Does:    "Looks at the description of each tool.",
			Accepts: "A string, or none.",
		},
		Needs: []string{"tools"},
		Watch: each(entriesOf(toolList), func(w *probe.Watch, tool part) { wantText(w, tool, "description") }),
	},
	{
		Info: probe.Info{
			ID: "tools/types-of-annotations", Rows: []string{"2511.server.tools-043"},
			Does:    "Looks at the annotations of each tool.",
			Accepts: "A title that is a string, and hints that are booleans.",
		},
		Needs: []string{"tools"},
		Watch: func(x *X, w *probe.Watch) {
			for _, tool := range x.entries(toolList) {
				notes, ok := tool.member("annotations")
				if !ok {
					continue
				}
				w.Saw(tool.m)
				wantText(w, notes, "title")
				for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
					if v, ok := notes.get(hint); ok && v != true && v != false {
						w.Fault(notes.m, notes.at+"/"+hint, "%s is not a boolean", hint)
					}
				}
			}
			w.Nothing(probe.Unverified("no tool has annotations"))
		},
	},
}
