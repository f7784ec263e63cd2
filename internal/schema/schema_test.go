package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/internal/schema"
)

func mustCompile(t testing.TB, raw string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(raw))
	if err != nil {
		t.Fatalf("Compile(%.200s): %v", raw, err)
	}
	return s
}

// doubling returns n definitions that each apply the next one twice.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"object"}}}`, n)
	return b.String()
}

func TestCompileErrors(t *testing.T) {
	repeat := strings.Repeat
	for _, tt := range []struct{ name, raw, want string }{
		{"empty", ``, "empty"},
		{"not JSON", `{"type":`, "not valid JSON"},
		{"array", `[]`, "must be an object, got array"},
		{"duplicate", `{"type":"string","type":"null"}`, `duplicate object member name "type"`},
		{"dialect", `{"$schema":"https://example.com/x"}`, `unknown dialect "https://example.com/x"`},
		{"dialect type", `{"$schema":1}`, "must be a string"},
		{"keyword", `{"type":"strin"}`, `"#/type"`},
		{"subschema", `{"properties":{"a":3}}`, `"#/properties/a"`},
		{"http ref", `{"$ref":"https://example.com/s.json"}`, `refers to "https://example.com/s.json"`},
		{"file ref", `{"items":{"$ref":"file:///etc/passwd"}}`, `refers to "file:///etc/passwd"`},
		{"relative ref", `{"$ref":"other.json#/a"}`, `refers to "other.json"`},
		{"meta ref", `{"$ref":"http://json-schema.org/draft-07/schema#"}`, `"http://json-schema.org/draft-07/schema`},
		{"dangling ref", `{"$ref":"#/$defs/nope"}`, `#/$defs/nope`},
		{"dynamic ref", `{"$dynamicRef":"#x"}`, `"$dynamicRef"`},
		{"nested dialect", `{"$defs":{"a":{"$id":"x","$schema":"https://example.com/y"}},"$ref":"#/$defs/a"}`, `https://example.com/y`},
		{"lookahead", `{"pattern":"(?=a)b"}`, "lookaround"},
		{"pattern property", `{"patternProperties":{"(?!x)":{}}}`, "lookaround"},
		{"big pattern", `{"pattern":"` + repeat("(?:x{500})", 300) + `"}`, "too large"},
		{"long pattern", `{"pattern":"` + repeat("x", 5000) + `"}`, "longer than"},
		{"loop", `{"$ref":"#"}`, "refers to itself"},
		{"long loop", `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"not":{"$ref":"#/$defs/b"}}]},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`, "refers to itself"},
		{"doubling", doubling(40), "more than 100000 subschemas"},
		{"deep", repeat(`{"items":`, 70) + `{}` + repeat(`}`, 70), "levels deep"},
		{"very deep", repeat(`[`, 20000), "not valid JSON"},
		{"many", `{"allOf":[` + repeat(`true,`, 20000) + `true]}`, "more than 10000 subschemas"},
		{"large", `{"description":"` + repeat("x", 1<<20) + `"}`, "the limit is"},
		{"number", `{"maximum":1e1000000000}`, "out of range"},
		{"identifiers", `{"$defs":{` + repeat2(300, `"a%d":{"$id":"x%[1]d"}`) + `}}`, "identifiers"},
		{"long names", `{"properties":{"` + repeat("x", 100000) + `":{"properties":{` + repeat2(500, `"a%d":{}`) + `}}}}`, "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := schema.Compile([]byte(tt.raw))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Compile = %v, want an error with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "schema:///") {
				t.Errorf("error shows the internal URL: %v", err)
			}
		})
	}
}

// repeat2 formats 0..n-1 and joins the results with commas.
func repeat2(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, ",")
}

func TestCompileDialects(t *testing.T) {
	for _, d := range []string{
		"https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
		"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-04/schema#",
	} {
		s := mustCompile(t, `{"$schema":"`+d+`","properties":{"a":{"$ref":"#/definitions/b"}},"definitions":{"b":{"type":"string"}}}`)
		if err := s.Validate([]byte(`{"a":1}`)); err == nil {
			t.Errorf("%s: reference not applied", d)
		}
	}
	// Only up to draft-07 are the siblings of a reference ignored.
	s := mustCompile(t, `{"$schema":"http://json-schema.org/draft-04/schema#","maximum":5,"exclusiveMaximum":true}`)
	if err := s.Validate([]byte(`5`)); err == nil || !strings.Contains(err.Error(), "less than 5") {
		t.Errorf("draft-04 exclusiveMaximum: %v", err)
	}
}

