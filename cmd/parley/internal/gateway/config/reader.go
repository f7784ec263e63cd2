package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/similar"
)

// maxValues bounds the values of a file, aliases written out.
const maxValues = 100_000

// reader reads one file, and collects what is wrong with it.
type reader struct {
	path     string
	source   []byte
	lines    []string
	env      target.Environment
	mistakes Mistakes
	values   int
	// later are checks that need the whole file.
	later []func()
}

func newReader(path string, source []byte, env target.Environment) *reader {
	return &reader{path: path, source: source, lines: strings.Split(string(source), "\n"), env: env}
}

// finish checks what had to wait until all was read.
func (r *reader) finish() {
	for _, check := range r.later {
		check()
	}
}

// where is the path of keys to a value, as in backends.files.args[1].
type where string

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// key returns the path of a member.
func (w where) key(name string) where {
	if !plainKey.MatchString(name) {
		name = fmt.Sprintf("%.80q", name)
	}
	if w == "" {
		return where(name)
	}
	return w + "." + where(name)
}

// index returns the path of an element.
func (w where) index(i int) where { return where(fmt.Sprintf("%s[%d]", w, i)) }

// fault reports a mistake at a node.
func (r *reader) fault(n *yaml.Node, at where, format string, args ...any) {
	r.faultAt(n.Line, n.Column, at, format, args...)
}

func (r *reader) faultAt(line, column int, at where, format string, args ...any) {
	r.mistakes = append(r.mistakes, r.mistake(line, column, at, fmt.Errorf(format, args...)))
}

// mistake returns an error at a place, which it moves into the file if the parser is
// already beyond it.
func (r *reader) mistake(line, column int, at where, err error) *target.Error {
	if line > len(r.lines) {
		line, column = len(r.lines), len(r.source)
	}
	line = max(line, 1)
	column = min(max(column, 1), utf8.RuneCountInString(r.lines[line-1])+1)
	return &target.Error{File: r.path, Line: line, Column: column, Member: string(at), Err: err}
}

// syntax reports why a file is no YAML.
func (r *reader) syntax(err error) {
	line, column := 1, 1
	var loading *yaml.LoadError
	switch {
	case errors.As(err, &loading):
		line, column = loading.Mark.Line, loading.Mark.Column
		if line == 0 {
			line, column = r.firstControl()
		}
		text := loading.Message
		if loading.ContextMsg != "" {
			text = loading.ContextMsg + ": " + text
		}
		err = errors.New("this is not YAML: " + text)
	case !utf8.Valid(r.source):
		line, column = r.firstInvalid()
	}
	r.faultAt(line, column, "", "%w", err)
}

// firstControl finds the character that YAML does not allow.
func (r *reader) firstControl() (line, column int) {
	return r.position(strings.IndexFunc(string(r.source), func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f || c >= 0x80 && c < 0xa0 && c != 0x85 || c == 0xfffe || c == 0xffff
	}))
}

func (r *reader) firstInvalid() (line, column int) {
	for i := 0; i < len(r.source); {
		c, size := utf8.DecodeRune(r.source[i:])
		if c == utf8.RuneError && size == 1 {
			return r.position(i)
		}
		i += size
	}
	return 1, 1
}

func (r *reader) position(offset int) (line, column int) {
	before := string(r.source[:max(offset, 0)])
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// value reads a node, or what it is an alias of.
func (r *reader) value(v value, n *yaml.Node, at where) {
	r.values++
	if r.values == maxValues {
		r.fault(n, at, "there are more than %d values, aliases and all", maxValues)
	}
	if r.values >= maxValues {
		return
	}
	n = origin(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		r.fault(n, at, "there is no value; it must be %s", v.expects())
		return
	}
	v.read(r, n, at)
}

// within returns where in the file a place in a line of a text is, or 0 if the text stands
// there in another form, as one that is folded does.
func (r *reader) within(n *yaml.Node, line int, text string, column int) (int, int) {
	at := n.Line + line
	if n.Style&yaml.LiteralStyle != 0 {
		at++ // it begins below the |
	}
	if at > len(r.lines) {
		return 0, 0
	}
	before, _, ok := strings.Cut(r.lines[at-1], text)
	if !ok {
		return 0, 0
	}
	return at, utf8.RuneCountInString(before) + column
}

// origin returns what an alias stands for.
func origin(n *yaml.Node) *yaml.Node {
	for range 10 { // an alias of an alias is no YAML
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

// wrong reports a value of the wrong type.
func (r *reader) wrong(v value, n *yaml.Node, at where) {
	r.fault(n, at, "this is %s; it must be %s", kindOf(n), v.expects())
}

// kindOf says what a node is, without its value: that may be a secret.
func kindOf(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		return "a mapping"
	}
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	switch n.ShortTag() {
	case "!!bool":
		return "a boolean"
	case "!!int", "!!float":
		return "a number"
	case "!!str", "!!timestamp":
		return "a text"
	}
	return fmt.Sprintf("a value with the tag %.40q", n.ShortTag())
}

// members calls each with the members of a mapping.
func (r *reader) members(v value, n *yaml.Node, at where, each func(name string, k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode || n.ShortTag() != "!!map" {
		r.wrong(v, n, at)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := origin(n.Content[i])
		switch {
		case k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge":
			r.fault(n.Content[i], at, "merge keys (<<) are not part of YAML 1.2: write the keys out")
			continue
		case k.Kind != yaml.ScalarNode || k.ShortTag() == "!!null":
			r.fault(n.Content[i], at, "a key must be a text")
			continue
		case seen[k.Value]:
			r.fault(n.Content[i], at.key(k.Value), "this stands here twice")
			continue
		}
		seen[k.Value] = true
		each(k.Value, n.Content[i], n.Content[i+1])
	}
}

// meant says which of some names somebody may have meant.
func meant(typed string, names []string) string {
	const far = 3
	for _, name := range similar.Names(typed, names) {
		if similar.Edits(strings.ToLower(typed), name) <= min(far, max(2, len(name)/3)) {
			return fmt.Sprintf("did you mean %q?", name)
		}
	}
	if len(names) == 0 {
		return "there are none"
	}
	return "there are " + strings.Join(names, ", ")
}
