package server

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/schema"
)

// Arguments of prompts and variables of templates are text on the wire; this
// file puts them into the fields of a struct.

// textField is a field that text can be put into.
type textField struct {
	index       int
	name        string
	title       string
	description string
	optional    bool
	fallback    *string  // the default, or nil
	choices     []string // the allowed values, or nil
	list        bool     // the field is a []string
	set         textSetter
}

// textSetter converts text and stores it.
type textSetter func(v reflect.Value, text string) error

// textFields returns the fields of a struct type. A field is named by the first
// of the tags that it has, or else by its own name; "-" leaves it out.
func textFields(t reflect.Type, tags ...string) ([]textField, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	var fields []textField
	for i := range t.NumField() {
		sf := t.Field(i)
		name, optional := textName(sf, tags)
		if name == "-" || !sf.IsExported() {
			continue
		}
		f := textField{index: i, name: name, optional: optional}
		if err := f.describe(sf); err != nil {
			return nil, fmt.Errorf("field %q of %s: %w", sf.Name, t, err)
		}
		if slices.ContainsFunc(fields, func(other textField) bool { return other.name == name }) {
			return nil, fmt.Errorf("field %q of %s: another field is named %q", sf.Name, t, name)
		}
		fields = append(fields, f)
	}
	return fields, nil
}

func textName(sf reflect.StructField, tags []string) (name string, optional bool) {
	optional = sf.Type.Kind() == reflect.Pointer
	for _, tag := range tags {
		text, ok := sf.Tag.Lookup(tag)
		if !ok {
			continue
		}
		name, options, _ := strings.Cut(text, ",")
		for option := range strings.SplitSeq(options, ",") {
			optional = optional || option == "omitempty" || option == "omitzero"
		}
		if name != "" {
			return name, optional
		}
	}
	return sf.Name, optional
}

func (f *textField) describe(sf reflect.StructField) error {
	if err := schema.CheckTags(sf.Tag, "string"); err != nil {
		return err
	}
	f.title, f.description = sf.Tag.Get("title"), sf.Tag.Get("description")
	if f.description == "" {
		f.description = sf.Tag.Get("jsonschema")
	}
	if sf.Type == reflect.TypeFor[[]string]() {
		f.list = true
		return nil
	}
	var err error
	if f.set, err = setterFor(sf.Type); err != nil {
		return err
	}
	if indirect(sf.Type).Kind() == reflect.Bool {
		f.choices = []string{"true", "false"}
	}
	if enum, ok := sf.Tag.Lookup("enum"); ok {
		f.choices = nil
		for choice := range strings.SplitSeq(enum, ",") {
			f.choices = append(f.choices, strings.TrimSpace(choice))
		}
	}
	if text, ok := sf.Tag.Lookup("default"); ok {
		f.fallback, f.optional = &text, true
	}
	return f.tryOut(sf.Type)
}

// tryOut converts the choices and the default once, at registration.
func (f *textField) tryOut(t reflect.Type) error {
	texts := slices.Clone(f.choices)
	if f.fallback != nil {
		texts = append(texts, *f.fallback)
	}
	for _, text := range texts {
		if err := f.put(reflect.New(t).Elem(), text); err != nil {
			return err
		}
	}
	return nil
}

// put converts text into the field v.
func (f *textField) put(v reflect.Value, text string) error {
	if f.choices != nil && !slices.Contains(f.choices, text) {
		return fmt.Errorf("%q is not one of %s", shorten(text), quoteAll(f.choices))
	}
	return f.set(v, text)
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	return strings.Join(quoted, ", ")
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// setterFor returns the function that puts text into a value of type t.
func setterFor(t reflect.Type) (textSetter, error) {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return setUnmarshaler, nil
	}
	switch k := t.Kind(); {
	case k == reflect.Pointer:
		return pointerSetter(t.Elem())
	case k == reflect.String:
		return setString, nil
	case k == reflect.Bool:
		return setBool, nil
	case k >= reflect.Int && k <= reflect.Int64:
		return setInt, nil
	case k >= reflect.Uint && k <= reflect.Uint64:
		return setUint, nil
	case k == reflect.Float32 || k == reflect.Float64:
		return setFloat, nil
	}
	return nil, fmt.Errorf("text cannot be converted to %s", t)
}

func pointerSetter(elem reflect.Type) (textSetter, error) {
	set, err := setterFor(elem)
	return func(v reflect.Value, text string) error {
		v.Set(reflect.New(elem))
		return set(v.Elem(), text)
	}, err
}

func setUnmarshaler(v reflect.Value, text string) error {
	u := v.Addr().Interface().(encoding.TextUnmarshaler) //nolint:forcetypeassert // setterFor has looked
	if err := u.UnmarshalText([]byte(text)); err != nil {
		return fmt.Errorf("%q: %w", shorten(text), err)
	}
	return nil
}

func setString(v reflect.Value, text string) error {
	v.SetString(text)
	return nil
}

func setBool(v reflect.Value, text string) error {
	if text != "true" && text != "false" {
		return fmt.Errorf("%q is neither true nor false", shorten(text))
	}
	v.SetBool(text == "true")
	return nil
}

func setInt(v reflect.Value, text string) error {
	n, err := strconv.ParseInt(text, 10, v.Type().Bits())
	if err != nil {
		return fmt.Errorf("%q is not an integer of the size wanted", shorten(text))
	}
	v.SetInt(n)
	return nil
}

func setUint(v reflect.Value, text string) error {
	n, err := strconv.ParseUint(text, 10, v.Type().Bits())
	if err != nil {
		return fmt.Errorf("%q is not a non-negative integer of the size wanted", shorten(text))
	}
	v.SetUint(n)
	return nil
}

func setFloat(v reflect.Value, text string) error {
	f, err := strconv.ParseFloat(text, v.Type().Bits())
	if err != nil || !finite(f) {
		return fmt.Errorf("%q is not a number of the size wanted", shorten(text))
	}
	v.SetFloat(f)
	return nil
}
