package config

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// section is a mapping whose keys are known.
type section interface{ keys() []key }

// alternative is a section of whose keys some exclude each other.
type alternative interface {
	// oneOf returns those keys, and whether there must be one of them.
	oneOf() (names []string, must bool)
}

// object is the value of a key that has keys itself.
type object struct{ into section }

func (v object) expects() string {
	names := names(v.into.keys())
	const most = 6
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return "a mapping with keys such as " + strings.Join(names, ", ")
}

func (v object) fallback() string { return "" }

func (v object) inner() (keys []key, stands string) { return v.into.keys(), "" }

func (v object) preset() {
	for _, k := range v.into.keys() {
		k.value.preset()
	}
}

func names(keys []key) []string {
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		names = append(names, k.name)
	}
	return names
}

func (v object) read(r *reader, n *yaml.Node, at where) {
	v.preset()
	keys, found := v.into.keys(), map[string]*yaml.Node{}
	r.members(v, n, at, func(name string, k, value *yaml.Node) {
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		if i < 0 {
			r.fault(k, at.key(name), "there is no such key; %s", meant(name, names(keys)))
			return
		}
		found[name] = k
		r.value(keys[i].value, value, at.key(name))
	})
	if n.Kind != yaml.MappingNode {
		return
	}
	for _, k := range keys {
		here := found[k.name]
		switch {
		case here == nil && k.required:
			r.fault(n, at, "the key %s is missing", k.name)
		case here != nil && k.with != "" && found[k.with] == nil:
			r.fault(here, at.key(k.name), "this is only for what has the key %s", k.with)
		}
	}
	if a, ok := v.into.(alternative); ok {
		v.exclude(r, n, at, a, found)
	}
}

// exclude reports keys that exclude each other.
func (v object) exclude(r *reader, n *yaml.Node, at where, a alternative, found map[string]*yaml.Node) {
	first := ""
	options, must := a.oneOf()
	for _, name := range options {
		switch {
		case found[name] == nil:
		case first == "":
			first = name
		default:
			r.fault(found[name], at.key(name), "%s is there, too; there can be one of %s", first, strings.Join(options, ", "))
		}
	}
	if first == "" && must {
		r.fault(n, at, "one of the keys %s is missing", strings.Join(options, ", "))
	}
}

func (v object) schema() schema {
	properties, required, with := schema{}, []string{}, schema{}
	for _, k := range v.into.keys() {
		s := k.value.schema()
		s["description"] = k.doc
		if f := k.value.fallback(); f != "" {
			s["default"] = jsonOf(f)
		}
		properties[k.name] = s
		if k.required {
			required = append(required, k.name)
		}
		if k.with != "" {
			with[k.name] = []string{k.with}
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	if len(with) > 0 {
		s["dependentRequired"] = with
	}
	if a, ok := v.into.(alternative); ok {
		exclusive(s, a)
	}
	return s
}

// list is a list of values of one kind.
type list[T any] struct {
	into    *[]T
	element func(*T) value
	// least is how many there must be, if the key is there.
	least int
}

func (v list[T]) preset()          { *v.into = nil }
func (v list[T]) fallback() string { return "" }

// one returns what an element can be.
func (v list[T]) one() value { return v.element(new(T)) }

func (v list[T]) inner() (keys []key, stands string) {
	if keys, _ = innerOf(v.one()); keys == nil {
		return nil, ""
	}
	return keys, "[N]"
}

func (v list[T]) expects() string {
	if v.least > 0 {
		return "a list that is not empty, each of it " + v.one().expects()
	}
	return "a list, each of it " + v.one().expects()
}

func (v list[T]) schema() schema {
	s := schema{"type": "array", "items": v.one().schema()}
	if v.least > 0 {
		s["minItems"] = v.least
	}
	return s
}

func (v list[T]) read(r *reader, n *yaml.Node, at where) {
	if n.Kind != yaml.SequenceNode || n.ShortTag() != "!!seq" {
		r.wrong(v, n, at)
		return
	}
	if len(n.Content) < v.least {
		r.fault(n, at, "the list is empty")
	}
	*v.into = make([]T, len(n.Content))
	for i, element := range n.Content {
		r.value(v.element(&(*v.into)[i]), element, at.index(i))
	}
}

// table is a mapping whose keys are up to whoever writes the file.
type table[T any] struct {
	into *[]T
	// member gives a new member its name, and says what it can be.
	member func(name string, into *T) value
	// stands stands for the names where the format is described.
	stands string
	rule   rule
}

// placed is a member that is told where it stands.
type placed interface{ place(at *target.Error) }

func (v table[T]) preset()          { *v.into = nil }
func (v table[T]) fallback() string { return "" }
func (v table[T]) expects() string  { return "a mapping from " + v.rule.is + " to " + v.one().expects() }

// one returns what a member can be.
func (v table[T]) one() value { return v.member("", new(T)) }

func (v table[T]) inner() (keys []key, stands string) {
	keys, _ = innerOf(v.one())
	return keys, v.stands
}

func (v table[T]) schema() schema {
	s := schema{"type": "object", "additionalProperties": v.one().schema()}
	if v.rule.pattern != "" {
		s["propertyNames"] = schema{"pattern": v.rule.pattern}
	}
	return s
}

func (v table[T]) read(r *reader, n *yaml.Node, at where) {
	*v.into = nil
	r.members(v, n, at, func(name string, k, value *yaml.Node) {
		if !v.rule.check(name) {
			r.fault(k, at.key(name), "this does not fit; it must be %s", v.rule.is)
		}
		var one T
		r.value(v.member(name, &one), value, at.key(name))
		*v.into = append(*v.into, one)
		if p, ok := any(&(*v.into)[len(*v.into)-1]).(placed); ok {
			p.place(r.mistake(k.Line, k.Column, at.key(name), nil))
		}
	})
}
