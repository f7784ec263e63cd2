package sample

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/jsonptr"
	"github.com/parley-mcp/parley/internal/schema"
)

// mend returns what is left of a schema without the keywords that are mistaken:
// those with a value of the wrong form, patterns that can't be matched, and
// references to nowhere.
func mend(text json.RawMessage) (json.RawMessage, bool) {
	doc, err := schema.Decode(text)
	if err != nil {
		return nil, false
	}
	m := mender{root: doc}
	better, ok := m.schema(doc)
	if !ok {
		return nil, false
	}
	out, err := json.Marshal(better)
	return out, err == nil
}

type mender struct{ root any }

// schema returns the good part of a schema; ok is false for what is none.
func (m mender) schema(v any) (better any, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case map[string]any:
		out := map[string]any{}
		for keyword, value := range v {
			if name, value, ok := m.keyword(keyword, value); ok {
				out[name] = value
			}
		}
		return out, true
	}
	return nil, false
}

// keyword returns a keyword with the good part of its value.
func (m mender) keyword(name string, v any) (as string, better any, ok bool) {
	switch name {
	case "type":
		better, ok = types(v)
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		better, ok = m.named(v, name == "patternProperties")
	case "items", "prefixItems", "additionalItems":
		if list, isList := v.([]any); isList { // the form of older drafts
			better, ok = m.list(list)
			return "prefixItems", better, ok
		}
		better, ok = m.schema(v)
	case "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else":
		better, ok = m.schema(v)
	case "allOf", "anyOf", "oneOf":
		list, _ := v.([]any)
		better, ok = m.list(list)
	case "required":
		better, ok = texts(v)
	case "enum", "examples":
		list, isList := v.([]any)
		better, ok = list, isList && len(list) > 0
	case "const", "default":
		better, ok = v, true
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		better, ok = v.(json.Number)
	case "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		n, isNumber := v.(json.Number)
		better, ok = n, isNumber && !strings.HasPrefix(string(n), "-")
	case "uniqueItems":
		better, ok = v.(bool)
	case "pattern":
		better, ok = v, isPattern(v)
	case "format":
		better, ok = v.(string)
	case "$ref":
		better, ok = v, m.resolves(v)
	}
	return name, better, ok
}

func (m mender) named(v any, byPattern bool) (any, bool) {
	of, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	out := map[string]any{}
	for name, s := range of {
		if byPattern && !isPattern(name) {
			continue
		}
		if better, ok := m.schema(s); ok {
			out[name] = better
		}
	}
	return out, true
}

func (m mender) list(all []any) (any, bool) {
	var out []any
	for _, s := range all {
		if better, ok := m.schema(s); ok {
			out = append(out, better)
		}
	}
	return out, len(out) > 0
}

// resolves reports whether a reference leads to a place in the schema.
func (m mender) resolves(ref any) bool {
	text, _ := ref.(string)
	rest, inside := strings.CutPrefix(text, "#")
	if !inside {
		return false
	}
	at := m.root
	for step := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		if rest == "" {
			break
		}
		of, _ := at.(map[string]any)
		if at = of[jsonptr.Unescape(step)]; at == nil {
			return false
		}
	}
	return true
}

func types(v any) (any, bool) {
	known := []string{"object", "array", "string", "integer", "number", "boolean", "null"}
	if name, ok := v.(string); ok {
		return name, slices.Contains(known, name)
	}
	list, _ := texts(v)
	list = slices.DeleteFunc(list, func(name string) bool { return !slices.Contains(known, name) })
	return list, len(list) > 0
}

// texts returns the strings in a list, each once.
func texts(v any) ([]string, bool) {
	list, ok := v.([]any)
	var out []string
	for _, item := range list {
		if text, isText := item.(string); isText && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, ok && len(out) > 0
}

func isPattern(v any) bool {
	text, ok := v.(string)
	if !ok {
		return false
	}
	_, err := regexp.Compile(text)
	return err == nil
}
