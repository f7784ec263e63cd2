package schema_test

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/schema"
)

type tree struct {
	Name string  `json:"name"`
	Kids []*tree `json:"kids,omitempty"`
}

type forest struct {
	Trees []tree          `json:"trees"`
	Named map[string]tree `json:"named,omitzero"`
}

type base struct {
	ID    string `json:"id"`
	Label string `json:"label,omitempty"`
}

type embedding struct {
	Zone string `json:"zone"`
	base
	Label int `json:"label"`
}

type optionalBase struct {
	*base
	A int `json:"a"`
}

func TestInfer(t *testing.T) {
	type query struct {
		SQL    string   `json:"sql" jsonschema:"the <query> to run"`
		Limit  int      `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10"`
		Mode   string   `json:"mode" enum:"fast, slow" default:"fast" title:"Mode"`
		Tags   []string `json:"tags,omitempty" enum:"a,b" pattern:"^[ab]$" minItems:"1" maxItems:"3" uniqueItems:"true" default:"[\"a\"]"`
		Region string   `json:"region" header:"Region"`
		Skip   string   `json:"-"`
		Ptr    *bool
		hidden int
	}
	for _, tt := range []struct {
		value any
		want  string
	}{
		{struct{}{}, `{"type":"object","additionalProperties":false}`},
		{query{hidden: 1}, `{"type":"object","properties":{` +
			`"sql":{"type":"string","description":"the <query> to run"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":1000,"default":10},` +
			`"mode":{"type":"string","title":"Mode","enum":["fast","slow"],"default":"fast"},` +
			`"tags":{"type":"array","items":{"type":"string","enum":["a","b"],"pattern":"^[ab]$"},"minItems":1,"maxItems":3,"uniqueItems":true,"default":["a"]},` +
			`"region":{"type":"string","x-mcp-header":"Region"},` +
			`"Ptr":{"type":"boolean"}},"required":["sql","region"],"additionalProperties":false}`},
		{struct {
			T time.Time       `json:"t"`
			B []byte          `json:"b"`
			R json.RawMessage `json:"r"`
			A any             `json:"a"`
			N json.Number     `json:"n"`
			I *big.Int        `json:"i"`
			U uint8           `json:"u" maximum:"7"`
			F float64         `json:"f" multipleOf:"0.5" exclusiveMinimum:"0"`
			P netip.Addr      `json:"p" format:"ipv4"`
			S int64           `json:"s,string"`
			V [2]int          `json:"v" enum:"1,2"`
		}{}, `{"type":"object","properties":{"t":{"type":"string","format":"date-time"},` +
			`"b":{"type":"string","contentEncoding":"base64"},"r":{},"a":{},"n":{"type":"number"},"i":{"type":"integer"},` +
			`"u":{"type":"integer","minimum":0,"maximum":7},"f":{"type":"number","exclusiveMinimum":0,"multipleOf":0.5},` +
			`"p":{"type":"string","format":"ipv4"},"s":{"type":"string"},` +
			`"v":{"type":"array","items":{"type":"integer","enum":[1,2]},"minItems":2,"maxItems":2}},` +
			`"required":["t","b","r","a","n","u","f","p","s","v"],"additionalProperties":false}`},
		{map[string]int{}, `{"type":"object","additionalProperties":{"type":"integer"}}`},
		{[]any{}, `{"type":"array","items":{}}`},
		{&tree{}, `{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#"}}},"required":["name"],"additionalProperties":false}`},
		{forest{}, `{"type":"object","properties":{"trees":{"type":"array","items":{"$ref":"#/$defs/tree"}},` +
			`"named":{"type":"object","additionalProperties":{"$ref":"#/$defs/tree"}}},"required":["trees"],"additionalProperties":false,` +
			`"$defs":{"tree":{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["name"],"additionalProperties":false}}}`},
		{embedding{}, `{"type":"object","properties":{"zone":{"type":"string"},"id":{"type":"string"},"label":{"type":"integer"}},"required":["zone","id","label"],"additionalProperties":false}`},
		{optionalBase{}, `{"type":"object","properties":{"id":{"type":"string"},"label":{"type":"string"},"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`},
	} {
		got, err := schema.Infer(reflect.TypeOf(tt.value))
		if err != nil {
			t.Errorf("Infer(%T): %v", tt.value, err)
			continue
		}
		if string(got) != tt.want {
			t.Errorf("Infer(%T)\n got %s\nwant %s", tt.value, got, tt.want)
		}
		if _, err := schema.Compile(got); err != nil {
			t.Errorf("Compile(Infer(%T)): %v", tt.value, err)
		}
	}
}

func TestInferErrors(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  []string
	}{
		{struct {
			A struct{} `enum:"x"`
		}{}, []string{`"A"`, `"enum"`, "struct {}"}},
		{struct {
			A string `minimum:"1"`
		}{}, []string{`"A"`, `"minimum"`, "string"}},
		{struct {
			A int `minimum:"x"`
		}{}, []string{`"x" is not a number`}},
		{struct {
			A int `enum:"1.5"`
		}{}, []string{`"1.5" is not an integer`}},
		{struct {
			A uint `minimum:"-1"`
		}{}, []string{`"-1"`, "unsigned"}},
		{struct {
			A int `minimum:"5" maximum:"1"`
		}{}, []string{`"minimum"`, `"maximum"`}},
		{struct {
			A int `default:"x"`
		}{}, []string{`"default"`, `"x"`}},
		{struct {
			A int `default:"\"x\""`
		}{}, []string{"expected integer, got string"}},
		{struct {
			A string `enum:"a,b" default:"c"`
		}{}, []string{`must be one of "a", "b", got "c"`}},
		{struct {
			A string `pattern:"(?=x)"`
		}{}, []string{`"pattern"`, `"(?=x)"`}},
		{struct {
			A string `minLength:"-1"`
		}{}, []string{`"-1" is not a count`}},
		{struct {
			A string `jsonschema:"required,minimum=1"`
		}{}, []string{"not a description"}},
		{struct {
			A []int `header:"X"`
		}{}, []string{`"header"`, "[]int"}},
		{struct {
			A string `header:"a b"`
		}{}, []string{"not a header name"}},
		{struct {
			A string `header:"X"`
			B string `header:"x"`
		}{}, []string{`"x" is already`}},
		{struct{ C chan int }{}, []string{`"C"`, `"chan int"`}},
		{map[[2]int]string{}, []string{"keys are not strings"}},
		{struct {
			A bool `json:",string"`
		}{}, []string{"only numbers"}},
		{struct {
			A int `json:"B"`
			B int
		}{}, []string{`same JSON name "B"`}},
	} {
		_, err := schema.Infer(reflect.TypeOf(tt.value))
		if err == nil {
			t.Errorf("Infer(%T) succeeded", tt.value)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Infer(%T) = %q, want it to contain %q", tt.value, err, want)
			}
		}
	}
	if _, err := schema.Infer(nil); err == nil {
		t.Error("Infer(nil) succeeded")
	}
}
