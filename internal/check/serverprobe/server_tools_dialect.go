package serverprobe

import (
	"maps"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/mcp"
)

var serverToolsDialect = []Probe{
	{
		Info: probe.Info{
			ID: "tools/validates-by-dialect", Rows: []string{"26.basic.index-043", "26.basic.index-041", "2511.basic-030", "2511.basic-027"},
			Does:    "Calls a tool with arguments that its schema refuses in the dialect 2020-12, and would accept in draft-07.",
			Accepts: "Anything but success.",
			Mend:    "Validate by a library that knows 2020-12, and let it take that dialect where the schema names none.",
			After:   []string{"tools/validates-inputs"},
		},
		Needs: []string{needsTool},
		Run: func(x *X) probe.Finding {
			for _, c := range x.Offer.Callable {
				arguments := onlyNewDialect(c)
				if arguments == nil {
					continue
				}
				r := x.Call(mcp.MethodCallTool, call(c.Name, arguments))
				switch {
				case ran(r):
					return probe.Fail(probe.OfReply(r), "the call succeeds although its arguments break the schema as 2020-12 reads it")
				case r.Response == nil && (r.Exchange == nil || r.Exchange.Status < 400):
					return unanswered(r)
				default:
					return probe.Pass(probe.OfReply(r)...)
				}
			}
			return probe.Unverified("no tool that may be called has a schema that reads otherwise in an older dialect")
		},
	},
}

// onlyNewDialect makes arguments that a schema without a dialect refuses, and
// the same schema as draft-07 accepts; nil if there are none such.
func onlyNewDialect(c Callable) map[string]any {
	o, ok := c.Tool["inputSchema"].(map[string]any)
	if _, named := o["$schema"]; !ok || named || len(marks(part{v: c.Tool})) > 0 {
		return nil
	}
	old := maps.Clone(o)
	old["$schema"] = "http://json-schema.org/draft-07/schema#"
	newer, err := schema.Compile(peer.Encode(o))
	older, errOld := schema.Compile(peer.Encode(old))
	if err != nil || errOld != nil {
		return nil
	}
	for name, v := range c.Arguments {
		list, _ := v.([]any)
		for n := range list {
			arguments := maps.Clone(c.Arguments)
			other := append([]any(nil), list...)
			other[n] = map[string]any{"parley": "wrong"}
			arguments[name] = other
			raw := peer.Encode(arguments)
			if newer.Validate(raw) != nil && older.Validate(raw) == nil {
				return arguments
			}
		}
	}
	return nil
}
