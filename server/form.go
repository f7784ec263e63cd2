package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// form is the plan of an elicitation: what the user is shown, and how to check
// what comes back.
type form struct {
	requested json.RawMessage
	schema    *schema.Schema
}

// formOf returns the form of a type. It is made once per server.
func formOf[T any](s *Server) (*form, error) {
	t := reflect.TypeFor[T]()
	if f, ok := s.forms.Load(t); ok {
		return f.(*form), nil //nolint:forcetypeassert // nothing else is stored
	}
	f, err := newForm(t)
	if err != nil {
		return nil, err
	}
	s.forms.Store(t, f)
	return f, nil
}

// newForm infers the schema of t and narrows it to what a form may have: a flat
// object, and only some of the keywords.
//
// Spec: 2026-07-28 client/elicitation#requested-schema.
func newForm(t reflect.Type) (*form, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("a form is made of a struct, not of %s", t)
	}
	inferred, err := schema.Infer(t)
	if err != nil {
		return nil, err
	}
	var object formSchema
	if err := wire.Unmarshal(inferred, &object); err != nil || object.Type != "object" {
		return nil, fmt.Errorf("%s does not describe a form", t)
	}
	if object.Properties, err = narrowFields(object.Properties, enumTitles(t)); err != nil {
		return nil, fmt.Errorf("form %s: %w", t, err)
	}
	requested, err := wire.Marshal(object)
	if err != nil {
		return nil, err
	}
	compiled, err := schema.Compile(requested)
	return &form{requested, compiled}, err
}

// formSchema is the requestedSchema of a form.
type formSchema struct {
	Type       string          `json:"type"`
	Properties json.RawMessage `json:"properties"`
	Required   []string        `json:"required,omitzero"`
}

// formField is the schema of a field: these keywords are the only ones.
type formField struct {
	Type        string          `json:"type"`
	Title       string          `json:"title,omitzero"`
	Description string          `json:"description,omitzero"`
	MinLength   *int64          `json:"minLength,omitzero"`
	MaxLength   *int64          `json:"maxLength,omitzero"`
	Format      string          `json:"format,omitzero"`
	Minimum     json.RawMessage `json:"minimum,omitzero"`
	Maximum     json.RawMessage `json:"maximum,omitzero"`
	MinItems    *int64          `json:"minItems,omitzero"`
	MaxItems    *int64          `json:"maxItems,omitzero"`
	Enum        []string        `json:"enum,omitzero"`
	OneOf       []formOption    `json:"oneOf,omitzero"`
	Items       *formItems      `json:"items,omitzero"`
	Default     json.RawMessage `json:"default,omitzero"`
}

// formItems are the choices of a field that takes several.
type formItems struct {
	Type  string       `json:"type,omitzero"`
	Enum  []string     `json:"enum,omitzero"`
	AnyOf []formOption `json:"anyOf,omitzero"`
}

// formOption is a choice with a title.
type formOption struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

var (
	formKeywords = []string{
		"type", "title", "description", "minLength", "maxLength", "format", "minimum", "maximum",
		"minItems", "maxItems", "enum", "items", "default",
	}
	formFormats = []string{"email", "uri", "date", "date-time"}
)

func narrowFields(properties json.RawMessage, titles map[string][]string) (json.RawMessage, error) {
	fields := []byte("{")
	if properties == nil {
		return append(fields, '}'), nil
	}
	err := wire.Members(properties, func(name string, value []byte) error {
		var err error
		if fields, err = appendField(fields, name, value, titles[name]); err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
		return nil
	})
	return append(fields, '}'), err
}

func appendField(dst []byte, name string, raw []byte, titles []string) ([]byte, error) {
	field, err := narrow(raw, titles)
	if err != nil {
		return dst, err
	}
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	if dst, err = wire.Append(dst, name); err != nil {
		return dst, err
	}
	return wire.Append(append(dst, ':'), field)
}

