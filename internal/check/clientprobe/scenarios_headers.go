package clientprobe

import (
	"encoding/json"
	"maps"
	"slices"
)

// headerScenarios are servers that want headers of all kinds, in revisions that
// mirror values into them.
var headerScenarios = []Scenario{
	{
		Name: "header-mismatch", Does: "Refuses the first call of a tool because its headers do not match.",
		Do: "Connect, and call the tool mirror.", Needs: []string{needsHTTP, needsStateless},
		Tool: map[string]func(*Turn) bool{"mirror": func(t *Turn) bool {
			if t.Count("mismatch") > 0 {
				return false
			}
			t.Mark("refused", t.Request)
			t.Error(-32020, "Header mismatch", nil)
			return true
		}},
	},
	{
		Name: "bad-headers", Does: "Offers tools whose x-mcp-header breaks the rules, among good ones.",
		Do: "Connect; list the tools, and call all that there are.", Needs: []string{needsHTTP, needsStateless},
		Result: func(t *Turn, result object) object {
			all, ok := result["tools"].(list)
			if !ok || t.Params["cursor"] != nil {
				return result
			}
			schemas := badHeaders()
			for _, name := range slices.Sorted(maps.Keys(schemas)) {
				all = append(all, t.tool(name, "Break a rule", schemas[name]))
			}
			result["tools"] = all
			t.Mark("listed", t.Request)
			return result
		},
	},
	{
		Name: "odd-names", Does: "Offers resources and tools whose values do not go into headers as they are.",
		Do: "Connect; read all resources.", Needs: []string{needsHTTP, needsStateless},
		On: map[string]func(*Turn) bool{
			"resources/list": func(t *Turn) bool {
				t.Result(object{"resources": list{
					object{"uri": "test://zürich/ö", "name": "foreign"}, object{"uri": "test://plain", "name": "plain"},
				}})
				return true
			},
			"tools/list": func(t *Turn) bool {
				huge := object{"type": "integer", "x-mcp-header": "Huge", "enum": list{json.Number("9007199254740993")}}
				t.Result(object{"tools": list{t.tool("huge", "Take a large number", object{
					"type": "object", "properties": object{"huge": huge}, "required": list{"huge"},
				})}})
				return true
			},
			"resources/read": func(t *Turn) bool {
				t.Result(object{"contents": list{object{"uri": t.Request.Text("params/uri"), "text": "odd"}}})
				return true
			},
		},
	},
}

// badHeaders are schemas that break the rules for x-mcp-header, by the name of
// the tool.
//
// Spec: 2026-07-28 basic/transports/streamable-http#custom-headers-from-tool-parameters.
func badHeaders() map[string]object {
	of := func(properties object) object { return object{"type": "object", "properties": properties} }
	return map[string]object{
		"bad_empty":  of(object{"a": object{"type": "string", "x-mcp-header": ""}}),
		"bad_spaced": of(object{"a": object{"type": "string", "x-mcp-header": "My Region"}}),
		"bad_colon":  of(object{"a": object{"type": "string", "x-mcp-header": "Region:Primary"}}),
		"bad_twice": of(object{
			"a": object{"type": "string", "x-mcp-header": "Region"}, "b": object{"type": "string", "x-mcp-header": "REGION"},
		}),
		"bad_object": of(object{"a": object{"type": "object", "x-mcp-header": "Thing"}}),
		"bad_array":  of(object{"a": object{"type": "array", "items": object{"type": "string", "x-mcp-header": "Item"}}}),
	}
}
