package schema_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/schema"
)

func TestHeaders(t *testing.T) {
	tests := []struct {
		name, properties string
		want             []schema.HeaderBinding
	}{
		{"none", `"a":{"type":"string"}`, nil},
		{"one", `"a":{"type":"string","x-mcp-header":"Region"}`, []schema.HeaderBinding{{Path: []string{"a"}, Type: "string", Name: "Region"}}},
		{
			"nested", `"a":{"type":"object","properties":{"b":{"type":"integer","x-mcp-header":"B"},"c":{"type":"boolean","x-mcp-header":"C"}}},"d":{"type":"string","x-mcp-header":"D"}`,
			[]schema.HeaderBinding{{Path: []string{"a", "b"}, Type: "integer", Name: "B"}, {Path: []string{"a", "c"}, Type: "boolean", Name: "C"}, {Path: []string{"d"}, Type: "string", Name: "D"}},
		},
		{"escaped", `"a":{"type":"string","x-\u006dcp-header":"A"}`, []schema.HeaderBinding{{Path: []string{"a"}, Type: "string", Name: "A"}}},
		{"a property of that name", `"x-mcp-header":{"type":"number"}`, nil},
		{"data", `"a":{"type":"object","default":{"x-mcp-header":""},"enum":[{"x-mcp-header":1}]}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := schema.Headers(json.RawMessage(`{"type":"object","properties":{` + tt.properties + `}}`))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

func TestHeadersRefused(t *testing.T) {
	const notName, unreachable, badType = "not the name of a header", "only properties", "the type must be"
	tests := map[string]struct{ schema, want string }{
		"empty":           {`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`, notName},
		"space":           {`{"properties":{"a":{"type":"string","x-mcp-header":"My Region"}}}`, notName},
		"colon":           {`{"properties":{"a":{"type":"string","x-mcp-header":"A:B"}}}`, notName},
		"non-ASCII":       {`{"properties":{"a":{"type":"string","x-mcp-header":"Région"}}}`, notName},
		"control":         {`{"properties":{"a":{"type":"string","x-mcp-header":"A\u0007"}}}`, notName},
		"line break":      {`{"properties":{"a":{"type":"string","x-mcp-header":"A\r\nB"}}}`, notName},
		"final newline":   {`{"properties":{"a":{"type":"string","x-mcp-header":"A\n"}}}`, notName},
		"not a string":    {`{"properties":{"a":{"type":"string","x-mcp-header":7}}}`, notName},
		"number":          {`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, badType},
		"object":          {`{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}`, badType},
		"array":           {`{"properties":{"a":{"type":"array","x-mcp-header":"A"}}}`, badType},
		"null":            {`{"properties":{"a":{"type":"null","x-mcp-header":"A"}}}`, badType},
		"no type":         {`{"properties":{"a":{"x-mcp-header":"A"}}}`, badType},
		"several types":   {`{"properties":{"a":{"type":["string","null"],"x-mcp-header":"A"}}}`, badType},
		"twice":           {`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"A"}}}`, "is also at"},
		"twice, in cases": {`{"properties":{"a":{"type":"string","x-mcp-header":"Aa"},"b":{"type":"string","x-mcp-header":"aA"}}}`, "is also at"},
		"root":            {`{"type":"string","x-mcp-header":"A"}`, unreachable},
		"items":           {`{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`, unreachable},
		"within items":    {`{"properties":{"a":{"items":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}}}`, unreachable},
		"prefixItems":     {`{"properties":{"a":{"prefixItems":[{"type":"string","x-mcp-header":"A"}]}}}`, unreachable},
		"oneOf":           {`{"oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`, unreachable},
		"not":             {`{"not":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`, unreachable},
		"if":              {`{"if":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`, unreachable},
		"$defs":           {`{"$defs":{"a":{"type":"string","x-mcp-header":"A"}},"properties":{"a":{"$ref":"#/$defs/a"}}}`, unreachable},
		"additional":      {`{"additionalProperties":{"type":"string","x-mcp-header":"A"}}`, unreachable},
		"pattern":         {`{"patternProperties":{"^a":{"type":"string","x-mcp-header":"A"}}}`, unreachable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := schema.Headers(json.RawMessage(tt.schema)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %+v, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
func TestMirrored(t *testing.T) {
	for number, want := range map[string]int64{
		"42": 42, "42.0": 42, "4.2e1": 42, "4200E-2": 42, "1e2": 100, "1e+2": 100, "-7": -7, "-0": 0, "042": 42,
		"9007199254740991": schema.MaxMirrored, "-9007199254740991": -schema.MaxMirrored, "9007199254740991.00": schema.MaxMirrored,
	} {
		if got, ok := schema.Mirrored(number); !ok || got != want {
			t.Errorf("%s stands for %d, %v, want %d", number, got, ok, want)
		}
	}
	for _, number := range []string{"9007199254740992", "-9007199254740992", "1e16", "1.5", "1e-1", "1e99999", "1e999", "", "x", "0x10", "1/2", "+1", " 1", "1_0", "Inf"} {
		if got, ok := schema.Mirrored(number); ok {
			t.Errorf("%q stands for %d", number, got)
		}
	}
}
