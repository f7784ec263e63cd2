package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// constraint is a field tag that becomes a schema keyword of its name.
type constraint struct {
	name  string
	types []string // the JSON types it fits
	onto  bool     // on a slice, it applies to the slice and not to its items
	parse func(n *node, text string) (any, error)
}

// constraints returns the constraint tags in the order they are written.
func constraints() []constraint {
	str, num, arr := []string{"string"}, []string{"integer", "number"}, []string{"array"}
	return []constraint{
		{"enum", []string{"string", "integer", "number"}, false, parseEnum},
		{"minimum", num, false, parseLimit},
		{"maximum", num, false, parseLimit},
		{"exclusiveMinimum", num, false, parseLimit},
		{"exclusiveMaximum", num, false, parseLimit},
		{"multipleOf", num, false, parseMultiple},
		{"minLength", str, false, parseCount},
		{"maxLength", str, false, parseCount},
		{"pattern", str, false, parsePattern},
		{"format", str, false, parseFormat},
		{"minItems", arr, true, parseCount},
		{"maxItems", arr, true, parseCount},
		{"uniqueItems", arr, true, parseFlag},
	}
}

// applyTags adds the field's tags to its schema n.
func (in *inferrer) applyTags(f field, n *node) error {
	if err := CheckTags(f.tag, n.typ(), innermost(n).typ()); err != nil {
		return err
	}
	if err := describeField(f, n); err != nil {
		return err
	}
	for _, k := range constraints() {
		text, ok := f.tag.Lookup(k.name)
		if !ok {
			continue
		}
		target := n
		if !k.onto {
			target = innermost(n)
		}
		if !slices.Contains(k.types, target.typ()) {
			return fmt.Errorf("tag %q does not fit type %s", k.name, f.typ)
		}
		v, err := k.parse(target, text)
		if err != nil {
			return fmt.Errorf("tag %q: %w", k.name, err)
		}
		target.set(k.name, v)
	}
	if err := checkLimits(n); err != nil {
		return err
	}
	if err := setDefault(f, n); err != nil {
		return err
	}
	return in.setHeader(f, n)
}

// innermost returns the schema of the items of an array, of their items if
// they are arrays too, and so on.
func innermost(n *node) *node {
	for n.typ() == "array" {
		n = n.get("items").(*node) //nolint:forcetypeassert // every array that Infer makes has items
	}
	return n
}

// assignment matches the "key=value" syntax that other packages use in a
// jsonschema tag. Treating it as a description would hide a lost constraint.
var assignment = regexp.MustCompile(`^[A-Za-z]+=|^(required|omitempty)(,|$)`)

func describeField(f field, n *node) error {
	if title, ok := f.tag.Lookup("title"); ok {
		n.set("title", title)
	}
	text, ok := f.tag.Lookup("description")
	if other, both := f.tag.Lookup("jsonschema"); both {
		if ok {
			return errors.New(`both a "description" and a "jsonschema" tag`)
		}
		if assignment.MatchString(other) {
			return fmt.Errorf("the jsonschema tag %q is not a description; constraints have tags of their own", other)
		}
		text, ok = other, true
	}
	if ok {
		n.set("description", text)
	}
	return nil
}

func parseEnum(n *node, text string) (any, error) {
	var values []json.RawMessage
	seen := map[string]bool{}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if seen[item] {
			return nil, fmt.Errorf("%q occurs twice", item)
		}
		seen[item] = true
		if n.typ() == "string" {
			values = append(values, appendString(nil, item))
			continue
		}
		raw, err := parseNumber(n, item)
		if err != nil {
			return nil, err
		}
		values = append(values, raw)
	}
	return values, nil
}

// parseNumber reads a JSON number that n's type allows.
func parseNumber(n *node, text string) (json.RawMessage, error) {
	v, err := Decode([]byte(text))
	num, ok := v.(json.Number)
	if err != nil || !ok {
		return nil, fmt.Errorf("%q is not a number", text)
	}
	if n.typ() == "integer" && !isInteger(num) {
		return nil, fmt.Errorf("%q is not an integer", text)
	}
	return json.RawMessage(num), nil
}

