// Package wire is the one door to the JSON library. Every message and every
// user type passes through it, so that strictness (exact member names, no
// duplicate names, valid UTF-8, exact numbers) is decided once.
package wire

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// encodeOptions: text that a handler took from a file or a process may hold
// invalid UTF-8; it is sent with U+FFFD instead of failing the whole answer.
// omitempty and time.Duration keep the meaning they have in encoding/json,
// because that is what the authors of tool types know.
var encodeOptions = json.JoinOptions(
	jsontext.AllowInvalidUTF8(true),
	json.Deterministic(true),
	jsonv1.OmitEmptyWithLegacySemantics(true),
	jsonv1.FormatDurationAsNano(true),
)

var decodeOptions = json.JoinOptions(
	jsonv1.FormatDurationAsNano(true),
)

// Marshal returns v as compact JSON on one line.
func Marshal(v any) ([]byte, error) {
	if raw, ok := v.(stdjson.RawMessage); ok {
		return marshalRaw(nil, raw)
	}
	return json.Marshal(v, encodeOptions)
}

// Append appends v as compact JSON on one line to dst. On an error, dst is
// returned unchanged.
func Append(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case Written:
		return appendWritten(dst, v)
	case stdjson.RawMessage:
		return marshalRaw(dst, v)
	}
	b := writers.Get().(*bytes.Buffer) //nolint:forcetypeassert // the pool holds nothing else
	defer func() {
		*b = bytes.Buffer{} // the space is the caller's
		writers.Put(b)
	}()
	*b = *bytes.NewBuffer(dst)
	if err := json.MarshalWrite(b, v, encodeOptions); err != nil {
		return dst, err
	}
	return b.Bytes(), nil
}

// writers let the library append to a slice.
var writers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Unmarshal decodes one JSON value. Names match exactly; duplicate names and
// invalid UTF-8 are errors; unknown members are ignored.
func Unmarshal(data []byte, v any) error {
	return explain(json.Unmarshal(data, v, decodeOptions))
}

// explain describes an error in words that may go to a peer: the JSON location
// and the two types, without the names of Go types and packages.
func explain(err error) error {
	if err == nil {
		return nil
	}
	var bad *json.SemanticError
	if !errors.As(err, &bad) {
		return err
	}
	where := strings.ReplaceAll(strings.TrimPrefix(string(bad.JSONPointer), "/"), "/", ".")
	if where == "" {
		where = "value"
	}
	what := "unexpected " + kindName(bad.JSONKind)
	if bad.Err != nil { // the type may be right, and the value is not
		what = "invalid " + kindName(bad.JSONKind) + ": " + bad.Err.Error()
	}
	return fmt.Errorf("%s: %s", where, what)
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{', '}':
		return "object"
	case '[', ']':
		return "array"
	default:
		return "value"
	}
}

// Canonical returns doc with the members of its objects sorted and without
// insignificant space. Numbers keep their text, so different values stay
// different. Digests and cache keys are computed from this form.
func Canonical(doc []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(doc))
	err := v.Format(jsontext.ReorderRawObjects(true))
	return v, err
}
