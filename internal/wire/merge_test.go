package wire_test

import (
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
)

func TestMerge(t *testing.T) {
	for _, tt := range []struct{ name, original, before, after, want string }{
		{"nothing changed", `{"n":1.0}`, `{"n":1}`, `{"n":1}`, `{"n":1.0}`},
		{"unknown members stay", `{"x":1e400,"a":1}`, `{"a":1}`, `{"a":2}`, `{"x":1e400,"a":2}`},
		{"cleared members go", `{"a":1,"x":2,"b":3}`, `{"a":1,"b":3}`, `{"a":1}`, `{"a":1,"x":2}`},
		{"added members come last", `{"x":2}`, `{}`, `{"a":1}`, `{"x":2,"a":1}`},
		{"what encoding added is left out", `{"a":1}`, `{"a":1,"list":[]}`, `{"a":2,"list":[]}`, `{"a":2}`},
		{"inside of arrays", `[{"n":1.0,"x":0},{"y":0}]`, `[{"n":1},{}]`, `[{},{}]`, `[{"x":0},{"y":0}]`},
		{"an array of another length", `[1.0,2]`, `[1,2]`, `[1]`, `[1]`},
		{"another kind of value", `{"a":{"x":1}}`, `{"a":{}}`, `{"a":"gone"}`, `{"a":"gone"}`},
		{"space and escapes", ` { "a" : [ 1.0 , "\u0061" ] , "b" : 2 } `, `{"a":[1,"a"],"b":2}`, `{"a":[1,"a"]}`, `{"a":[ 1.0 , "\u0061" ]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := wire.Merge([]byte(tt.original), []byte(tt.before), []byte(tt.after))
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}
