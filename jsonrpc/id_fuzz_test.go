package jsonrpc_test

import (
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
)

// Two IDs are equal exactly when they are the same JSON value, and an ID comes
// back as the value that it was.
func FuzzID(f *testing.F) {
	for _, s := range []string{`1`, `-7`, `"a"`, `"\u0061"`, `"é"`, `"\ud83d\ude42"`, `123456789012345678901234567890`, `1.0`, `1e3`, `-0`, `""`, `null`} {
		f.Add(s, `"a"`)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		first, err := jsonrpc.ParseID([]byte(a))
		if err != nil || !json.Valid([]byte(a)) {
			return
		}
		if again, err := jsonrpc.ParseID([]byte(first.String())); err != nil || again != first {
			t.Fatalf("%s became %s, then %s (%v)", a, first, again, err)
		}
		if value(t, a) != value(t, first.String()) {
			t.Fatalf("%s became %s", a, first)
		}
		second, err := jsonrpc.ParseID([]byte(b))
		if err != nil || !json.Valid([]byte(b)) {
			return
		}
		if (first == second) != (value(t, a) == value(t, b)) {
			t.Fatalf("%s and %s: equal is %v", a, b, first == second)
		}
	})
}

// value tells strings from numbers, and keeps all digits of these.
func value(t *testing.T, id string) string {
	t.Helper()
	if id[0] != '"' {
		return id
	}
	var s string
	if err := json.Unmarshal([]byte(id), &s); err != nil {
		t.Fatal(err)
	}
	return `"` + s
}
