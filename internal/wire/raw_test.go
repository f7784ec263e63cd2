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

// Only the very piece that was encoded here goes out unchecked.
func TestAppendEncodedChecksAllOtherPieces(t *testing.T) {
	raw, encoded, err := wire.MarshalEncoded(map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := wire.AppendEncoded([]byte("x"), raw, encoded); err != nil || string(got) != `x{"a":1}` {
		t.Errorf("got %q, %v", got, err)
	}
	for _, other := range [][]byte{raw[:4], raw[1:], []byte("{\n"), {}, nil} {
		if got, err := wire.AppendEncoded([]byte("x"), other, encoded); err == nil {
			t.Errorf("%q was taken for JSON: %q", other, got)
		}
	}
	if got, err := wire.AppendEncoded(nil, []byte("{ }"), wire.Encoded{}); err != nil || string(got) != "{}" {
		t.Errorf("got %q, %v", got, err)
	}
}
