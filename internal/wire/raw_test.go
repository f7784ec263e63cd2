package wire_test

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parley-mcp/parley/internal/wire"
)

// AppendRaw takes and refuses what Append does, and writes the same.
func FuzzAppendRaw(f *testing.F) {
	for _, s := range []string{
		`{}`, " {\"a\" : [1, 2.50,\n1e3] } ", `{"a":1,"a":2}`, `{"a":1} {}`, `{"a"`, ``, ` `, `null`, "\"\xff\"", `"\ud800"`, `"\u0061<\/"`, `-0`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want, wantErr := wire.Append([]byte("x"), jsontext.Value(raw))
		if raw == nil {
			return // is null to Append
		}
		got, err := wire.AppendRaw([]byte("x"), raw)
		if (err == nil) != (wantErr == nil) || !bytes.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q, %v", raw, got, err, want, wantErr)
		}
	})
}
