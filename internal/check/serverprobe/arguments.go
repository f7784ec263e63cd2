package serverprobe

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/yosida95/uritemplate/v3"

	"github.com/parley-mcp/parley/internal/check/sample"
	"github.com/parley-mcp/parley/internal/schema"
)

// mostExamples is how many of the examples for one name are used.
const mostExamples = 10

// examples are those of the user, or none.
func (x *X) examples() *sample.Examples {
	if x.opts.Examples == nil {
		return new(sample.Examples)
	}
	return x.opts.Examples
}

// arguments returns the first example of a tool's arguments, or makes some that
// its schema accepts.
func (x *X) arguments(name string, tool map[string]any) (map[string]any, error) {
	if given := x.examples().Tools[name]; len(given) > 0 {
		return decodeObject(given[0])
	}
	text, err := json.Marshal(tool["inputSchema"])
	if err != nil {
		return nil, err
	}
	m, err := sample.New(text)
	if err != nil {
		return nil, err
	}
	made, err := m.Value(false)
	if err != nil {
		return nil, err
	}
	return decodeObject(made)
}

// everyArguments returns all examples of a tool's arguments, or those made.
func (x *X) everyArguments(tool Callable) []map[string]any {
	all := []map[string]any{tool.Arguments}
	given := x.examples().Tools[tool.Name]
	for _, text := range given[min(1, len(given)):min(mostExamples, len(given))] {
		if arguments, err := decodeObject(text); err == nil {
			all = append(all, arguments)
		}
	}
	return all
}

func decodeObject(text json.RawMessage) (map[string]any, error) {
	v, err := schema.Decode(text)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("its schema is not that of an object")
	}
	return object, nil
}

// promptArguments returns the examples of a prompt's arguments, or a word for
// each: one that the server suggests, if it does.
func (x *X) promptArguments(name string, prompt map[string]any) []map[string]string {
	if given := x.examples().Prompts[name]; len(given) > 0 {
		return given[:min(mostExamples, len(given))]
	}
	arguments := map[string]string{}
	for _, argument := range argumentsOf(prompt) {
		arguments[argument] = "example"
		if suggested := x.Offer.values(refPrompt, name, argument); len(suggested) > 0 {
			arguments[argument] = suggested[0]
		}
	}
	return []map[string]string{arguments}
}

// readable returns the URIs to be read: those of the user's examples first.
func (x *X) readable() []string {
	e := x.examples()
	uris := slices.Clone(e.Resources)
	for _, template := range slices.Sorted(maps.Keys(e.Templates)) {
		t, err := uritemplate.New(template)
		if err != nil {
			x.Note(fmt.Sprintf("the template %s of the examples is not used: %v", template, err))
			continue
		}
		given := e.Templates[template]
		for _, variables := range given[:min(mostExamples, len(given))] {
			values := uritemplate.Values{}
			for name, value := range variables {
				values.Set(name, uritemplate.String(value))
			}
			if uri, err := t.Expand(values); err == nil {
				uris = append(uris, uri)
			}
		}
	}
	given := len(uris)
	for _, r := range x.Offer.Resources {
		if uri, ok := r["uri"].(string); ok && !slices.Contains(uris, uri) {
			uris = append(uris, uri)
		}
	}
	return uris[:min(max(mostResources, given), len(uris))]
}

// filled is the content for a form, or nil if none can be made.
func filled(form any) map[string]any {
	text, err := json.Marshal(form)
	if err != nil {
		return nil
	}
	content, err := sample.Answer(text)
	if err != nil {
		return nil
	}
	object, err := decodeObject(content)
	if err != nil {
		return nil
	}
	return object
}
