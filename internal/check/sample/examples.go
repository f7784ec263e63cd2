package sample

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/internal/yamljson"
)

// Examples are real values that a person wrote for a server, because schemas do
// not say what exists there. The file is YAML or JSON:
//
//	tools:                      # for each tool a list of arguments
//	  get_weather:
//	    - city: Oslo
//	prompts:                    # for each prompt a list of arguments, which are strings
//	  review:
//	    - code: "x = 1"
//	templates:                  # for each URI template a list of variables, which are strings
//	  "file:///{path}":
//	    - path: README.md
//	resources:                  # URIs that can be read
//	  - file:///README.md
//
// Each part may be missing. Nil is the same as an empty file.
type Examples struct {
	Tools     map[string][]json.RawMessage
	Prompts   map[string][]map[string]string
	Templates map[string][]map[string]string
	Resources []string
}

// Bounds of a file of examples, whose aliases may stand for much.
const (
	maxFile     = 4 << 20 // bytes
	maxExamples = 10_000  // sets of arguments, and URIs
)

// ReadExamples reads the text of a file of examples. An error names the file, the
// line and the place; nothing that is not understood is passed over.
func ReadExamples(file string, text []byte) (*Examples, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", file, maxFile)
	}
	top, err := yamljson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	r := reader{file: file}
	out := &Examples{Tools: map[string][]json.RawMessage{}, Prompts: map[string][]map[string]string{}, Templates: map[string][]map[string]string{}}
	if top == nil {
		return out, nil
	}
	err = r.mapping(top, "the file", func(name string, n *yaml.Node) error {
		switch name {
		case "tools":
			return r.lists(n, name, func(tool, place string, n *yaml.Node) error {
				arguments, err := r.object(n, place)
				out.Tools[tool] = append(out.Tools[tool], arguments)
				return err
			})
		case "prompts":
			return r.lists(n, name, func(prompt, place string, n *yaml.Node) error {
				arguments, err := r.texts(n, place)
				out.Prompts[prompt] = append(out.Prompts[prompt], arguments)
				return err
			})
		case "templates":
			return r.lists(n, name, func(template, place string, n *yaml.Node) error {
				variables, err := r.texts(n, place)
				out.Templates[template] = append(out.Templates[template], variables)
				return err
			})
		case "resources":
			return r.list(n, name, func(place string, n *yaml.Node) error {
				uri, err := r.text(n, place)
				out.Resources = append(out.Resources, uri)
				return err
			})
		}
		return r.fault(n, name, errors.New("is none of tools, prompts, templates and resources"))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// reader knows where it is.
type reader struct {
	file  string
	items int // so far
}

func (r *reader) fault(n *yaml.Node, place string, err error) error {
	return fmt.Errorf("%s: line %d: %s %w", r.file, n.Line, place, err)
}

// follow returns what an alias stands for. More than one step is no alias that
// the parser makes.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// mapping calls do for each member.
func (r *reader) mapping(n *yaml.Node, place string, do func(name string, n *yaml.Node) error) error {
	n = follow(n)
	if n.Kind != yaml.MappingNode {
		return r.fault(n, place, fmt.Errorf("must be a mapping, not %s", nameOf(n)))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := follow(n.Content[i])
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" || key.ShortTag() == "!!merge":
			return r.fault(n.Content[i], place, errors.New("has a key that is no name"))
		case seen[key.Value]:
			return r.fault(n.Content[i], place, fmt.Errorf("has %q twice", key.Value))
		}
		seen[key.Value] = true
		if err := do(key.Value, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// list calls do for each item.
func (r *reader) list(n *yaml.Node, place string, do func(place string, n *yaml.Node) error) error {
	n = follow(n)
	if n.Kind != yaml.SequenceNode {
		return r.fault(n, place, fmt.Errorf("must be a list, not %s", nameOf(n)))
	}
	for i, item := range n.Content {
		if r.items++; r.items > maxExamples {
			return r.fault(item, place, fmt.Errorf("goes beyond the %d examples that a file may have", maxExamples))
		}
		if err := do(fmt.Sprintf("%s[%d]", place, i), item); err != nil {
			return err
		}
	}
	return nil
}

// lists calls do for each item of each list in a mapping.
func (r *reader) lists(n *yaml.Node, place string, do func(name, place string, n *yaml.Node) error) error {
	return r.mapping(n, place, func(name string, n *yaml.Node) error {
		return r.list(n, fmt.Sprintf("%s[%q]", place, name), func(place string, n *yaml.Node) error {
			return do(name, place, n)
		})
	})
}

func (r *reader) object(n *yaml.Node, place string) (json.RawMessage, error) {
	if follow(n).Kind != yaml.MappingNode {
		return nil, r.fault(n, place, fmt.Errorf("must be a mapping of arguments, not %s", nameOf(follow(n))))
	}
	out, err := yamljson.Render(n, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %s, %w", r.file, place, err)
	}
	return out, nil
}

func (r *reader) texts(n *yaml.Node, place string) (map[string]string, error) {
	out := map[string]string{}
	err := r.mapping(n, place, func(name string, n *yaml.Node) error {
		text, err := r.text(n, fmt.Sprintf("%s[%q]", place, name))
		out[name] = text
		return err
	})
	return out, err
}

// text returns a string. Something else in its place, such as a number, is likely
// to be meant differently.
func (r *reader) text(n *yaml.Node, place string) (string, error) {
	n = follow(n)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return "", r.fault(n, place, fmt.Errorf("must be a string, not %s: put it in quotes", nameOf(n)))
	}
	return n.Value, nil
}

func nameOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode, yaml.DocumentNode, yaml.StreamNode, yaml.AliasNode:
	}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return "nothing"
	case "!!str":
		return "a string"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	default:
		return "a value of the type " + strings.TrimPrefix(tag, "!!")
	}
}
