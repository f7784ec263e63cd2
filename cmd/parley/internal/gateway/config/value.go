package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// key is a key of a mapping, and all that is known of it.
type key struct {
	name string
	// doc says what it means, in sentences.
	doc   string
	value value
	// example is YAML on one line, for keys whose default does not say enough.
	example  string
	required bool
	// with names the key without which this one makes no sense.
	with string
	// shows says that the key only changes what clients see of a server, so that the
	// server itself can go on.
	shows bool
}

// value is what a key can have, and where it goes.
type value interface {
	// preset sets what holds without the key.
	preset()
	read(r *reader, n *yaml.Node, at where)
	// expects says what the value must be, after "it must be".
	expects() string
	// fallback is what holds without the key, in YAML; "" for nothing.
	fallback() string
	schema() schema
}

// bounded is a value of which there is more to say than its default.
type bounded interface {
	// bounds is a sentence without its end.
	bounds() string
}

// nesting is a value that has keys itself.
type nesting interface {
	// inner returns them, and what stands for a name above them that is up to whoever
	// writes the file.
	inner() (keys []key, stands string)
}

// boolean is true or false. Without the key, it is false.
type boolean struct{ into *bool }

func (v boolean) preset()          { *v.into = false }
func (v boolean) expects() string  { return "true or false" }
func (v boolean) fallback() string { return "false" }
func (v boolean) schema() schema   { return schema{"type": "boolean"} }

func (v boolean) read(r *reader, n *yaml.Node, at where) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
		r.wrong(v, n, at)
		return
	}
	*v.into = strings.EqualFold(n.Value, "true")
}

// number is a whole number within bounds.
type number struct {
	into              *int
	def, lowest, most int
}

func (v number) preset()          { *v.into = v.def }
func (v number) fallback() string { return strconv.Itoa(v.def) }

func (v number) expects() string {
	if v.lowest == v.most {
		return strconv.Itoa(v.most)
	}
	return fmt.Sprintf("a whole number from %d to %d", v.lowest, v.most)
}

func (v number) bounds() string {
	if v.lowest == v.most {
		return "It is " + strconv.Itoa(v.most)
	}
	return fmt.Sprintf("From %d to %d", v.lowest, v.most)
}

func (v number) schema() schema {
	return schema{"type": "integer", "minimum": v.lowest, "maximum": v.most}
}

func (v number) read(r *reader, n *yaml.Node, at where) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" {
		r.wrong(v, n, at)
		return
	}
	i, err := strconv.Atoi(strings.ReplaceAll(n.Value, "_", ""))
	if err != nil || i < v.lowest || i > v.most {
		r.fault(n, at, "%.40q does not fit; it must be %s", n.Value, v.expects())
		return
	}
	*v.into = i
}

// period is a time, such as 10m.
type period struct {
	into              *time.Duration
	def, lowest, most time.Duration
}

func (v period) preset()          { *v.into = v.def }
func (v period) fallback() string { return shortTime(v.def) }

func (v period) expects() string {
	return fmt.Sprintf("a time from %s to %s, such as 90s or 1h30m", shortTime(v.lowest), shortTime(v.most))
}

func (v period) bounds() string {
	return fmt.Sprintf("From %s to %s", shortTime(v.lowest), shortTime(v.most))
}

func (v period) schema() schema {
	s := schema{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`}
	if v.lowest == 0 {
		return schema{"anyOf": []schema{s, {"const": 0}}}
	}
	return s
}

func (v period) read(r *reader, n *yaml.Node, at where) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" && n.Value != "0" {
		r.wrong(v, n, at)
		return
	}
	d, err := time.ParseDuration(n.Value)
	if err != nil || d < v.lowest || d > v.most {
		r.fault(n, at, "%.40q does not fit; it must be %s", n.Value, v.expects())
		return
	}
	*v.into = d
}

// shortTime writes a time without the units that are zero.
func shortTime(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	if s == "0s" {
		return "0"
	}
	return s
}

// rule is what a text must be.
type rule struct {
	// is ends "it must be".
	is      string
	pattern string // of JSON Schema; "" for none
	check   func(string) bool
}

// word is a text that is shown as it is.
type word struct {
	into *string
	rule rule
}

func (v word) preset()          {}
func (v word) expects() string  { return v.rule.is }
func (v word) fallback() string { return "" }

func (v word) schema() schema {
	s := schema{"type": "string"}
	if v.rule.pattern != "" {
		s["pattern"] = v.rule.pattern
	}
	return s
}

func (v word) read(r *reader, n *yaml.Node, at where) {
	switch tag := n.ShortTag(); {
	case n.Kind != yaml.ScalarNode || tag != "!!str" && tag != "!!timestamp":
		r.wrong(v, n, at)
	case !v.rule.check(n.Value):
		r.fault(n, at, "%.80q does not fit; it must be %s", n.Value, v.rule.is)
	default:
		*v.into = n.Value
	}
}
