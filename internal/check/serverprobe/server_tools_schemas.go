package serverprobe

import (
	"errors"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/schema"
)

var serverToolsSchemas = []Probe{
	{
		Info: probe.Info{
			ID: "tools/input-schema-is-object", Rows: []string{"26.server.tools-018", "2511.server.tools-009"},
			Does:    "Looks at the inputSchema of each tool.",
			Accepts: "A JSON object.",
			Mend:    `Give a tool without parameters the schema {"type":"object","additionalProperties":false}.`,
		},
		Needs: []string{"tools"},
		Watch: eachSchema([]string{"inputSchema"}, func(w *probe.Watch, s part) {
			if _, ok := s.v.(map[string]any); !ok {
				s.fault(w, "the inputSchema is not a JSON object")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/input-schema-type-object", Rows: []string{"26.server.tools-019", "26.schema-034", "2511.server.tools-008"},
			Does:    "Looks at the root of each inputSchema.",
			Accepts: `An object whose type is "object".`,
			Mend:    `Give the schema "type": "object".`,
			After:   []string{"tools/input-schema-is-object"},
		},
		Needs: []string{"tools"},
		Watch: eachSchema([]string{"inputSchema"}, func(w *probe.Watch, s part) {
			kind, given := s.get("type")
			if name, _ := kind.(string); given && !slices.Contains(schemaTypes, name) && invalid(s.v) != "" {
				return // it is no type at all
			}
			if kind != "object" {
				s.fault(w, `the type of the inputSchema is not "object"`)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/closed-without-parameters", Rows: []string{"26.server.tools-020", "2511.server.tools-011"},
			Does:    "Looks at the inputSchema of tools without parameters.",
			Accepts: `"additionalProperties": false.`,
			Mend:    `Give the tool the schema {"type":"object","additionalProperties":false}.`,
		},
		Needs: []string{"tools"},
		Watch: func(x *X, w *probe.Watch) {
			for _, tool := range x.entries(toolList) {
				s, ok := tool.member("inputSchema")
				if !ok || !takesNothing(s) {
					continue
				}
				w.Saw(tool.m)
				if more, _ := s.get("additionalProperties"); more != false {
					s.fault(w, `the tool takes no parameters, and its schema does not say "additionalProperties": false`)
				}
			}
			w.Nothing(probe.Unverified("every tool has parameters"))
		},
	},
	{
		Info: probe.Info{
			ID: "tools/schemas-are-valid",
			Rows: []string{
				"26.basic.index-045", "26.basic.index-039", "26.basic.index-041",
				"2511.basic-032", "2511.basic-025", "2511.basic-027",
			},
			Does:    "Compares each inputSchema and outputSchema with the meta-schema of its dialect, which is 2020-12 if it names none.",
			Accepts: "Schemas that are valid. Dialects and regular expressions that the checker does not know are left out.",
			After:   []string{"tools/input-schema-is-object"},
		},
		Needs: []string{"tools"},
		Watch: func(x *X, w *probe.Watch) {
			eachSchema([]string{"inputSchema", "outputSchema"}, func(w *probe.Watch, s part) {
				if why := invalid(s.v); why != "" {
					s.fault(w, "the schema is not valid: %s", why)
				}
			})(x, w)
		},
	},
	{
		Info: probe.Info{
			ID: "tools/dialect-of-schemas", Rows: []string{"2511.basic-029"},
			Does:    "Looks at the $schema of each schema.",
			Accepts: "None, or that of 2020-12.",
		},
		Needs: []string{"tools"},
		Watch: eachSchema([]string{"inputSchema", "outputSchema"}, func(w *probe.Watch, s part) {
			if s.has("$schema") && !is2020(s.text("$schema")) {
				w.Fault(s.m, s.at+"/$schema", "the dialect is %s, not 2020-12", peer.Encode(s.text("$schema")))
			}
		}),
	},
}

// eachSchema looks at the schemas of every tool that is listed.
func eachSchema(names []string, look func(*probe.Watch, part)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, tool := range x.entries(toolList) {
			for _, name := range names {
				if s, ok := tool.member(name); ok {
					w.Saw(tool.m)
					look(w, s)
				}
			}
		}
	}
}

// schemaTypes are the types of JSON Schema.
var schemaTypes = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// takesNothing reports whether a schema is that of a tool without parameters.
func takesNothing(s part) bool {
	members, ok := s.v.(map[string]any)
	if !ok || members["type"] != "object" {
		return false
	}
	for name, v := range members {
		switch name {
		case "type", "$schema", "title", "description", "required", "$defs", "definitions", "$id", "$comment":
		case "properties":
			if o, ok := v.(map[string]any); !ok || len(o) > 0 {
				return false
			}
		case "additionalProperties":
			if _, ok := v.(bool); !ok {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func is2020(dialect string) bool {
	d := strings.TrimSuffix(dialect, "#")
	return d == "https://json-schema.org/draft/2020-12/schema" || d == "http://json-schema.org/draft/2020-12/schema"
}

// invalid says why a schema contradicts the meta-schema of its dialect, or "".
// Only what a meta-schema says counts: what the compiler can't do does not.
func invalid(v any) string {
	o, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	if dialect, ok := o["$schema"].(string); ok && !schema.Supported(dialect) {
		return ""
	}
	if _, err := schema.Compile(peer.Encode(v)); err != nil && !errors.Is(err, schema.ErrPattern) && strings.HasPrefix(err.Error(), "schema is invalid") {
		return err.Error()
	}
	return ""
}
