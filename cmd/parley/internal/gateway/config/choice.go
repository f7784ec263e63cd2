package config

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// option is one of the values that a choice has.
type option[T comparable] struct {
	name  string
	value T
}

// choice is one of a few words. The first holds without the key.
type choice[T comparable] struct {
	into    *T
	options []option[T]
}

func (v choice[T]) preset()          { *v.into = v.options[0].value }
func (v choice[T]) fallback() string { return v.options[0].name }
func (v choice[T]) expects() string  { return "one of " + strings.Join(v.names(), ", ") }
func (v choice[T]) bounds() string   { return "One of " + strings.Join(v.names(), ", ") }
func (v choice[T]) schema() schema   { return schema{"enum": v.names()} }

func (v choice[T]) names() []string {
	names := make([]string, 0, len(v.options))
	for _, o := range v.options {
		names = append(names, o.name)
	}
	return names
}

func (v choice[T]) read(r *reader, n *yaml.Node, at where) {
	if n.Kind != yaml.ScalarNode {
		r.wrong(v, n, at)
		return
	}
	i := slices.IndexFunc(v.options, func(o option[T]) bool { return o.name == n.Value })
	if i < 0 {
		r.fault(n, at, "%.80q is none of the values; %s", n.Value, meant(n.Value, v.names()))
		return
	}
	*v.into = v.options[i].value
}

// maybe is a value that can be missing, unlike one that is empty.
type maybe[T any] struct {
	into **T
	of   func(*T) value
}

func (v maybe[T]) preset()          { *v.into = nil }
func (v maybe[T]) expects() string  { return v.of(new(T)).expects() }
func (v maybe[T]) fallback() string { return "" }
func (v maybe[T]) schema() schema   { return v.of(new(T)).schema() }

func (v maybe[T]) read(r *reader, n *yaml.Node, at where) {
	*v.into = new(T)
	v.of(*v.into).read(r, n, at)
}

func (v maybe[T]) inner() (keys []key, stands string) { return innerOf(v.of(new(T))) }
