package schema_test

import (
	"strings"
	"testing"
)

func TestWithDefaults(t *testing.T) {
	const nested = `{"properties":{"z":{"default":1.50},"obj":{"properties":{"x":{"default":"é"},"w":{"default":[1, 2]}}},` +
		`"list":{"items":{"properties":{"n":{"default":null}}}},"a":{"default":{"k":true}}}}`
	for _, tt := range []struct{ schema, doc, want string }{
		{nested, ``, `{"z":1.50,"a":{"k":true}}`},
		{nested, `{}`, `{"z":1.50,"a":{"k":true}}`},
		{nested, ` { } `, ` { "z":1.50,"a":{"k":true}} `},
		{nested, `{"b":1e2, "a":0}`, `{"b":1e2, "a":0,"z":1.50}`},
		{nested, `{"obj":{},"z":9007199254740993,"a":1}`, `{"obj":{"x":"é","w":[1, 2]},"z":9007199254740993,"a":1}`},
		{nested, `{"list":[{},3,{"n":1}],"z":0,"a":0}`, `{"list":[{"n":null},3,{"n":1}],"z":0,"a":0}`},
		{nested, `[1]`, `[1]`},
		{`{"$ref":"#/$defs/d","$defs":{"d":{"properties":{"a":{"$ref":"#/$defs/e"}}},"e":{"default":7}}}`, `{}`, `{"a":7}`},
		{`{"allOf":[{"properties":{"a":{"default":1}}},{"properties":{"a":{"default":2},"b":{"default":3}}}]}`, `{}`, `{"a":1,"b":3}`},
		{`{"anyOf":[{"properties":{"a":{"default":1}}}]}`, `{}`, `{}`},
		{`{"additionalProperties":{"properties":{"a":{"default":1}}}}`, `{"k":{}}`, `{"k":{"a":1}}`},
		{`{"properties":{"a":{"$ref":"#","default":{}}}}`, `{"a":{}}`, `{"a":{"a":{}}}`},
		{`{"properties":{"a/b~c%d \"é":{"default":1},"default":{"default":2}}}`, `{}`, `{"a/b~c%d \"é":1,"default":2}`},
		{`{"properties":{"\u0061":{"d\u0065fault":1}}}`, `{}`, `{"a":1}`},
	} {
		got, err := mustCompile(t, tt.schema).WithDefaults([]byte(tt.doc))
		if err != nil || string(got) != tt.want {
			t.Errorf("%.60s on %s\n got %s, %v\nwant %s", tt.schema, tt.doc, got, err, tt.want)
		}
	}
}

func TestWithDefaultsSame(t *testing.T) {
	s := mustCompile(t, `{"properties":{"a":{"default":1}}}`)
	doc := []byte(`{"a": 2}`)
	if got, err := s.WithDefaults(doc); err != nil || &got[0] != &doc[0] {
		t.Errorf("WithDefaults copied an unchanged document (%v)", err)
	}
	for _, bad := range []string{`{`, `{"a":1}}`, `{"b":1,"b":2}`} {
		if _, err := s.WithDefaults([]byte(bad)); err == nil {
			t.Errorf("WithDefaults(%s) succeeded", bad)
		}
	}
}

// A document of millions of empty objects does not become many times as long.
func TestDefaultsOfManyObjects(t *testing.T) {
	s := mustCompile(t, `{"items":{"properties":{"mode":{"default":"as it was before"}}}}`)
	if _, err := s.WithDefaults([]byte("[" + strings.Repeat("{},", 10_000) + "{}]")); err != nil {
		t.Error(err)
	}
	if _, err := s.WithDefaults([]byte("[" + strings.Repeat("{},", 1_000_000) + "{}]")); err == nil {
		t.Error("want an error")
	}
}
