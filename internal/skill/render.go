package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/internal/wire"
)

// renderer writes YAML as JSON.
type renderer struct{ out json.RawMessage }

// node appends a node. What it returns as an error begins with the line.
func (r *renderer) node(n *yaml.Node, depth int) error {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	switch {
	case depth > maxDepth: // an anchor may hold an alias of itself
		return fault(n, "more than %d levels deep", maxDepth)
	case len(r.out) > maxRendered:
		return fault(n, "too much: aliases and all, it has more than %d bytes", maxRendered)
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
	return fault(n, "neither a mapping nor a sequence nor a scalar")
}

func (r *renderer) mapping(n *yaml.Node, depth int) error {
	if n.ShortTag() != "!!map" {
		return unknownTag(n)
	}
	seen := map[string]bool{}
	r.out = append(r.out, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := keyOf(n.Content[i])
		if err != nil {
			return err
		}
		if seen[key] {
			return fault(n.Content[i], "%.80q is there twice", key)
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
func keyOf(n *yaml.Node) (string, error) {
	at := n
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	switch tag := n.ShortTag(); {
	case n.Kind != yaml.ScalarNode || tag == "!!null":
		return "", fault(at, "a key must be a string")
	case tag == "!!merge":
		return "", fault(at, "merge keys (<<) are not part of YAML 1.2: write the fields out")
	case !utf8.ValidString(n.Value):
		return "", fault(at, "a key is not valid Unicode")
	}
	return n.Value, nil
}

func (r *renderer) sequence(n *yaml.Node, depth int) error {
	if n.ShortTag() != "!!seq" {
		return unknownTag(n)
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
			return fault(n, "a string is not valid Unicode")
		}
		r.out = wire.AppendText(r.out, n.Value)
	case "!!null":
		r.out = append(r.out, "null"...)
	case "!!bool":
		word := strings.ToLower(n.Value)
		if word != "true" && word != "false" {
			return fault(n, "%.40q is neither true nor false", n.Value)
		}
		r.out = append(r.out, word...)
	case "!!int", "!!float":
		digits, err := number(n.Value)
		if err != nil {
			return fault(n, "%.40q: %w", n.Value, err)
		}
		r.out = append(r.out, digits...)
	default:
		return unknownTag(n)
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

func unknownTag(n *yaml.Node) error {
	return fault(n, "the tag %.40q has no meaning in JSON: leave it out", n.ShortTag())
}

func fault(n *yaml.Node, format string, args ...any) error {
	const opening = 1 // the line of three hyphens
	return fmt.Errorf("line %d: %w", n.Line+opening, fmt.Errorf(format, args...))
}
