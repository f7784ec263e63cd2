// Package yamljson reads YAML as JSON, for files that people write: numbers keep
// their digits, dates their text, and an alias becomes a copy of what it stands
// for. What JSON has no form for is an error: infinity, tags of the author's own,
// keys that are not scalars. So is a key that is there twice.
package yamljson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/parley-mcp/parley/internal/wire"
)

// The bounds of what is written. They are far above what anybody writes by hand,
// and keep what a stranger wrote from costing much.
const (
	maxRendered = 1 << 20 // bytes of JSON, in which aliases are written out
	maxDepth    = 64
)

// Parse returns the top of a YAML document, or nil if it is empty.
func Parse(source []byte) (*yaml.Node, error) {
	if !utf8.Valid(source) { // the library would take it for another encoding
		return nil, errors.New("it is not UTF-8")
	}
	loader, err := yaml.NewLoader(bytes.NewReader(source), yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth))))
	if err != nil {
		return nil, err
	}
	var root, more yaml.Node
	switch err := loader.Load(&root); {
	case errors.Is(err, io.EOF):
		return nil, nil //nolint:nilnil // an empty document
	case err != nil:
		return nil, fmt.Errorf("it is not YAML: %w", err)
	}
	switch err := loader.Load(&more); {
	case err == nil:
		return nil, errors.New("it is not YAML: it has more than one document")
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("it is not YAML: %w", err)
	}
	if root.Kind == yaml.DocumentNode && len(root.Content) == 1 {
		return root.Content[0], nil
	}
	return &root, nil
}

// Render returns a node as JSON. An error begins with the line, counted from the
// first after those that were before the document.
func Render(n *yaml.Node, before int) (json.RawMessage, error) {
	r := renderer{before: before}
	if err := r.node(n, 0); err != nil {
		return nil, err
	}
	return r.out, nil
}

// renderer writes YAML as JSON.
type renderer struct {
	out    json.RawMessage
	before int
}

// node appends a node. What it returns as an error begins with the line.
func (r *renderer) node(n *yaml.Node, depth int) error {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	switch {
	case depth > maxDepth: // an anchor may hold an alias of itself
		return r.fault(n, "more than %d levels deep", maxDepth)
	case len(r.out) > maxRendered:
		return r.fault(n, "too much: aliases and all, it has more than %d bytes", maxRendered)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return r.mapping(n, depth)
	case yaml.SequenceNode:
		return r.sequence(n, depth)
	case yaml.ScalarNode:
		return r.scalar(n)
	case yaml.DocumentNode, yaml.StreamNode, yaml.AliasNode: // not within a document
	}
	return r.fault(n, "neither a mapping nor a sequence nor a scalar")
}

func (r *renderer) mapping(n *yaml.Node, depth int) error {
	if n.ShortTag() != "!!map" {
		return r.unknownTag(n)
	}
	seen := map[string]bool{}
	r.out = append(r.out, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := r.keyOf(n.Content[i])
		if err != nil {
			return err
		}
		if seen[key] {
			return r.fault(n.Content[i], "%.80q is there twice", key)
		}
		if seen[key] = true; i > 0 {
			r.out = append(r.out, ',')
		}
		r.out = append(wire.AppendText(r.out, key), ':')
		if err := r.node(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	r.out = append(r.out, '}')
	return nil
}

// keyOf returns the key of a member: the text of a scalar, whatever its type.
func (r *renderer) keyOf(n *yaml.Node) (string, error) {
	at := n
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	switch tag := n.ShortTag(); {
	case n.Kind != yaml.ScalarNode || tag == "!!null":
		return "", r.fault(at, "a key must be a string")
	case tag == "!!merge":
		return "", r.fault(at, "merge keys (<<) are not part of YAML 1.2: write the fields out")
	case !utf8.ValidString(n.Value):
		return "", r.fault(at, "a key is not valid Unicode")
	}
	return n.Value, nil
}

func (r *renderer) sequence(n *yaml.Node, depth int) error {
	if n.ShortTag() != "!!seq" {
		return r.unknownTag(n)
	}
	r.out = append(r.out, '[')
	for i, element := range n.Content {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		if err := r.node(element, depth+1); err != nil {
			return err
		}
	}
	r.out = append(r.out, ']')
	return nil
}

func (r *renderer) scalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!str", "!!timestamp", "!!binary": // a date has no type in JSON; its text says it all
		if !utf8.ValidString(n.Value) {
			return r.fault(n, "a string is not valid Unicode")
		}
		r.out = wire.AppendText(r.out, n.Value)
	case "!!null":
		r.out = append(r.out, "null"...)
	case "!!bool":
		word := strings.ToLower(n.Value)
		if word != "true" && word != "false" {
			return r.fault(n, "%.40q is neither true nor false", n.Value)
		}
		r.out = append(r.out, word...)
	case "!!int", "!!float":
		digits, err := number(n.Value)
		if err != nil {
			return r.fault(n, "%.40q: %w", n.Value, err)
		}
		r.out = append(r.out, digits...)
	default:
		return r.unknownTag(n)
	}
	return nil
}

// jsonNumber is how JSON writes numbers.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// number returns a number as JSON: as it is written wherever JSON can.
func number(text string) (string, error) {
	plain := strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	if jsonNumber.MatchString(plain) {
		return plain, nil
	}
	if n, ok := new(big.Int).SetString(plain, 0); ok { // another base, as the prefix says
		return n.String(), nil
	}
	f, err := strconv.ParseFloat(plain, 64)
	digits := strconv.FormatFloat(f, 'g', -1, 64)
	if err != nil || !jsonNumber.MatchString(digits) {
		return "", errors.New("JSON has no such number: put it in quotes")
	}
	return digits, nil
}

func (r *renderer) unknownTag(n *yaml.Node) error {
	return r.fault(n, "the tag %.40q has no meaning in JSON: leave it out", n.ShortTag())
}

func (r *renderer) fault(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", n.Line+r.before, fmt.Errorf(format, args...))
}
