package clientprobe

import (
	"encoding/json"
	"maps"

	"github.com/parley-mcp/parley/internal/check/peer"
)

const fewCapabilities = "few-capabilities"

// oddScenarios are servers that do what is unusual, but right.
var oddScenarios = []Scenario{
	{
		Name: "odd", Does: "Sends members, notifications, capabilities and values that nobody knows but that are allowed.",
		Do:     "Connect; list the tools and call them.",
		Result: oddResult,
		Tool: map[string]func(*Turn) bool{"report": func(t *Turn) bool {
			t.Notify("notifications/parley/unknown", object{"odd": true})
			t.Mark("unknown", t.last("notifications/parley/unknown"))
			t.Notify("notifications/progress", object{"progressToken": "nobody-has-this-token", "progress": 1})
			t.Mark("progress", t.last("notifications/progress"))
			return false
		}},
	},
	{
		Name: "cancels", Does: "Cancels calls that are not its own, and requests that nobody made.",
		Do:    "Connect, and call a tool.",
		Needs: nil,
		Tool: map[string]func(*Turn) bool{"report": func(t *Turn) bool {
			for _, id := range []any{idOf(t.Request), "no-such-request"} {
				t.Notify("notifications/cancelled", object{"requestId": id, "reason": "to see what happens"})
			}
			t.Mark("cancelled", t.last("notifications/cancelled"))
			return false
		}},
	},
	{
		Name: "questions", Does: "Asks what any client can answer and what none knows, with IDs of all kinds.",
		Do:    "Connect, and call the tool report.",
		Needs: []string{needsSession},
		Tool:  map[string]func(*Turn) bool{"report": askOddly},
	},
	{
		Name: "requests", Does: "Sends requests, which a stateless server must not do.",
		Do:    "Connect, and call the tool report.",
		Needs: []string{needsStateless},
		Tool: map[string]func(*Turn) bool{"report": func(t *Turn) bool {
			for n, method := range []string{"ping", "roots/list", "parley/no-such-method"} {
				t.Send(object{"jsonrpc": "2.0", "id": 1000 + n, "method": method})
				t.Mark("asked", t.last(method))
			}
			return false
		}},
	},
	{
		Name: fewCapabilities, Does: "Declares tools, and nothing else.",
		Do: "Connect, and do what the client can do.",
		Result: func(t *Turn, result object) object {
			if _, ok := result["capabilities"]; ok {
				result = maps.Clone(result)
				result["capabilities"] = object{"tools": object{"listChanged": true}}
			}
			return result
		},
	},
	{
		Name: "references", Does: "Offers schemas that refer to schemas in the network.",
		Do: "Connect; list the tools and call them.",
		Result: func(t *Turn, result object) object {
			tools, _ := result["tools"].(list)
			for n, v := range tools {
				tool := maps.Clone(v.(object)) //nolint:forcetypeassert // it is ours
				tool["inputSchema"] = object{
					"type": "object", "properties": object{"other": object{"$ref": t.Origin + "/schemas/input.json"}},
				}
				if t.Facts.StructuredContent && tool["name"] == "add" {
					tool["outputSchema"] = object{"type": "object", "properties": object{"sum": object{"$ref": t.Other + "/schemas/output.json"}}}
				}
				tools[n] = tool
			}
			return result
		},
		Needs: []string{needsWeb},
	},
	{
		Name: "icons", Does: "Offers icons of all kinds of addresses.",
		Do: "Connect; look at the lists of tools, resources and prompts.",
		Result: func(t *Turn, result object) object {
			for _, member := range []string{"tools", "resources", "prompts", "resourceTemplates"} {
				all, _ := result[member].(list)
				for _, v := range all {
					if entry, ok := v.(object); ok {
						entry["icons"] = oddIcons(t.Stage)
					}
				}
			}
			return result
		},
		Visit: serveIcon,
		Needs: []string{"icons", needsWeb},
	},
}

// last is the newest message of a method that the server has sent.
func (s *Stage) last(method string) (last *peer.Message) {
	for _, m := range s.Log.Messages() {
		if m.Sent && m.Method == method {
			last = m
		}
	}
	return last
}

// oddResult adds to a result what the client does not know.
func oddResult(t *Turn, result object) object {
	result = maps.Clone(result)
	result["parleyUnknown"] = object{"big": json.Number("18446744073709551617"), "nothing": nil}
	if capabilities, ok := result["capabilities"].(object); ok {
		capabilities["parleyUnknown"] = object{"listChanged": "never"}
		capabilities["experimental"] = object{"com.example/odd": object{}}
	}
	odd := object{"com.example/a-b_c.d": 1, "odd": list{}, "com.example/": "", "traceparent": 7, "io.modelcontextprotocol/parley-unknown": nil}
	if meta, ok := result["_meta"].(object); ok {
		maps.Copy(odd, meta)
	}
	result["_meta"] = odd
	if tools, ok := result["tools"].(list); ok {
		for _, v := range tools {
			if tool, ok := v.(object); ok {
				tool["parleyUnknown"] = list{1, "two"}
			}
		}
	}
	return result
}

// askOddly asks with IDs of all kinds: the largest number is the last that JSON
// lets everybody read (RFC 8259, section 6). Marks remember what was asked.
func askOddly(t *Turn) bool {
	for n, id := range []any{0, -7, json.Number("9007199254740991"), "", "ü"} {
		t.askWith(id, "ping", nil)
		if n == 0 {
			t.Mark("ping", t.last("ping"))
		}
	}
	t.askWith("no-such-method", "parley/no-such-method", object{"odd": true})
	t.Mark("unknown", t.last("parley/no-such-method"))
	if _, ok := t.Capabilities()["roots"]; ok {
		t.askWith("roots", "roots/list", object{"_meta": object{"progressToken": "for-roots"}})
	}
	return false
}

func oddIcons(s *Stage) list {
	var all list
	for _, src := range []string{
		"javascript:fetch('" + s.Origin + "/icons/script')", "ws" + s.Origin[len("http"):] + "/icons/socket",
		s.Origin + "/icons/plain.png", s.Origin + "/icons/redirected.png", s.Other + "/icons/foreign.png",
	} {
		all = append(all, object{"src": src, "mimeType": "image/png"})
	}
	return all
}
