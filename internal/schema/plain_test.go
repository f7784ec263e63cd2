package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// Every keyword of the dialects, and some names that are none.
var anyKeyword = append(slices.Sorted(maps.Keys(keywords)), "x-other", "Type", "$other")

var anyValue = []string{
	`null`, `true`, `false`, `0`, `1`, `-1`, `1.5`, `2.0`, `1e2`, `99999999999999999999`, `""`, `"a"`, `"object"`, `"("`, `"^a$"`, `"regex"`,
	`"a b"`, `"%"`, `"#a"`, `[]`, `["a"]`, `["a","a"]`, `["string"]`, `["string","string"]`, `["string","x"]`, `[1,1]`, `[{}]`, `[true]`, `[[]]`,
	`{}`, `{"a":{}}`, `{"a":true}`, `{"a":1}`, `{"a":["b"]}`, `{"type":"string"}`, `{"type":"x"}`, `{"a":{"type":1}}`, `{"~/%":{"minLength":-1}}`,
	`{"(":{}}`, `{"$schema":"x"}`, `{"a":{"$id":"b","$schema":"c"}}`,
}

// A schema that is found plain is one that the compiler takes: nothing is
// wrong with it that would have to be said earlier.
func TestPlainCompiles(t *testing.T) {
	plainOnes := 0
	for _, dialect := range []string{"", "json-schema.org/draft-07/schema", "json-schema.org/draft-04/schema"} {
		for _, keyword := range anyKeyword {
			for _, value := range anyValue {
				raw := fmt.Sprintf(`{"properties":{"p":{%q:%s}},%q:%s}`, keyword, value, keyword, value)
				if keyword == "properties" {
					raw = fmt.Sprintf(`{%q:%s}`, keyword, value)
				}
				if dialect != "" {
					raw = fmt.Sprintf(`{"$schema":"https://%s",%s`, dialect, raw[1:])
				}
				plainOnes += samePromise(t, raw)
			}
		}
	}
	if plainOnes < 500 {
		t.Errorf("only %d schemas are plain", plainOnes)
	}
}

// samePromise reports whether raw is plain, as 1 or 0.
func samePromise(t *testing.T, raw string) int {
	t.Helper()
	s, err := Compile(json.RawMessage(raw))
	_, want := compileText(json.RawMessage(raw))
	if (err == nil) != (want == nil) {
		t.Errorf("%s\n got %v\nwant %v", raw, err, want)
	}
	doc, problem := decodeSchema(json.RawMessage(raw))
	p := plain{patterns: newPatterns()}
	if err != nil || problem != nil || !p.root(doc) {
		return 0
	}
	for _, v := range anyValue {
		if exact := s.evaluate([]byte(v)); exact != nil && s.Validate([]byte(v)) == nil {
			t.Errorf("%s\non %s quick says valid, but %v", raw, v, exact)
		}
	}
	return 1
}

func TestPlainIsBounded(t *testing.T) {
	for raw, want := range map[string]bool{
		manyProperties(maxPlain):               true,
		manyProperties(maxPlain + 1):           false,
		`{"pattern":"^(a{1,900}){1,9}$"}`:      false,
		`{"pattern":"^[a-z]{1,64}$"}`:          true,
		`{"$ref":"#/$defs/a","$defs":{"a":1}}`: false,
	} {
		doc, err := decodeSchema(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		p := plain{patterns: newPatterns()}
		if got := p.root(doc); got != want {
			t.Errorf("%.80s: plain is %t, want %t", raw, got, want)
		}
	}
}

func manyProperties(n int) string {
	properties := map[string]any{}
	for i := range n {
		properties[fmt.Sprint("p", i)] = map[string]any{"type": "string"}
	}
	raw, _ := json.Marshal(map[string]any{"properties": properties})
	return string(raw)
}

// What cannot be compiled is said when it is needed, if it was not before.
func TestLateFailure(t *testing.T) {
	late := errors.New("late")
	s := &Schema{fills: true, full: func() (*compiled, error) { return nil, late }}
	if err := s.Validate([]byte(`{}`)); err == nil || err.Error() != "late" {
		t.Errorf("Validate: %v", err)
	}
	if _, err := s.WithDefaults([]byte(`{}`)); !errors.Is(err, late) {
		t.Errorf("WithDefaults: %v", err)
	}
}