// TestCompileLarge compiles a schema near the limits.
func TestCompileLarge(t *testing.T) {
	mustCompile(t, `{"properties":{`+repeat2(4900, `"p%d":{"type":"string"}`)+`}}`)
	mustCompile(t, `{"allOf":[`+strings.Repeat(`true,`, 9990)+`true]}`)
	mustCompile(t, `{"properties":{`+repeat2(900, `"p%d":{"$ref":"#/x/a%[1]d"}`)+`},"x":{`+repeat2(900, `"a%d":{"type":"string"}`)+`}}`)
}

func TestRaw(t *testing.T) {
	raw := []byte(` {"type": "object"} `)
	s := mustCompile(t, string(raw))
	if string(s.Raw()) != string(raw) {
		t.Errorf("Raw() = %q", s.Raw())
	}
}

func TestValidate(t *testing.T) {
	const tool = `{"type":"object","properties":{"sql":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":1000},` +
		`"mode":{"enum":["fast","slow"]},"tags":{"type":"array","items":{"type":"string"}},` +
		`"rows":{"items":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}}},` +
		`"required":["sql"],"additionalProperties":false}`
	for _, tt := range []struct{ schema, doc, want string }{
		{tool, `{"sql":"x","limit":1000,"mode":"fast","tags":["a"],"rows":[{"name":"n"}]}`, ``},
		{tool, ``, `missing required argument "sql"`},
		{tool, `[]`, `expected object, got array`},
		{tool, `{"sql":"x","limit":5000}`, `"limit": must be at most 1000, got 5000`},
		{tool, `{"sql":"x","limit":1.5}`, `"limit": expected integer, got number 1.5`},
		{tool, `{"sql":"x","mode":"medium"}`, `"mode": must be one of "fast", "slow", got "medium"`},
		{tool, `{"sql":"x","sqll":1}`, `unknown argument "sqll"; known are "limit", "mode", "rows", "sql", "tags"`},
		{tool, `{"sql":"x","tags":["a","b",3]}`, `"tags[2]": expected string, got number 3`},
		{tool, `{"sql":"x","rows":[{"name":"a"},{"name":1}]}`, `"rows[1].name": expected string, got number 1`},
		{tool, `{"sql":"x","rows":[{}]}`, `"rows[0]": missing required member "name"`},
		{tool, `{"sql":"x","rows":[{"name":"a","b":1}]}`, `"rows[0]": unknown member "b"; known are "name"`},
		{tool, `{"sql":null,"limit":0}`, "\"limit\": must be at least 1, got 0\n\"sql\": expected string, got null"},
		{tool, `{"sql":"x","sql":"y"}`, `not valid JSON: duplicate object member name "sql"`},
		{tool, `{"sql":"x"} 1`, `not valid JSON: more data after the value`},
		{`{"type":"integer"}`, `1e99999999999`, `not valid JSON: number 1e99999999999 is out of range`},
		{`{"const":9007199254740993}`, `9007199254740992`, `must be 9007199254740993, got 9007199254740992`},
		{`{"const":9007199254740993}`, `9007199254740993`, ``},
		{`{"maximum":9007199254740992}`, `9007199254740993`, `must be at most 9007199254740992, got 9007199254740993`},
		{`{"const":1.0}`, `1`, ``},
		{`{"type":"integer"}`, `1.0`, ``},
		{`{"multipleOf":0.01}`, `0.07`, ``},
		{`{"multipleOf":0.01}`, `0.075`, `must be a multiple of 0.01, got 0.075`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `3`, `expected string or null, got number 3`},
		{`{"oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]}`, `"b"`, `must be one of "r", "g", got "b"`},
		{`{"anyOf":[{"type":"string","maxLength":2},{"type":"null"}]}`, `"abc"`, `must have at most 2 characters, got 3`},
		{`{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `matches none of the allowed forms: (1) missing required argument "a"; (2) missing required argument "b"`},
		{`{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1,"b":2}`, `must match exactly one of the allowed forms, but matches both form 1 and form 2`},
		{`{"not":{"type":"string"}}`, `"x"`, `has a form that is not allowed`},
		{`{"uniqueItems":true}`, `[1,{"a":1},1.0]`, `must not repeat items, but items 0 and 2 are equal`},
		{`{"minItems":1}`, `[]`, `must have at least 1 item, got 0`},
		{`{"contains":{"type":"string"}}`, `[1]`, `must contain at least 1 item of the required form, got 0`},
		{`{"pattern":"^a+$"}`, `"b"`, `must match the pattern "^a+$", got "b"`},
		{`{"minLength":2}`, `"é"`, `must have at least 2 characters, got 1`},
		{`{"maxLength":18446744073709551615}`, `"abc"`, ``},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `"ab" is not allowed as a member name: must have at most 1 character, got 2`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `missing required argument "b", which "a" needs`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, `missing required argument "c"`},
		{`{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`, `unknown argument "b"`},
		{`{"prefixItems":[{}],"unevaluatedItems":false}`, `[1,2]`, `"[1]": not allowed`},
		{`{"properties":{"":{"type":"null"},"a.b":{"type":"null"}}}`, `{"":1,"a.b":1}`, "\"[\\\"\\\"]\": expected null, got number 1\n\"[\\\"a.b\\\"]\": expected null, got number 1"},
		{`false`, `1`, `not allowed`},
		{`{"format":"email"}`, `"x"`, `must be a valid email, got "x"`},
		{`{"format":"uri"}`, `"x"`, `must be a valid uri, got "x"`},
		{`{"format":"date"}`, `"2024-02-30"`, `must be a valid date, got "2024-02-30"`},
		{`{"format":"date-time"}`, `"2024-02-03"`, `must be a valid date-time, got "2024-02-03"`},
		{`{"format":"uuid"}`, `"x"`, `must be a valid uuid, got "x"`},
		{`{"format":"ipv4"}`, `"1.2.3"`, `must be a valid ipv4, got "1.2.3"`},
		{`{"format":"ipv6"}`, `"1.2.3"`, `must be a valid ipv6, got "1.2.3"`},
		{`{"format":"hostname"}`, `"-a"`, `must be a valid hostname, got "-a"`},
		{`{"format":"regex"}`, `"("`, `must be a valid regex, got "("`},
		{`{"format":"email"}`, `3`, ``},
	} {
		err := mustCompile(t, tt.schema).Validate([]byte(tt.doc))
		got := ""
		if err != nil {
			got = err.Error()
			var ve *schema.ValidationError
			if !errors.As(err, &ve) {
				t.Errorf("%T is not a *ValidationError", err)
			}
		}
		if got != tt.want {
			t.Errorf("%.60s on %s\n got %s\nwant %s", tt.schema, tt.doc, got, tt.want)
		}
	}
}

func TestValidateManyProblems(t *testing.T) {
	s := mustCompile(t, `{"items":{"type":"string"}}`)
	err := s.Validate([]byte(`[` + strings.Repeat(`1,`, 24) + `1]`))
	var ve *schema.ValidationError
	if !errors.As(err, &ve) || len(ve.Problems) != 10 || ve.More != 15 {
		t.Fatalf("got %#v", err)
	}
	if !strings.HasSuffix(err.Error(), "\nand 15 more") {
		t.Errorf("got %q", err)
	}
}

// TestValidateBombs checks that hostile pairs of schema and document are either
// given up on after a bounded amount of work, or need little work. It does not
// measure time, which depends on the machine; without a bound, most of them
// would never end.
func TestValidateBombs(t *testing.T) {
	repeat := strings.Repeat
	var chain strings.Builder
	chain.WriteString(`{"properties":{"a":{"$ref":"#/$defs/c0"}},"$defs":{`)
	for i := range 2000 {
		fmt.Fprintf(&chain, `"c%d":{"$ref":"#/$defs/c%d"},`, i, i+1)
	}
	chain.WriteString(`"c2000":{"properties":{"a":{"$ref":"#/$defs/c0"}}}}}`)
	nested := repeat(`{"a":`, 5000) + `1` + repeat(`}`, 5000)
	const tooMuch = "too large or too deeply nested to be checked against this schema"
	for _, tt := range []struct{ name, want, schema, doc string }{
		{"recursive anyOf", tooMuch, `{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["x"]},{"properties":{"a":{"$ref":"#"}},"required":["y"]}]}`, nested},
		{"recursive allOf", tooMuch, `{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`, nested},
		{"reference chain", tooMuch, chain.String(), nested},
		{"fan out", "", doubling(14), `{"a":` + repeat(`[`, 1000) + repeat(`]`, 1000) + `}`},
		{"pattern", tooMuch, `{"items":{"pattern":"(x+x+)+y{1,900}"}}`, `["` + repeat("x", 1<<20) + `"]`},
		{"unique", "", `{"uniqueItems":true}`, `[` + repeat2(100000, `{"a":%d}`) + `]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mustCompile(t, tt.schema)
			got := ""
			if err := s.Validate([]byte(tt.doc)); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("Validate = %.100q, want %q", got, tt.want)
			}
			_, err := s.WithDefaults([]byte(tt.doc))
			t.Logf("with defaults: %.100v", err)
		})
	}
}

func TestConcurrent(t *testing.T) {
	s := mustCompile(t, `{"properties":{"a":{"format":"regex","default":"x"},"b":{"pattern":"^x"}}}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if err := s.Validate([]byte(`{"a":"a+","b":"x"}`)); err != nil {
					t.Error(err)
				}
				if _, err := s.WithDefaults([]byte(`{"b":"x"}`)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
