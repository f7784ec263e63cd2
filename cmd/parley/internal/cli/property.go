package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/jsonptr"
	"github.com/parley-mcp/parley/internal/wire"
)

// property is what this program understands of one property of a JSON Schema:
// enough to show it, to convert what was typed, and to ask for it. It refuses
// nothing: validation happens elsewhere.
type property struct {
	Name     string
	Required bool
	Raw      json.RawMessage

	Types              []string // none when the schema does not say
	Title, Description string
	Format             string
	Default            json.RawMessage // nil for none
	Minimum, Maximum   json.RawMessage
	Choices            []choice // the only values, if there are any
	Multiple           bool     // an array of Choices
}

// choice is a value of an enumeration.
type choice struct{ Value, Title string }

// keywords are the keywords of JSON Schema that matter here.
type keywords struct {
	Ref         string            `json:"$ref"`
	Type        json.RawMessage   `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Format      string            `json:"format"`
	Default     json.RawMessage   `json:"default"`
	Minimum     json.RawMessage   `json:"minimum"`
	Maximum     json.RawMessage   `json:"maximum"`
	Enum        []json.RawMessage `json:"enum"`
	EnumNames   []string          `json:"enumNames"`
	Const       json.RawMessage   `json:"const"`
	AnyOf       []json.RawMessage `json:"anyOf"`
	OneOf       []json.RawMessage `json:"oneOf"`
	Items       json.RawMessage   `json:"items"`
}

// properties returns the properties of an object schema, in the order of the
// schema.
func properties(schema json.RawMessage) []property {
	var object struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if wire.Unmarshal(schema, &object) != nil || object.Properties == nil {
		return nil
	}
	var list []property
	err := wire.Members(object.Properties, func(name string, value []byte) error {
		p := property{Name: name, Required: slices.Contains(object.Required, name), Raw: slices.Clone(value)}
		p.read(schema)
		list = append(list, p)
		return nil
	})
	if err != nil {
		return nil
	}
	return list
}

func (p *property) read(root json.RawMessage) {
	k := resolve(root, p.Raw)
	p.Title, p.Description, p.Format = k.Title, k.Description, k.Format
	p.Default, p.Minimum, p.Maximum = k.Default, k.Minimum, k.Maximum
	p.Types = k.types(root, 4)
	p.Choices = k.choices(root)
	if k.Items != nil && p.Choices == nil {
		items := resolve(root, k.Items)
		p.Choices = items.choices(root)
		p.Multiple = p.Choices != nil
	}
}

// resolve decodes a schema. A reference within the document is replaced with
// the schema it refers to, a few times at most.
func resolve(root, schema json.RawMessage) keywords {
	var k keywords
	for range 8 {
		k = keywords{}
		if wire.Unmarshal(schema, &k) != nil {
			return keywords{}
		}
		path, ok := strings.CutPrefix(k.Ref, "#/")
		if !ok {
			return k
		}
		schema = root
		for step := range strings.SplitSeq(path, "/") {
			var members map[string]json.RawMessage
			if wire.Unmarshal(schema, &members) != nil {
				return k
			}
			schema = members[jsonptr.Unescape(step)]
		}
	}
	return k
}

// types returns the types a value may have.
func (k *keywords) types(root json.RawMessage, depth int) []string {
	var one string
	var types []string
	if wire.Unmarshal(orNull(k.Type), &one) == nil && one != "" {
		types = []string{one}
	} else {
		_ = wire.Unmarshal(orNull(k.Type), &types) // any other value is ignored
	}
	if len(types) > 0 || depth == 0 {
		return types
	}
	for _, part := range slices.Concat(k.AnyOf, k.OneOf) {
		alternative := resolve(root, part)
		for _, t := range alternative.types(root, depth-1) {
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	return types
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// choices returns the values of an enumeration of strings, whichever way it is
// written.
func (k *keywords) choices(root json.RawMessage) []choice {
	var list []choice
	for i, raw := range k.Enum {
		var c choice
		if wire.Unmarshal(raw, &c.Value) != nil {
			return nil
		}
		if i < len(k.EnumNames) {
			c.Title = k.EnumNames[i]
		}
		list = append(list, c)
	}
	for _, part := range slices.Concat(k.AnyOf, k.OneOf) {
		alternative := resolve(root, part)
		c := choice{Title: alternative.Title}
		if alternative.Const == nil || wire.Unmarshal(alternative.Const, &c.Value) != nil {
			return list
		}
		list = append(list, c)
	}
	return list
}

// kind names the type for people: "integer", "string[]", "red|green".
func (p *property) kind() string {
	values := make([]string, 0, len(p.Choices))
	for _, c := range p.Choices {
		values = append(values, c.Value)
	}
	switch {
	case p.Multiple:
		return "list of " + strings.Join(values, "|")
	case len(values) > 0:
		return strings.Join(values, "|")
	case len(p.Types) == 0:
		return "any"
	}
	kind := strings.Join(p.Types, "|")
	if p.Format != "" {
		kind += " (" + p.Format + ")"
	}
	return kind
}

// convert turns what was typed into JSON of a type that the schema names. What
// does not convert stays text: the server then says what is wrong with it.
func (p *property) convert(text string) json.RawMessage {
	if len(p.Types) > 0 && !slices.Contains(p.Types, "string") {
		if t := typeOf(text); slices.Contains(p.Types, t) || t == "number" && slices.Contains(p.Types, "integer") {
			return json.RawMessage(strings.TrimSpace(text))
		}
	}
	return jsonString(text)
}

// typeOf returns the type of a JSON text, or "" if the text is not JSON.
func typeOf(text string) string {
	text = strings.TrimSpace(text)
	if !json.Valid([]byte(text)) {
		return ""
	}
	switch text[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func jsonString(s string) json.RawMessage {
	raw, err := wire.Marshal(s)
	if err != nil { // not UTF-8
		raw, _ = json.Marshal(s)
	}
	return raw
}
