package wire_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
)

// An independent decoder finds in an object what Set, Without and Canonical
// made of it.
func FuzzObject(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"b":[1,2],"a":{"c":null}}`, `{"a":1.50,"é":"\u00e9"}`, `{"a":1e999}`, `[]`, `{"a":1,"a":2}`} {
		f.Add([]byte(s), "a", []byte(`{"new":true}`))
	}
	f.Fuzz(func(t *testing.T, doc []byte, name string, value []byte) {
		var want map[string]json.RawMessage
		if wire.Unmarshal(doc, &want) != nil || want == nil || wire.Unmarshal(value, new(json.RawMessage)) != nil {
			return
		}
		set, err := wire.Set(doc, name, value)
		if err != nil {
			return // the name is not UTF-8
		}
		want[name] = value
		compare(t, "Set", set, want)
		without, err := wire.Without(set, name)
		if err != nil {
			t.Fatalf("Without: %v in %s", err, set)
		}
		delete(want, name)
		compare(t, "Without", without, want)
		canonical, err := wire.Canonical(without)
		if err != nil {
			t.Fatalf("Canonical: %v in %s", err, without)
		}
		if again, err := wire.Canonical(canonical); err != nil || !bytes.Equal(canonical, again) {
			t.Fatalf("Canonical is not stable: %s, then %s (%v)", canonical, again, err)
		}
	})
}

func compare(t *testing.T, what string, doc []byte, want map[string]json.RawMessage) {
	t.Helper()
	var got map[string]json.RawMessage
	if err := json.Unmarshal(doc, &got); err != nil {
		t.Fatalf("%s: %v in %s", what, err, doc)
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d members in %s, want %d", what, len(got), doc, len(want))
	}
	for name, value := range want {
		if !reflect.DeepEqual(bytes.TrimSpace(got[name]), bytes.TrimSpace(value)) {
			t.Fatalf("%s: %q is %s, want %s", what, name, got[name], value)
		}
	}
}
