package wire_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parley-mcp/parley/internal/wire"
)

// AppendRaw accepts and refuses what Append does, and writes the same, except
// that it keeps the text of strings.
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
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%q: %v; want %v", raw, err, wantErr)
		}
		if err != nil {
			return
		}
		got, err = wire.Append([]byte("x"), jsontext.Value(got[1:]))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", raw, got, err, want)
		}
	})
}

// JSON that is encoded already keeps its text, except for space between tokens;
// invalid UTF-8 must not be sent.
func TestRawKeepsItsText(t *testing.T) {
	for raw, want := range map[string]string{
		"{ \"a\" : \"\\u00e9\\/\u00e9\" ,\n\"n\":1.0,\"m\":1e400,\"i\":12345678901234567890}": `{"a":"\u00e9\/é","n":1.0,"m":1e400,"i":12345678901234567890}`,
		"[\"\xff\"]": `["�"]`,
	} {
		for name, encode := range map[string]func() ([]byte, error){
			"Marshal":   func() ([]byte, error) { return wire.Marshal(json.RawMessage(raw)) },
			"Append":    func() ([]byte, error) { return wire.Append(nil, json.RawMessage(raw)) },
			"AppendRaw": func() ([]byte, error) { return wire.AppendRaw(nil, []byte(raw)) },
		} {
			if got, err := encode(); err != nil || string(got) != want {
				t.Errorf("%s(%s): %s, %v; want %s", name, raw, got, err, want)
			}
		}
	}
	for _, bad := range []string{"", "{", `{"a":1,"a":2}`} {
		if got, err := wire.Marshal(json.RawMessage(bad)); err == nil {
			t.Errorf("%q was taken for JSON: %q", bad, got)
		}
	}
}

// Only the very slice that was encoded here is sent unchecked.
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
