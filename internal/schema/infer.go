package schema

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Infer returns the JSON Schema (draft 2020-12) that describes how
// encoding/json writes a value of type t.
//
// Struct fields follow their json tags. A field is required unless it is a
// pointer, is tagged omitempty or omitzero, or has a default; other members
// are not allowed. Constraints come from field tags named like the JSON Schema
// keyword, such as `minimum:"1"` or `enum:"red,green"`; on a slice they apply
// to its items, except for minItems, maxItems and uniqueItems. The description
// may be in a description or a jsonschema tag, and header:"Name" becomes
// "x-mcp-header". Recursive types are described with "$defs".
func Infer(t reflect.Type) (json.RawMessage, error) {
	if t == nil {
		return nil, errors.New("cannot infer a schema from a nil type")
	}
	return inferOnce(shape{pointed(t), false})
}

// InferResult is Infer for what is written, and never read: a field that is a pointer and
// not tagged omitempty or omitzero is null when it is nil, so it may be null.
func InferResult(t reflect.Type) (json.RawMessage, error) {
	if t == nil {
		return nil, errors.New("cannot infer a schema from a nil type")
	}
	return inferOnce(shape{pointed(t), true})
}

func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	return t
}

// shape is what a schema is inferred of.
type shape struct {
	t      reflect.Type
	result bool // nil pointers are null
}

func infer(of shape) (json.RawMessage, error) {
	t := of.t
	in := inferrer{root: t, result: of.result, busy: map[reflect.Type]bool{}, refs: map[reflect.Type]string{}, defs: &node{}, headers: map[string]string{}}
	n, err := in.typ(t)
	if err != nil {
		return nil, fmt.Errorf("inferring the schema of %s: %w", t, err)
	}
	if len(*in.defs) > 0 {
		n.set("$defs", in.defs)
	}
	return n.append(nil), nil
}

// inferrer holds the state of one Infer call.
type inferrer struct {
	root    reflect.Type
	result  bool
	busy    map[reflect.Type]bool   // types being described
	refs    map[reflect.Type]string // recursive types and their names
	defs    *node
	headers map[string]string // the field that has each header
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	numberType    = reflect.TypeFor[json.Number]()
	bigIntType    = reflect.TypeFor[big.Int]()
	rawType       = reflect.TypeFor[json.RawMessage]()
	valueType     = reflect.TypeFor[jsontext.Value]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
	appendType    = reflect.TypeFor[encoding.TextAppender]()
	marshalType   = reflect.TypeFor[json.Marshaler]()
	marshalToType = reflect.TypeFor[jsonv2.MarshalerTo]()
)

// typ describes t. Only named types can contain themselves, so only they are
// tracked.
func (in *inferrer) typ(t reflect.Type) (*node, error) {
	if n := wellKnown(t); n != nil {
		return n, nil
	}
	if t.Name() == "" {
		return in.kind(t)
	}
	if in.busy[t] {
		return in.ref(t), nil
	}
	if _, done := in.refs[t]; done {
		return in.ref(t), nil
	}
	in.busy[t] = true
	defer delete(in.busy, t)
	n, err := in.kind(t)
	if err != nil {
		return nil, err
	}
	if name, recursive := in.refs[t]; recursive && t != in.root {
		in.defs.set(name, n)
		return in.ref(t), nil
	}
	return n, nil
}

// ref refers to t, giving it a name if it has none yet.
func (in *inferrer) ref(t reflect.Type) *node {
	n := &node{}
	if t == in.root {
		n.set("$ref", "#")
		return n
	}
	if in.refs[t] == "" {
		in.refs[t] = in.freeName(t)
	}
	n.set("$ref", "#/$defs/"+in.refs[t])
	return n
}

// freeName makes a name for t that needs no escaping in a reference.
func (in *inferrer) freeName(t reflect.Type) string {
	base := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, t.Name())
	name := base
	for i := 2; in.taken(name); i++ {
		name = base + strconv.Itoa(i)
	}
	return name
}

func (in *inferrer) taken(name string) bool {
	for _, used := range in.refs {
		if used == name {
			return true
		}
	}
	return false
}

