package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is a struct field as JSON sees it.
type field struct {
	name     string
	goName   string
	typ      reflect.Type
	tag      reflect.StructTag
	index    []int
	tagged   bool // the name is from a tag
	quoted   bool // a number in a string
	optional bool
	omitted  bool // where it is zero
}

// jsonFields returns the JSON members of struct type t in declaration order,
// with those of an embedded struct where it is embedded.
func jsonFields(t reflect.Type) ([]field, error) {
	var c fieldCollector
	if err := c.collect(t, nil, false, map[reflect.Type]bool{}); err != nil {
		return nil, err
	}
	return c.dominant()
}

type fieldCollector struct{ fields []field }

func (c *fieldCollector) collect(t reflect.Type, index []int, optional bool, above map[reflect.Type]bool) error {
	if above[t] {
		return nil // a struct embedded in itself adds nothing
	}
	above[t] = true
	defer delete(above, t)
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("json")
		if tag == "-" || !sf.IsExported() && !sf.Anonymous {
			continue
		}
		f := field{goName: sf.Name, typ: sf.Type, tag: sf.Tag, index: append(slices.Clip(index), i), optional: optional}
		embed, err := f.parse(tag)
		if err != nil {
			return fmt.Errorf("field %q of %s: %w", sf.Name, t, err)
		}
		inner := sf.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case embed && inner.Kind() != reflect.Struct:
			return fmt.Errorf("field %q of %s: only a struct can be embedded in a schema, not %s", sf.Name, t, sf.Type)
		case embed || sf.Anonymous && !f.tagged && inner.Kind() == reflect.Struct && wellKnown(inner) == nil:
			err = c.collect(inner, f.index, optional || sf.Type.Kind() == reflect.Pointer, above)
		case sf.IsExported():
			c.fields = append(c.fields, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parse reads a json tag and reports whether it asks to embed the field.
func (f *field) parse(tag string) (embed bool, err error) {
	name, options, err := cutName(tag)
	if err != nil {
		return false, err
	}
	f.name, f.tagged = cmp.Or(name, f.goName), name != ""
	f.optional = f.optional || f.typ.Kind() == reflect.Pointer
	if _, ok := f.tag.Lookup("default"); ok {
		f.optional = true
	}
	for option := range strings.SplitSeq(options, ",") {
		switch key, _, _ := strings.Cut(option, ":"); key {
		case "omitempty", "omitzero":
			f.optional, f.omitted = true, true
		case "string":
			f.quoted = true
		case "embed", "inline":
			embed = true
		case "format", "unknown":
			return false, fmt.Errorf("the json option %q is not supported in a schema", key)
		default:
			if meant := meantOption(key); meant != "" {
				return false, fmt.Errorf("there is no json option %q; the nearest is %q", key, meant)
			}
		}
	}
	return embed, nil
}

// meantOption returns the option of a json tag that another one looks like, or "".
func meantOption(key string) string {
	for _, known := range []string{"omitempty", "omitzero", "string", "embed", "inline"} {
		if key != known && key != "" && looksLike(plainly(key), known) {
			return known
		}
	}
	return ""
}

// cutName splits a json tag after the name, which may be in single quotes.
func cutName(tag string) (name, options string, err error) {
	if !strings.HasPrefix(tag, "'") {
		name, options, _ = strings.Cut(tag, ",")
		return name, options, nil
	}
	end := strings.LastIndex(tag, "'")
	if end == 0 {
		return "", "", fmt.Errorf("the json tag %q has an open quote", tag)
	}
	inner := strings.ReplaceAll(strings.ReplaceAll(tag[1:end], `"`, `\"`), `\'`, `'`)
	if name, err = strconv.Unquote(`"` + inner + `"`); err != nil {
		return "", "", fmt.Errorf("the json tag %q is malformed", tag)
	}
	return name, strings.TrimPrefix(tag[end+1:], ","), nil
}

// dominant resolves names that occur more than once as encoding/json does: the
// shallowest field wins, then the tagged one, and otherwise none.
func (c *fieldCollector) dominant() ([]field, error) {
	best := map[string]int{}
	for i, f := range c.fields {
		j, taken := best[f.name]
		if !taken {
			best[f.name] = i
			continue
		}
		if g := c.fields[j]; slices.Equal(g.index[:len(g.index)-1], f.index[:len(f.index)-1]) {
			return nil, fmt.Errorf("fields %q and %q have the same JSON name %q", g.goName, f.goName, f.name)
		}
		if rank(f, c.fields[j]) < 0 {
			best[f.name] = i
		}
	}
	var out []field
	for i, f := range c.fields {
		tie := slices.ContainsFunc(c.fields, func(g field) bool {
			return g.name == f.name && !slices.Equal(g.index, f.index) && rank(f, g) == 0
		})
		if best[f.name] == i && !tie {
			out = append(out, f)
		}
	}
	return out, nil
}

func rank(f, g field) int {
	if c := cmp.Compare(len(f.index), len(g.index)); c != 0 || f.tagged == g.tagged {
		return c
	}
	if f.tagged {
		return -1
	}
	return 1
}
