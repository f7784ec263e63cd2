package serverprobe

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/probe"
)

// headerKeyword marks a parameter that is mirrored into a header.
const headerKeyword = "x-mcp-header"

var serverToolsHeaders = []Probe{
	{
		Info: probe.Info{
			ID: "tools/header-not-empty", Rows: []string{"26.server.tools-031", "26.basic.transports.http-047"},
			Does:    "Looks at each x-mcp-header in the schemas of tools.",
			Accepts: "A string that is not empty.",
		},
		Needs: []string{needsStateless, "tools"},
		Watch: eachMark(func(w *probe.Watch, m mark) {
			if name, ok := m.value.v.(string); !ok || name == "" {
				m.value.fault(w, "x-mcp-header is empty, or no string")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/header-token", Rows: []string{"26.server.tools-032", "26.basic.transports.http-048", "26.basic.transports.http-049"},
			Does:    "Looks at the characters of each x-mcp-header.",
			Accepts: "Those of a field name of HTTP.",
		},
		Needs: []string{needsStateless, "tools"},
		Watch: eachMark(func(w *probe.Watch, m mark) {
			if name, _ := m.value.v.(string); name != "" && !headerToken.MatchString(name) {
				m.value.fault(w, "%q is not a token of HTTP", name)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/header-unique", Rows: []string{"26.server.tools-033", "26.basic.transports.http-050"},
			Does:    "Compares the x-mcp-header values of a schema.",
			Accepts: "Values that differ in more than capitals.",
		},
		Needs: []string{needsStateless, "tools"},
		Watch: func(x *X, w *probe.Watch) {
			for _, tool := range x.entries(toolList) {
				seen := map[string]bool{}
				for _, m := range marks(tool) {
					w.Saw(tool.m)
					name, _ := m.value.v.(string)
					if name = strings.ToLower(name); name != "" && seen[name] {
						m.value.fault(w, "two parameters are mirrored into the header Mcp-Param-%s", name)
					}
					seen[name] = true
				}
			}
			w.Nothing(noMarks())
		},
	},
	{
		Info: probe.Info{
			ID: "tools/header-of-primitive", Rows: []string{"26.server.tools-034", "26.basic.transports.http-051", "26.basic.transports.http-052"},
			Does:    "Looks at the types of the parameters that have an x-mcp-header.",
			Accepts: "integer, string or boolean; bounds, defaults and choices of integers within 2^53-1.",
		},
		Needs: []string{needsStateless, "tools"},
		Watch: eachMark(func(w *probe.Watch, m mark) {
			kind, _ := m.schema.get("type")
			if name, _ := kind.(string); !slices.Contains([]string{"integer", "string", "boolean"}, name) {
				m.schema.fault(w, "the parameter is no integer, string or boolean")
				return
			}
			for _, name := range []string{"minimum", "maximum", "const", "default"} {
				if n, ok := m.schema.number(name); ok && kind == "integer" && math.Abs(n) > 1<<53-1 {
					w.Fault(m.schema.m, m.schema.at+"/"+name, "the integer is beyond what a double holds exactly")
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/header-reachable", Rows: []string{"26.server.tools-035", "26.basic.transports.http-054"},
			Does:    "Looks at where in a schema an x-mcp-header stands.",
			Accepts: "Properties that are reached by nothing but properties.",
			Mend:    "Move the parameter out of arrays, composition, conditions and references.",
		},
		Needs: []string{needsStateless, "tools"},
		Watch: eachMark(func(w *probe.Watch, m mark) {
			if !m.reachable {
				m.value.fault(w, "it is not reached from the root by properties alone")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tools/header-not-sensitive", Rows: []string{"26.server.tools-039"},
			Does:    "Looks at the names of the parameters that have an x-mcp-header.",
			Accepts: "Names that do not speak of passwords, keys or tokens.",
		},
		Needs: []string{needsStateless, "tools"},
		Watch: eachMark(func(w *probe.Watch, m mark) {
			if m.schema.text("format") == "password" || sensitive.MatchString(m.name) {
				m.value.fault(w, "the parameter %q sounds secret, and intermediaries see headers", m.name)
			}
		}),
	},
}

var (
	headerToken = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	sensitive   = regexp.MustCompile(`(?i)(^|[_.-])(password|passwd|passphrase|secret|api[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token|credentials?|ssn|social[_-]?security)($|[_.-])|(?:apiKey|accessToken|authToken)$`)
)

// mark is a place with an x-mcp-header.
type mark struct {
	name      string // of the property
	schema    part   // of the parameter
	value     part
	reachable bool
}

// eachMark looks at every x-mcp-header of every tool.
func eachMark(look func(*probe.Watch, mark)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, tool := range x.entries(toolList) {
			for _, m := range marks(tool) {
				w.Saw(tool.m)
				look(w, m)
			}
		}
		w.Nothing(noMarks())
	}
}

func noMarks() probe.Finding { return probe.NotApplicable("no tool has a parameter with x-mcp-header") }

// marks finds the x-mcp-header keywords in the schema of a tool.
func marks(tool part) []mark {
	s, ok := tool.member("inputSchema")
	if !ok {
		return nil
	}
	var all []mark
	walkSchema(s, "", true, func(name string, s part, reachable bool) {
		if v, ok := s.member(headerKeyword); ok {
			all = append(all, mark{name, s, v, reachable && name != ""})
		}
	})
	return all
}

// Where schemas have schemas.
var (
	schemaKeywords     = []string{"items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "contains", "propertyNames", "not", "if", "then", "else", "contentSchema"}
	schemaListKeywords = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	schemaMapKeywords  = []string{"patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// walkSchema visits a schema and all within it. reachable is set as long as
// nothing but properties led there.
func walkSchema(s part, name string, reachable bool, visit func(name string, s part, reachable bool)) {
	if _, ok := s.v.(map[string]any); !ok || strings.Count(s.at, "/") > 100 {
		return
	}
	visit(name, s, reachable)
	within := func(keyword string, reachable bool) {
		v, _ := s.get(keyword)
		members, _ := v.(map[string]any)
		for key, sub := range members {
			walkSchema(part{s.m, s.at + "/" + pointer(keyword) + "/" + pointer(key), sub}, key, reachable, visit)
		}
	}
	within("properties", reachable)
	for _, keyword := range schemaMapKeywords {
		within(keyword, false)
	}
	for _, keyword := range schemaKeywords {
		if sub, ok := s.member(keyword); ok {
			walkSchema(sub, name, false, visit)
		}
	}
	for _, keyword := range schemaListKeywords {
		for _, sub := range s.items(keyword) {
			walkSchema(sub, name, false, visit)
		}
	}
}
