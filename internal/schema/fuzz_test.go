package schema

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

var fuzzSeeds = []struct{ schema, doc string }{
	{`{"type":"object","properties":{"a":{"type":"integer","maximum":10,"default":1}},"required":["a"],"additionalProperties":false}`, `{"a":11,"b":1}`},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":{"minimum":3},"contains":{"const":1}}`, `["x",4,1]`},
	{`{"$schema":"https://json-schema.org/draft/2019-09/schema","$ref":"#/$defs/a","$defs":{"a":{"type":"array","uniqueItems":true}},"unevaluatedItems":false}`, `[1,1.0]`},
	{`{"allOf":[{"properties":{"a":true}}],"anyOf":[{"properties":{"b":true},"required":["b"]},{"required":["a"]}],"unevaluatedProperties":false}`, `{"a":1,"b":2,"c":3}`},
	{`{"prefixItems":[{"type":"null"}],"contains":{"type":"string"},"minContains":1,"maxContains":2,"unevaluatedItems":{"type":"number"}}`, `[null,"a",3]`},
	{`{"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]},"else":{"not":{"required":["c"]}},"dependentSchemas":{"a":{"minProperties":2}}}`, `{"a":1,"c":2}`},
	{`{"oneOf":[{"multipleOf":0.5},{"exclusiveMinimum":2}],"enum":[1,2.5,"x",{"a":[1]}]}`, `2.5`},
	{`{"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"},"v":{"default":{}}}}},"$ref":"#/$defs/n","propertyNames":{"pattern":"^[a-z]+$"}}`, `{"next":{"next":{}}}`},
	{`{"patternProperties":{"^x":{"format":"date-time"},"y$":{"maxLength":2}},"additionalProperties":{"minLength":1}}`, `{"xy":"abc","z":""}`},
}

func FuzzCompile(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s.schema))
	}
	f.Add([]byte(`{"$id":"http://a/","$defs":{"x":{"$id":"b","$anchor":"c"}},"$ref":"b#c"}`))
	f.Add([]byte(`{"$schema":"http://json-schema.org/draft-04/schema#","id":"#x","$ref":"#x"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Compile(raw)
		if err != nil {
			if err.Error() == "" || bytes.Contains([]byte(err.Error()), []byte("schema cannot be compiled")) {
				t.Errorf("bad error %q", err)
			}
			return
		}
		if !bytes.Equal(s.Raw(), raw) {
			t.Errorf("Raw() = %q, want %q", s.Raw(), raw)
		}
		if _, err := s.full(); err != nil {
			t.Errorf("a plain schema does not compile: %v", err)
		}
	})
}

// FuzzValidate compares the verdict with that of the compiler's own validator.
func FuzzValidate(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s.schema), []byte(s.doc))
	}
	f.Fuzz(func(t *testing.T, raw, doc []byte) {
		s, err := Compile(raw)
		if err != nil {
			return
		}
		err = s.Validate(doc)
		var ve *ValidationError
		if err != nil && (!errors.As(err, &ve) || len(ve.Problems) == 0 || err.Error() == "") {
			t.Fatalf("bad error %#v", err)
		}
		v, decodeErr := Decode(doc)
		if decodeErr != nil || len(doc) > 200 {
			return
		}
		if err != nil && strings.Contains(err.Error(), "too large or too deeply nested") {
			return // the library would not terminate
		}
		if want := compiledRoot(t, s).Validate(v); (want == nil) != (err == nil) {
			t.Errorf("Validate = %v, the library says %v", err, want)
		}
	})
}

func FuzzWithDefaults(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s.schema), []byte(s.doc))
	}
	f.Fuzz(func(t *testing.T, raw, doc []byte) {
		s, err := Compile(raw)
		if err != nil {
			return
		}
		before, err := Decode(doc)
		if err != nil {
			return
		}
		out, err := s.WithDefaults(doc)
		if err != nil {
			t.Fatalf("WithDefaults(%q): %v", doc, err)
		}
		after, err := Decode(out)
		if err != nil {
			t.Fatalf("WithDefaults(%q) = %q: %v", doc, out, err)
		}
		if !extends(after, before) {
			t.Errorf("WithDefaults(%q) = %q loses something", doc, out)
		}
	})
}

// extends reports whether a is b, possibly with members added.
func extends(a, b any) bool {
	switch b := b.(type) {
	case map[string]any:
		a, ok := a.(map[string]any)
		for name, v := range b {
			ok = ok && extends(a[name], v)
		}
		return ok
	case []any:
		a, ok := a.([]any)
		ok = ok && len(a) == len(b)
		for i := range b {
			ok = ok && extends(a[i], b[i])
		}
		return ok
	}
	return a == b
}
