package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxPlain is how many subschemas a plain schema may have: few enough for it
// to be compiled while a call waits.
const maxPlain = 500

// plain looks at a decoded schema for what would keep it from being compiled.
// Most schemas of tools use nothing but keywords whose values can be checked
// one by one, and no references: such a schema is known to compile, so that
// need not be done before somebody asks for what its quick form cannot tell.
type plain struct {
	subschemas int
	patterns   *patterns
	// fills says that there is a default.
	fills bool
}

// root reports whether doc is plain. Older dialects than draft-07 have other
// rules.
func (p *plain) root(doc any) bool {
	obj, ok := doc.(map[string]any)
	if !ok {
		return false
	}
	for name, v := range obj {
		if name == "$schema" {
			if !isRecent(v) {
				return false
			}
			continue
		}
		if !p.keyword(name, v) {
			return false
		}
	}
	return true
}

// isRecent reports whether v, which names a dialect, is a URI of draft-07 or
// later.
func isRecent(v any) bool {
	name, _ := v.(string)
	return strings.HasPrefix(name, "http") && !strings.Contains(name, "/draft-04/") && !strings.Contains(name, "/draft-06/")
}

func (p *plain) schema(v any) bool {
	if p.subschemas++; p.subschemas > maxPlain {
		return false
	}
	switch v := v.(type) {
	case bool:
		return true
	case map[string]any:
		for name, value := range v {
			if !p.keyword(name, value) {
				return false
			}
		}
		return true
	}
	return false
}

// keyword reports whether a keyword has a value that is right beyond doubt.
func (p *plain) keyword(name string, v any) bool {
	k := keywordOf(name)
	if name == "default" {
		p.fills = true
	}
	return !k.intricate && p.fits(k.value, v)
}

// fits reports whether the value of a keyword has the form that it needs.
func (p *plain) fits(f form, v any) bool {
	switch f {
	case anyForm:
		return true
	case listForm:
		return is[[]any](v)
	case choiceForm: // whether values of other kinds than strings are equal is not for here to say
		list, _ := v.([]any)
		return len(list) > 0 && isNames(v)
	case textForm:
		return is[string](v)
	case flagForm:
		return is[bool](v)
	case numberForm:
		return is[json.Number](v)
	case positiveForm:
		n, ok := v.(json.Number)
		return ok && rat(n).Sign() > 0
	case countForm:
		_, ok := count(v)
		return ok
	case patternForm:
		expr, ok := v.(string)
		return ok && p.patterns.get(expr) != nil
	case typesForm:
		return isTypes(v)
	case namesForm:
		return isNames(v)
	case schemaForm:
		return p.schema(v)
	case schemasForm:
		list, ok := v.([]any)
		return ok && len(list) > 0 && !slices.ContainsFunc(list, func(sub any) bool { return !p.schema(sub) })
	case namedForm:
		return p.named(v)
	case intricateForm:
	}
	return false
}

func (p *plain) named(v any) bool {
	obj, ok := v.(map[string]any)
	for _, sub := range obj {
		if !p.schema(sub) {
			return false
		}
	}
	return ok
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

var typeNames = []string{"null", "boolean", "string", "number", "integer", "array", "object"}

func isTypes(v any) bool {
	if name, ok := v.(string); ok {
		return slices.Contains(typeNames, name)
	}
	list, _ := v.([]any)
	unknown := func(v any) bool { name, _ := v.(string); return !slices.Contains(typeNames, name) }
	return len(list) > 0 && isNames(v) && !slices.ContainsFunc(list, unknown)
}

// isNames reports whether v is a list of strings, each another one.
func isNames(v any) bool {
	list, ok := v.([]any)
	seen := make(map[string]bool, len(list))
	for _, item := range list {
		name, isString := item.(string)
		if !isString || seen[name] {
			return false
		}
		seen[name] = true
	}
	return ok
}

// count returns a number of things; ok is false for what is none, or written
// in an unusual way.
func count(v any) (n int, ok bool) {
	text, ok := v.(json.Number)
	if !ok || len(text) > len(maxCount) {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
