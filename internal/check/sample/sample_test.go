package sample

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/schema"
)

func TestValues(t *testing.T) {
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, tt := range []struct{ schema, required, all string }{
		// What the schema names goes first.
		{`{"type":"object","properties":{"a":{"type":"string","examples":["x","y"],"default":"z"}},"required":["a"]}`, `{"a":"x"}`, ``},
		{`{"type":"object","properties":{"a":{"type":"integer","default":7},"b":{"enum":["p","q"]},"c":{"const":null}}}`, `{}`, `{"a":7,"b":"p","c":null}`},
		{`{"type":"object","properties":{"a":{"type":"string","examples":[1,"good"]}},"required":["a"]}`, `{"a":"good"}`, ``},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"examples":[{"a":"whole"}]}`, `{"a":"whole"}`, ``},
		{`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}},"required":["a"]}`, `{"a":"sample"}`, ``},
		// Types and bounds.
		{`{"type":"object"}`, `{}`, ``},
		{`{}`, `{}`, ``},
		{`true`, `{}`, ``},
		{`{"properties":{"b":{"type":"boolean"},"n":{"type":"null"},"i":{"type":"integer"},"f":{"type":"number"},"s":{}},"required":["b","n","i","f","s"]}`, `{"b":false,"f":1,"i":1,"n":null,"s":"sample"}`, ``},
		{`{"properties":{"a":{"type":"integer","minimum":10,"maximum":12,"multipleOf":4}},"required":["a"]}`, `{"a":12}`, ``},
		{`{"properties":{"a":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.5}},"required":["a"]}`, `{"a":0.25}`, ``},
		{`{"properties":{"a":{"type":"number","minimum":2.1,"multipleOf":0.7,"maximum":2.2}},"required":["a"]}`, `{"a":2.1}`, ``},
		{`{"properties":{"a":{"type":"integer","minimum":9007199254740993}},"required":["a"]}`, `{"a":9007199254740993}`, ``},
		{`{"properties":{"a":{"type":"integer","exclusiveMaximum":-5}},"required":["a"]}`, `{"a":-6}`, ``},
		{`{"properties":{"a":{"type":["null","string"]}},"required":["a"]}`, `{"a":"sample"}`, ``},
		{`{"properties":{"a":{"type":"string","minLength":10},"b":{"type":"string","maxLength":2}},"required":["a","b"]}`, `{"a":"sampleeeee","b":"sa"}`, ``},
		{
			`{"properties":{"a":{"format":"date"},"b":{"type":"string","format":"uuid"},"c":{"type":"string","format":"email"},"d":{"type":"string","format":"ipv4"},"e":{"type":"string","format":"date-time"},"url":{"type":"string"}},"required":["a","b","c","d","e","url"]}`,
			`{"a":"2026-01-02","b":"00000000-0000-4000-8000-000000000001","c":"sample@example.com","d":"192.0.2.1","e":"2026-01-02T03:04:05Z","url":"https://example.com/"}`, ``,
		},
		{`{"properties":{"a":{"type":"string","pattern":"^[A-Z]{3}-\\d+(x|y)$"}},"required":["a"]}`, `{"a":"AAA-0x"}`, ``},
		{`{"properties":{"a":{"type":"string","pattern":"^[0-9a-f]*$","minLength":40,"maxLength":40}},"required":["a"]}`, `{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`, ``},
		// Containers.
		{`{"properties":{"a":{"type":"array","items":{"type":"integer"}}},"required":["a"]}`, `{"a":[1]}`, ``},
		{`{"properties":{"a":{"type":"array","items":{"type":"string"},"minItems":3,"uniqueItems":true}},"required":["a"]}`, `{"a":["sample","a","1"]}`, ``},
		{`{"properties":{"a":{"type":"array","items":{"type":"object","properties":{"k":{"enum":[1,2]}},"required":["k"]},"minItems":2,"uniqueItems":true}},"required":["a"]}`, `{"a":[{"k":1},{"k":2}]}`, ``},
		{`{"properties":{"a":{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":false,"minItems":2}},"required":["a"]}`, `{"a":["sample",1]}`, ``},
		{`{` + draft7 + `"properties":{"a":{"items":[{"type":"string"},{"type":"integer"}],"additionalItems":{"type":"null"},"minItems":3}},"required":["a"]}`, `{"a":["sample",1,null]}`, ``},
		{`{"properties":{"a":{"type":"array","contains":{"const":"k"},"minItems":2}},"required":["a"]}`, `{"a":["k","sample"]}`, ``},
		{`{"properties":{"a":{"type":"array","maxItems":0,"items":{"type":"string"}}},"required":["a"]}`, `{"a":[]}`, ``},
		{`{"type":"object","additionalProperties":{"type":"integer"},"minProperties":2}`, `{"member1":1,"member2":1}`, ``},
		{`{"type":"object","propertyNames":{"pattern":"^[A-Z]+$"},"minProperties":2}`, `{"A":"sample","B":"sample"}`, ``},
		{`{"type":"object","patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":false,"minProperties":1}`, `{"x-":1}`, ``},
		{`{"properties":{"a":{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"string"}},"required":["b"]}},"required":["a"]}`, `{"a":{"b":"sample"}}`, `{"a":{"b":"sample","c":"sample"}}`},
		{`{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"],"dependentRequired":{"a":["b"]}}`, `{"a":"sample","b":"sample"}`, ``},
		// Combinations and references.
		{`{"allOf":[{"required":["a"]},{"properties":{"a":{"minimum":3}}}],"properties":{"a":{"type":"integer"}}}`, `{"a":3}`, ``},
		{`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["a"]}`, `{"a":"sample"}`, ``},
		{`{"oneOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{"const":1},"b":{"const":2}}}`, `{"a":1}`, `{"a":1}`},
		{`{"properties":{"a":{"oneOf":[{"type":"integer","minimum":5},{"type":"integer","minimum":9}]}},"required":["a"]}`, `{"a":5}`, ``},
		{`{"properties":{"a":{"not":{"const":"sample"},"type":"string"}},"required":["a"]}`, `{"a":"a"}`, ``},
		{`{"properties":{"k":{"enum":["x","y"]},"v":{}},"required":["k"],"if":{"properties":{"k":{"const":"x"}}},"then":{"required":["v"]}}`, `{"k":"x","v":"sample"}`, ``},
		{`{` + draft7 + `"definitions":{"id":{"type":"integer","minimum":2}},"properties":{"a":{"$ref":"#/definitions/id"}},"required":["a"]}`, `{"a":2}`, ``},
		{`{"$defs":{"n":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["next"]}},"$ref":"#/$defs/n"}`, `{"next":{"next":{"next":null}}}`, ``},
		{`{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`, `{}`, ``},
		// A member that can't be made is left out if it may be.
		{`{"properties":{"a":false,"b":{"type":"string","minLength":5,"maxLength":4},"c":{"type":"string"}}}`, `{}`, `{"c":"sample"}`},
		// What is mistaken does not count.
		{`{"type":"object","properties":{"a":{"type":"strnig"},"b":{"type":"string","pattern":"(?=x)y"}},"required":["a","b"]}`, `{"a":"sample","b":"sample"}`, ``},
		{`{"type":"object","properties":{"a":{"$ref":"https://example.com/s.json"},"b":{"$ref":"#/$defs/gone"},"c":{"type":"integer","required":true,"minimum":"1"}},"required":["a","b","c"]}`, `{"a":"sample","b":"sample","c":1}`, ``},
		{`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"integer"}]}},"required":["a"]}`, `{"a":[1]}`, ``},
	} {
		m, err := New([]byte(tt.schema))
		if err != nil {
			t.Errorf("%s: %v", tt.schema, err)
			continue
		}
		for _, all := range []bool{false, true} {
			want := tt.required
			if all && tt.all != "" {
				want = tt.all
			}
			if all && tt.all == "" {
				continue
			}
			for range 2 {
				if got, err := m.Value(all); err != nil || string(got) != want {
					t.Errorf("%s: all=%v: %s, %v; want %s", tt.schema, all, got, err, want)
				}
			}
		}
	}
}

func TestNoValue(t *testing.T) {
	for _, tt := range []struct{ schema, pointer, reason string }{
		{`false`, "", "nothing was found that the schema accepts"},
		{`{"properties":{"a":{"properties":{"b/c":{"type":"string","pattern":"^a$","minLength":2}},"required":["b/c"]}},"required":["a"]}`, "/a/b~1c", `the pattern "^a$"`},
		{`{"properties":{"a":{"type":"array","items":{"type":"integer","minimum":2,"maximum":1}, "minItems":1}},"required":["a"]}`, "/a/0", "nothing was found"},
		{`{"properties":{"a":{"type":"array","minItems":1000000}},"required":["a"]}`, "/a", "1000000 items, which is too many"},
		{`{"properties":{"a":{"type":"string","minLength":1000000}},"required":["a"]}`, "/a", "1000000 characters, which is too long"},
		{`{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"required":["next"]}},"$ref":"#/$defs/n"}`, strings.Repeat("/next", 4), "goes on for more than 3 levels"},
		{`{"properties":{"a":{"type":"string","format":"date","minLength":11}},"required":["a"]}`, "/a", `the format "date"`},
	} {
		m, err := New([]byte(tt.schema))
		if err != nil {
			t.Errorf("%s: %v", tt.schema, err)
			continue
		}
		v, err := m.Value(false)
		var faulty *Error
		if !errors.As(err, &faulty) || faulty.Pointer != tt.pointer || !strings.Contains(faulty.Reason, tt.reason) {
			t.Errorf("%s: %s, %v; want an error at %q with %q", tt.schema, v, err, tt.pointer, tt.reason)
		}
	}
	for _, text := range []string{``, `{`, `3`, `{"a":1,"a":2}`} {
		if _, err := New([]byte(text)); err == nil {
			t.Errorf("New(%q) gave no error", text)
		}
	}
}

func TestMended(t *testing.T) {
	for text, want := range map[string]bool{`{"type":"object"}`: false, `{"type":"objcet"}`: true} {
		if m, err := New([]byte(text)); err != nil || m.Mended() != want {
			t.Errorf("New(%s): %v; want Mended() = %v", text, err, want)
		}
	}
}

func TestBroken(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{
			`{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"},"o":{"type":"string"}},"required":["a","n"],"additionalProperties":false}`,
			`missing member a {"n":1}
missing member n {"a":"sample"}
wrong type a {"a":{"parley":"wrong type"},"n":1}
wrong type n {"a":"sample","n":{"parley":"wrong type"}}
extra member parley_check_extra {"a":"sample","n":1,"parley_check_extra":true}`,
		},
		{`{"type":"object","properties":{"o":{"type":"object"},"any":{}}}`, `wrong type o {"any":"sample","o":"wrong type"}`},
		{`{"type":"object"}`, ``},
	} {
		m, err := New([]byte(tt.schema))
		if err != nil {
			t.Fatal(err)
		}
		all, err := m.Broken()
		if err != nil {
			t.Errorf("%s: %v", tt.schema, err)
		}
		var got []string
		for _, b := range all {
			got = append(got, string(b.Way)+" "+b.Member+" "+string(b.JSON))
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.schema, strings.Join(got, "\n"), tt.want)
		}
	}
	for _, text := range []string{`false`, `{"type":"string"}`} {
		m, err := New([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Broken(); err == nil {
			t.Errorf("Broken of %s gave no error", text)
		}
	}
}

func TestAnswer(t *testing.T) {
	form := `{"type":"object","properties":{
		"name":{"type":"string","title":"Name","minLength":3},
		"mail":{"type":"string","format":"email"},
		"age":{"type":"integer","minimum":18,"maximum":120},
		"score":{"type":"number","default":1.5},
		"ok":{"type":"boolean","default":true},
		"plain":{"type":"string","enum":["r","g"]},
		"old":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]},
		"titled":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]},
		"many":{"type":"array","minItems":2,"items":{"type":"string","enum":["a","b","c"]}},
		"manyTitled":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}}
	},"required":["name"]}`
	got, err := Answer([]byte(form))
	want := `{"age":18,"mail":"sample@example.com","many":["a","a"],"manyTitled":["a"],"name":"sample","ok":true,"old":"r","plain":"r","score":1.5,"titled":"r"}`
	if err != nil || string(got) != want {
		t.Errorf("Answer = %s, %v\nwant %s", got, err, want)
	}
	if _, err := Answer([]byte(`1`)); err == nil {
		t.Error("Answer to no form gave no error")
	}
}

// Whatever the schema, making a value ends, and what is made fits.
func FuzzValue(f *testing.F) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"type":"string","pattern":"^(a|b{2,3})+$"},"n":{"multipleOf":0.3,"minimum":1}},"required":["a","n"],"additionalProperties":false}`,
		`{"$defs":{"n":{"anyOf":[{"type":"object","properties":{"l":{"$ref":"#/$defs/n"},"r":{"$ref":"#/$defs/n"}},"required":["l","r"]},{"const":0}]}},"$ref":"#/$defs/n"}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":{"minimum":3},"contains":{"const":1},"minItems":5,"uniqueItems":true}`,
		`{"oneOf":[{"required":["a"]},{"required":["b"]}],"if":{"required":["a"]},"then":{"minProperties":3},"propertyNames":{"maxLength":2},"unevaluatedProperties":false}`,
		`{"type":"strnig","pattern":"(","items":[1,{"$ref":"#/x"}],"enum":[],"required":["a",1],"properties":{"a":{"minLength":70,"format":"uri"}}}`,
		`{"type":"array","items":{"type":"array","items":{"type":"array","minItems":50},"minItems":50},"minItems":50}`,
		`{"dependentSchemas":{"a":{"required":["b"]}},"required":["a"],"patternProperties":{"^b":{"exclusiveMinimum":1,"exclusiveMaximum":1.0000001}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := New(text)
		if err != nil {
			return
		}
		for _, all := range []bool{false, true} {
			v, err := m.Value(all)
			if err != nil {
				if !errors.As(err, new(*Error)) {
					t.Fatalf("%s: %T", text, err)
				}
				continue
			}
			if again, err := m.Value(all); err != nil || string(again) != string(v) {
				t.Fatalf("%s: first %s, then %s, %v", text, v, again, err)
			}
			if !json.Valid(v) {
				t.Fatalf("%s: %s", text, v)
			}
			if s, err := schema.Compile(text); err == nil && s.Validate(v) != nil {
				t.Fatalf("%s: %s: %v", text, v, s.Validate(v))
			}
		}
		broken, err := m.Broken()
		if err != nil {
			return
		}
		for _, b := range broken {
			if s, err := schema.Compile(text); err == nil && s.Validate(b.JSON) == nil {
				t.Fatalf("%s: %s is right", text, b.JSON)
			}
		}
	})
}