// narrow checks a field and applies the titles of its choices.
func narrow(raw []byte, titles []string) (*formField, error) {
	if err := onlyKeywords(raw, formKeywords); err != nil {
		return nil, err
	}
	var field formField
	if err := wire.Unmarshal(raw, &field); err != nil {
		return nil, err
	}
	if field.Format != "" && !slices.Contains(formFormats, field.Format) {
		return nil, fmt.Errorf("format %q is not one of %s", field.Format, quoteAll(formFormats))
	}
	switch {
	case field.Type == "array":
		return &field, field.choices(raw, titles)
	case !slices.Contains([]string{"string", "integer", "number", "boolean"}, field.Type):
		return nil, fmt.Errorf("a form has no fields of type %q", field.Type)
	case field.Enum != nil && field.Type != "string":
		return nil, fmt.Errorf("an enum of type %q", field.Type)
	}
	var err error
	if titles != nil {
		field.OneOf, err = options(field.Enum, titles)
		field.Enum = nil
	}
	return &field, err
}

// choices checks a field that takes several choices.
func (f *formField) choices(raw []byte, titles []string) error {
	var outer struct {
		Items json.RawMessage `json:"items"`
	}
	if err := wire.Unmarshal(raw, &outer); err != nil {
		return err
	}
	if f.Items == nil || f.Items.Type != "string" || f.Items.Enum == nil {
		return fmt.Errorf("a list needs an enum tag")
	}
	if err := onlyKeywords(outer.Items, []string{"type", "enum"}); err != nil {
		return err
	}
	if titles == nil {
		return nil
	}
	var err error
	f.Items.AnyOf, err = options(f.Items.Enum, titles)
	f.Items.Type, f.Items.Enum = "", nil
	return err
}

func options(values, titles []string) ([]formOption, error) {
	if len(values) != len(titles) {
		return nil, fmt.Errorf("%d titles for %d choices", len(titles), len(values))
	}
	list := make([]formOption, len(values))
	for i := range values {
		list[i] = formOption{values[i], titles[i]}
	}
	return list, nil
}

func onlyKeywords(raw []byte, allowed []string) error {
	return wire.Members(raw, func(name string, _ []byte) error {
		if !slices.Contains(allowed, name) {
			return fmt.Errorf("%q is not possible in a form", name)
		}
		return nil
	})
}

// enumTitles returns the enumTitles tags of t by JSON name.
func enumTitles(t reflect.Type) map[string][]string {
	titles := map[string][]string{}
	for _, sf := range reflect.VisibleFields(t) {
		text, ok := sf.Tag.Lookup("enumTitles")
		if !ok {
			continue
		}
		name, _ := textName(sf, []string{"json"})
		for title := range strings.SplitSeq(text, ",") {
			titles[name] = append(titles[name], strings.TrimSpace(title))
		}
	}
	return titles
}

// readForm makes a T from an accepted answer.
//
// Spec: 2026-07-28 client/elicitation#form-mode-security (3).
func readForm[T any](f *form, key string, raw json.RawMessage) (any, error) {
	content, err := accepted(key, raw)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(content)) == 0 {
		content = json.RawMessage("{}")
	}
	if !isObject(content) {
		return nil, mcp.InvalidParams("answer to %q: content must be an object", key)
	}
	full, err := f.schema.WithDefaults(content)
	if err == nil {
		err = f.schema.Validate(full)
	}
	var v T
	if err == nil {
		err = wire.Unmarshal(full, &v)
	}
	if err != nil {
		return nil, &misfitError{key, err}
	}
	return v, nil
}

// misfitError says that what a user filled in does not fit the form. It is no error
// of the request that asked, so the tool fails, and its model can go on.
//
// Spec: 2026-07-28 client/elicitation#form-mode-security (3).
type misfitError struct {
	key    string
	reason error
}

func (e *misfitError) Error() string {
	return fmt.Sprintf("the answer to the form %q does not fit it: %v", e.key, e.reason)
}
