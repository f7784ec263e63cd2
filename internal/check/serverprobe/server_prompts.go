package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var serverPrompts = []Probe{
	{
		Info: probe.Info{
			ID: "prompts/declared", Rows: []string{"26.server.prompts-002", "2511.server.prompts-001", "26.architecture-004", "2511.architecture-002"},
			Does:    "Looks for the capability prompts, and asks for prompts if it is not there.",
			Accepts: "The capability, or no prompts.",
			Mend:    "Declare the capability prompts.",
		},
		Run: declaresList(promptList),
	},
	{
		Info: probe.Info{
			ID: "prompts/list-answers", Rows: []string{"26.server.prompts-003", "2511.schema-013"},
			Does:    "Asks for the prompts.",
			Accepts: "A result with an array of prompts, which may be empty.",
		},
		Needs: []string{"prompts"},
		Run:   answersList(promptList),
	},
	{
		Info: probe.Info{
			ID: "prompts/same-for-all", Rows: []string{"26.server.prompts-004"},
			Does:    "Lists the prompts, uses what the server offers, and lists them again there and on another connection.",
			Accepts: "The same prompts, or a change that every connection sees.",
			After:   []string{"prompts/list-answers"},
		},
		Needs: []string{needsStateless, "prompts"},
		Run:   func(x *X) probe.Finding { return x.sameForAll(promptList) },
	},
	{
		Info: probe.Info{
			ID: "prompts/list-changes-declared", Rows: []string{"26.server.prompts-023", "2511.server.prompts-015"},
			Does:    "Looks for announcements that the list of prompts has changed.",
			Accepts: "None, unless prompts.listChanged is declared.",
			Mend:    "Declare prompts.listChanged.",
		},
		Needs: []string{"prompts"},
		Watch: announcesOnlyDeclared(promptList, mcp.NotePromptsChanged),
	},
	{
		Info: probe.Info{
			ID: "prompts/has-name", Rows: []string{"26.server.prompts-010", "2511.server.prompts-017"},
			Does:    "Looks at each prompt that is listed.",
			Accepts: "A name, which is a string.",
		},
		Needs: []string{"prompts"},
		Watch: each(entriesOf(promptList), func(w *probe.Watch, p part) {
			if !p.isString("name") {
				p.fault(w, "the prompt has no name that is a string")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "prompts/unique-names", Rows: []string{"26.server.prompts-010"},
			Does:    "Looks for names that two prompts have, on all pages of the list.",
			Accepts: "A name of its own for each prompt.",
		},
		Needs: []string{"prompts"},
		Watch: unique(promptList),
	},
	{
		Info: probe.Info{
			ID: "prompts/types-of-members", Rows: []string{"2511.server.prompts-018"},
			Does:    "Looks at description and arguments of each prompt.",
			Accepts: "A string, and an array of objects with a name.",
		},
		Needs: []string{"prompts"},
		Watch: each(entriesOf(promptList), func(w *probe.Watch, p part) {
			wantText(w, p, "description")
			if v, ok := p.get("arguments"); ok && !isArray(v) {
				w.Fault(p.m, p.at+"/arguments", "the arguments are not an array")
			}
			for _, argument := range p.items("arguments") {
				if !argument.isString("name") {
					argument.fault(w, "the argument has no name that is a string")
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "prompts/get-has-messages", Rows: []string{"26.server.prompts-007", "26.schema-011", "2511.server.prompts-019"},
			Does:    "Looks at what prompts/get gives.",
			Accepts: "messages, an array.",
		},
		Needs: []string{"prompts"},
		Watch: each(resultsOf(mcp.MethodGetPrompt), func(w *probe.Watch, r part) {
			if v, _ := r.get("messages"); !isArray(v) {
				r.fault(w, "the result has no array messages")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "prompts/roles", Rows: []string{"26.server.prompts-011", "2511.server.prompts-004"},
			Does:    "Looks at the role of each message.",
			Accepts: `"user" or "assistant".`,
		},
		Needs: []string{"prompts"},
		Watch: each((*X).messagesOfPrompts, func(w *probe.Watch, m part) {
			if role, _ := m.get("role"); role != "user" && role != "assistant" {
				w.Fault(m.m, m.at+"/role", `the role is neither "user" nor "assistant"`)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "prompts/one-block", Rows: []string{"26.server.prompts-007", "2511.server.prompts-004"},
			Does:    "Looks at the content of each message.",
			Accepts: "One block, which is an object with a type.",
		},
		Needs: []string{"prompts"},
		Watch: each((*X).messagesOfPrompts, func(w *probe.Watch, m part) {
			if content, _ := m.member("content"); !content.isString("type") {
				m.fault(w, "the content of the message is no object with a type")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "prompts/unknown", Rows: []string{"26.server.prompts-018", "2511.server.prompts-010"},
			Does:    "Gets a prompt that does not exist.",
			Accepts: "The error -32602.",
		},
		Needs: []string{"prompts"},
		Run: func(x *X) probe.Finding {
			return wantError(x.Call(mcp.MethodGetPrompt, call(noSuch, map[string]any{})), -32602)
		},
	},
	{
		Info: probe.Info{
			ID: "prompts/missing-arguments", Rows: []string{"26.server.prompts-019", "2511.server.prompts-011"},
			Does:    "Gets a prompt without an argument that it requires.",
			Accepts: "The error -32602.",
		},
		Needs: []string{"prompts"},
		Run: func(x *X) probe.Finding {
			for _, p := range x.Offer.Prompts {
				list, _ := p["arguments"].([]any)
				if slices.ContainsFunc(list, func(v any) bool { needed, _ := peer.Get(v, "required"); return needed == true }) {
					return wantError(x.Call(mcp.MethodGetPrompt, call(textOf(p, "name"), map[string]any{})), -32602)
				}
			}
			return probe.NotApplicable("no prompt requires an argument")
		},
	},
	{
		Info: probe.Info{
			ID: "prompts/internal-errors", Rows: []string{"26.server.prompts-020", "2511.server.prompts-012"},
			Does:    "Looks at errors of prompts that say that they are internal ones.",
			Accepts: "The code -32603.",
		},
		Needs: []string{"prompts"},
		Watch: internalErrors(mcp.MethodGetPrompt),
	},
	{
		Info: probe.Info{
			ID: "prompts/validates-arguments", Rows: []string{"26.server.prompts-021", "2511.server.prompts-013"},
			Does:    "Gets a prompt with a number for an argument: arguments are strings.",
			Accepts: "Anything but success.",
		},
		Needs: []string{"prompts"},
		Run: func(x *X) probe.Finding {
			for _, p := range x.Offer.Prompts {
				name, ok := p["name"].(string)
				if names := argumentsOf(p); ok && len(names) > 0 {
					arguments := map[string]any{}
					for _, argument := range names {
						arguments[argument] = 42
					}
					return wantRefusal(x.Call(mcp.MethodGetPrompt, call(name, arguments)))
				}
			}
			return probe.NotApplicable("no prompt has arguments")
		},
	},
}
