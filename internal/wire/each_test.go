package wire_test

import (
	"bytes"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
)

// In a valid object, Each finds what the JSON library finds; given anything
// else, it terminates.
func FuzzEach(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, ` { "a" : [1,{"b":"}"}] , "c\n" : "x\"y" } `, `{"":null,"é":true}`, `[]`, `"x"`, `{"a`, `{"a":`, `{"a":"\`, `{"a" 1 "b"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		type member struct {
			name  string
			value []byte
		}
		var got, want []member
		for name, value := range wire.Each(doc) {
			got = append(got, member{string(name), value})
		}
		err := wire.Members(doc, func(name string, value []byte) error {
			want = append(want, member{name, bytes.Clone(value)})
			return nil
		})
		if err != nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%d members instead of %d", len(got), len(want))
		}
		for i := range got {
			if got[i].name != want[i].name || !bytes.Equal(got[i].value, want[i].value) {
				t.Errorf("member %d is %q: %s; want %q: %s", i, got[i].name, got[i].value, want[i].name, want[i].value)
			}
		}
	})
}