func parseLimit(n *node, text string) (any, error) {
	raw, err := parseNumber(n, text)
	if err != nil {
		return nil, err
	}
	if n.get("minimum") == 0 && rat(json.Number(raw)).Sign() < 0 {
		return nil, fmt.Errorf("%q is below what the unsigned type holds", text)
	}
	return raw, nil
}

func parseMultiple(n *node, text string) (any, error) {
	raw, err := parseNumber(n, text)
	if err == nil && rat(json.Number(raw)).Sign() <= 0 {
		err = fmt.Errorf("%q is not greater than zero", text)
	}
	return raw, err
}

func parseCount(_ *node, text string) (any, error) {
	count, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return nil, fmt.Errorf("%q is not a count", text)
	}
	return int(count), nil
}

func parseFlag(_ *node, text string) (any, error) {
	if text != "true" && text != "false" {
		return nil, fmt.Errorf("%q is neither true nor false", text)
	}
	return text == "true", nil
}

func parsePattern(_ *node, text string) (any, error) {
	if _, err := regexp.Compile(text); err != nil {
		return nil, fmt.Errorf("%q does not compile: %w", text, err)
	}
	return text, nil
}

func parseFormat(_ *node, text string) (any, error) {
	if text == "" {
		return nil, errors.New("it is empty")
	}
	if !slices.Contains(formats, text) {
		for _, known := range formats {
			if looksLike(plainly(text), plainly(known)) {
				return nil, fmt.Errorf("there is no format %q; the nearest is %q", text, known)
			}
		}
	}
	return text, nil
}

// formats are those of JSON Schema (2020-12, validation, section 7.3). Others may be
// anybody's own.
var formats = []string{
	"date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
	"uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template", "json-pointer", "relative-json-pointer", "regex",
}

// checkLimits refuses limits that no value can meet.
func checkLimits(n *node) error {
	for _, pair := range [][2]string{{"minimum", "maximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}} {
		target := n
		if pair[0] != "minItems" {
			target = innermost(n)
		}
		low, high := target.get(pair[0]), target.get(pair[1])
		if low == nil || high == nil {
			continue
		}
		a, b := json.Number(appendMember(nil, low)), json.Number(appendMember(nil, high))
		if rat(a).Cmp(rat(b)) > 0 {
			return fmt.Errorf("tags %q and %q: %s is more than %s", pair[0], pair[1], a, b)
		}
	}
	return nil
}

// setDefault adds the default after checking it against the schema itself.
func setDefault(f field, n *node) error {
	text, ok := f.tag.Lookup("default")
	if !ok {
		return nil
	}
	raw := jsontext.Value(text)
	if n.typ() == "string" && !(strings.HasPrefix(text, `"`) && raw.IsValid()) {
		raw = appendString(nil, text)
	}
	if err := raw.Compact(); err != nil {
		return fmt.Errorf("tag %q: %q is not valid JSON", "default", text)
	}
	if !n.hasRef() {
		s, err := Compile(n.append(nil))
		if err != nil {
			return err
		}
		if err := s.Validate(raw); err != nil {
			return fmt.Errorf("tag %q: %q does not fit: %w", "default", text, err)
		}
	}
	n.set("default", json.RawMessage(raw))
	return nil
}

func (in *inferrer) setHeader(f field, n *node) error {
	name, ok := f.tag.Lookup("header")
	if !ok {
		return nil
	}
	switch n.typ() {
	case "string", "integer", "boolean":
	default:
		return fmt.Errorf("tag %q does not fit type %s", "header", f.typ)
	}
	if !headerName.MatchString(name) {
		return fmt.Errorf("tag %q: %q is not a header name", "header", name)
	}
	key := strings.ToLower(name)
	if other, taken := in.headers[key]; taken {
		return fmt.Errorf("tag %q: %q is already the header of field %q", "header", name, other)
	}
	in.headers[key] = f.goName
	n.set("x-mcp-header", name)
	return nil
}

// headerName matches a token of RFC 9110.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
