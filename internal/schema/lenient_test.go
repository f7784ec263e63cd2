package schema_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/schema"
)

func TestWithoutNulls(t *testing.T) {
	const s = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"]},"c":{"type":"integer"},"d":true,
		"e":{"type":"object","properties":{"f":{"type":"boolean"}}},"g":{"type":"array","items":{"properties":{"f":{"type":"boolean"}}}}},"required":["c"]}`
	for doc, want := range map[string]string{
		`{"a":null,"c":1}`:                         `{"c":1}`,
		`{"b":null,"c":null,"d":null,"x":null}`:    "",
		`{"e":{"f":null,"h":null}}`:                `{"e":{"h":null}}`,
		`{"g":[{"f":null},{"f":true},null]}`:       `{"g":[{},{"f":true},null]}`,
		`{"a":"x","c":12345678901234567890123456}`: "",
		`{`: "", `[]`: "", `null`: "",
	} {
		got, ok := schema.WithoutNulls(json.RawMessage(s), json.RawMessage(doc))
		if ok != (want != "") || string(got) != want {
			t.Errorf("%s: got %s, %t, want %q", doc, got, ok, want)
		}
	}
	long := json.RawMessage(`{"a":null,"c":1,"x":"` + strings.Repeat("a", 256<<10) + `"}`)
	if _, ok := schema.WithoutNulls(json.RawMessage(s), long); ok {
		t.Error("a long document is decoded")
	}
	if _, ok := schema.WithoutNulls(json.RawMessage(`true`), json.RawMessage(`{"a":null}`)); ok {
		t.Error("a schema without properties says that something may be left out")
	}
}

func TestPlainIntegers(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a":10.0,"b":[1e1,-0.0,2.5],"c":"1.0"}`: `{"a":10,"b":[10,0,2.5],"c":"1.0"}`,
		`9007199254740993.0`:                      `9007199254740993`,
		`{"a":1,"b":1.5,"c":[true,null]}`:         "",
		`1e999999999`:                             "",
		`{`:                                       "",
	} {
		got, ok := schema.PlainIntegers(json.RawMessage(doc))
		if ok != (want != "") || string(got) != want {
			t.Errorf("%s: got %s, %t, want %q", doc, got, ok, want)
		}
	}
}

// What is null when it is nil may be null in results; in what is read, a pointer is what may
// be left out.
func TestInferResult(t *testing.T) {
	type inner struct {
		Deep *bool `json:"deep"`
	}
	type out struct {
		Note  *string `json:"note" enum:"a,b"`
		Left  *string `json:"left,omitempty"`
		Inner *inner  `json:"inner"`
		Self  *out    `json:"self"`
	}
	got, err := schema.InferResult(reflect.TypeFor[*out]())
	want := `{"type":"object","properties":{"note":{"type":["string","null"],"enum":["a","b",null]},"left":{"type":"string"},` +
		`"inner":{"type":["object","null"],"properties":{"deep":{"type":["boolean","null"]}},"additionalProperties":false},` +
		`"self":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"additionalProperties":false}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	compiled, err := schema.Compile(got)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(out{Self: &out{Inner: &inner{}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(raw); err != nil {
		t.Errorf("%s: %v", raw, err)
	}
	if in, err := schema.Infer(reflect.TypeFor[out]()); err != nil || strings.Contains(string(in), "null") {
		t.Errorf("what is read is %s, %v", in, err)
	}
}