// wellKnown describes types whose JSON does not follow from their kind. It
// returns nil for all others.
func wellKnown(t reflect.Type) *node {
	switch t {
	case timeType:
		n := newNode("string")
		n.set("format", "date-time")
		return n
	case numberType:
		return newNode("number")
	case bigIntType:
		return newNode("integer")
	case rawType, valueType:
		return newNode("")
	}
	switch {
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface:
		return nil
	case implements(t, marshalType), implements(t, marshalToType):
		return newNode("") // it may write anything
	case implements(t, textType), implements(t, appendType):
		return newNode("string")
	}
	return nil
}

func implements(t, iface reflect.Type) bool {
	return t.Implements(iface) || reflect.PointerTo(t).Implements(iface)
}

func (in *inferrer) kind(t reflect.Type) (*node, error) {
	switch t.Kind() {
	case reflect.Bool:
		return newNode("boolean"), nil
	case reflect.String:
		return newNode("string"), nil
	case reflect.Float32, reflect.Float64:
		return newNode("number"), nil
	case reflect.Interface:
		return newNode(""), nil
	case reflect.Pointer:
		return in.typ(t.Elem())
	case reflect.Struct:
		return in.structure(t)
	case reflect.Map:
		return in.mapping(t)
	case reflect.Slice, reflect.Array:
		return in.list(t)
	}
	switch {
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		return newNode("integer"), nil
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uintptr:
		n := newNode("integer")
		n.set("minimum", 0)
		return n, nil
	}
	return nil, fmt.Errorf("type %q has no JSON form", t)
}

func (in *inferrer) list(t reflect.Type) (*node, error) {
	if t.Elem().Kind() == reflect.Uint8 {
		n := newNode("string")
		n.set("contentEncoding", "base64")
		return n, nil
	}
	items, err := in.typ(t.Elem())
	if err != nil {
		return nil, err
	}
	n := newNode("array")
	n.set("items", items)
	if t.Kind() == reflect.Array {
		n.set("minItems", t.Len())
		n.set("maxItems", t.Len())
	}
	return n, nil
}

func (in *inferrer) mapping(t reflect.Type) (*node, error) {
	key := t.Key()
	switch k := key.Kind(); {
	case k == reflect.String, k >= reflect.Int && k <= reflect.Uintptr, implements(key, textType):
	default:
		return nil, fmt.Errorf("type %q cannot be a JSON object: its keys are not strings", t)
	}
	values, err := in.typ(t.Elem())
	if err != nil {
		return nil, err
	}
	n := newNode("object")
	n.set("additionalProperties", values)
	return n, nil
}

func (in *inferrer) structure(t reflect.Type) (*node, error) {
	fields, err := jsonFields(t)
	if err != nil {
		return nil, err
	}
	properties := &node{}
	var required []string
	for _, f := range fields {
		n, err := in.field(f)
		if err != nil {
			return nil, fmt.Errorf("field %q of %s: %w", f.goName, t, err)
		}
		properties.set(f.name, n)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	n := newNode("object")
	if len(fields) > 0 {
		n.set("properties", properties)
	}
	if len(required) > 0 {
		n.set("required", required)
	}
	n.set("additionalProperties", json.RawMessage("false"))
	return n, nil
}

func (in *inferrer) field(f field) (*node, error) {
	n, err := in.typ(f.typ)
	if err != nil {
		return nil, err
	}
	if f.quoted {
		if t := n.typ(); t != "integer" && t != "number" {
			return nil, fmt.Errorf("the json option %q fits only numbers, not %s", "string", f.typ)
		}
		n = newNode("string")
	}
	if err := in.applyTags(f, n); err != nil {
		return nil, err
	}
	if in.result && f.typ.Kind() == reflect.Pointer && !f.omitted {
		return orNull(n), nil
	}
	return n, nil
}

// orNull returns a schema of what another one allows, or null.
func orNull(n *node) *node {
	typ := n.typ()
	if typ == "" {
		either := &node{}
		either.set("anyOf", []json.RawMessage{n.append(nil), json.RawMessage(`{"type":"null"}`)})
		return either
	}
	n.set("type", []string{typ, "null"})
	if values, ok := n.get("enum").([]json.RawMessage); ok {
		n.set("enum", append(slices.Clone(values), json.RawMessage("null")))
	}
	return n
}
