package config

import "go.yaml.in/yaml/v4"

// secret is a text with references.
type secret struct {
	into *Text
	rule rule
}

func (v secret) preset()          { *v.into = Text{} }
func (v secret) expects() string  { return v.rule.is }
func (v secret) fallback() string { return "" }

// schema allows numbers and booleans, whose text counts, as that of a port in a variable.
func (v secret) schema() schema {
	return schema{"type": []string{"string", "number", "boolean"}}
}

func (v secret) read(r *reader, n *yaml.Node, at where) {
	if n.Kind != yaml.ScalarNode || !isPlainScalar(n.ShortTag()) {
		r.wrong(v, n, at)
		return
	}
	t := newText(written{n.Value, v.rule, r.mistake(n.Line, n.Column, at, nil), &r.env})
	references := false
	err := t.parts(func(string) {}, func(ref string) error {
		references = true
		_, _, _, _, err := split(ref)
		return err
	})
	switch {
	case err != nil:
		r.fault(n, at, "%w", err)
	case !references && !v.rule.check(n.Value):
		r.fault(n, at, "this does not fit; it must be %s", v.rule.is)
	}
	*v.into = t
}

func isPlainScalar(tag string) bool {
	switch tag {
	case "!!str", "!!timestamp", "!!int", "!!float", "!!bool":
		return true
	}
	return false
}
