package schema

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

type quickArgs struct {
	Name  string   `json:"name" minLength:"2" maxLength:"5" pattern:"^[a-zé]+$"`
	Color string   `json:"color,omitempty" enum:"red,green"`
	Count int      `json:"count" minimum:"0" maximum:"10"`
	Ratio float64  `json:"ratio,omitempty"`
	Tags  []string `json:"tags,omitempty" maxItems:"2"`
	Deep  *struct {
		X bool `json:"x"`
	} `json:"deep,omitempty"`
	Free json.RawMessage `json:"free,omitempty"`
}

func quickSchema(t testing.TB) *Schema {
	t.Helper()
	raw, err := Infer(reflect.TypeFor[quickArgs]())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	if s.quick == nil {
		t.Fatalf("the schema of a plain type is not quick: %s", raw)
	}
	return s
}

var quickDocs = []string{
	`{"name":"abc","count":3}`,
	`{"name":"abc","count":3,"color":"red","ratio":1,"tags":["a","b"],"deep":{"x":true},"free":[1,{"a":null}]}`,
	`{"name":"abé","count":10}`, `{"name":"ab\u0063","count":3}`, `{"name":"abc","count":3.0}`, `{"name":"abc","count":3,"ratio":1.5}`,
	`{"name":"a","count":3}`, `{"name":"abcdef","count":3}`, `{"name":"AB","count":3}`, `{"name":"abc","count":11}`, `{"name":"abc"}`,
	`{"name":"abc","count":3,"color":"blue"}`, `{"name":"abc","count":3,"tags":["a","b","c"]}`, `{"name":"abc","count":3,"more":1}`,
	`{"name":"abc","count":3,"name":"abd"}`, `{"name":"abc","count":3,"deep":{}}`, `{"name":5,"count":3}`, `[]`, `null`, `{"name":"abc","count":3}x`,
	`{"name":"abc","count":3,"free":1e999999999}`, `{"name":"abc","count":99999999999999999999}`,
}

// What quick considers valid, the evaluator considers valid.
func TestQuickAgrees(t *testing.T) {
	s := quickSchema(t)
	said := 0
	for _, doc := range quickDocs {
		quick, exact := s.quick.conforms([]byte(doc)), s.evaluate([]byte(doc)) == nil
		if quick && !exact && jsontext.Value(doc).IsValid() {
			t.Errorf("%s: quick says valid", doc)
		}
		if quick {
			said++
		}
	}
	if said < 3 {
		t.Errorf("quick settled only %d documents", said)
	}
}

func FuzzQuick(f *testing.F) {
	s := quickSchema(f)
	for _, doc := range quickDocs {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if s.quick.conforms(doc) && jsontext.Value(doc).IsValid() {
			if err := s.evaluate(doc); err != nil {
				t.Errorf("%s: quick says valid, but %v", doc, err)
			}
		}
	})
}
