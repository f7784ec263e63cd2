package schema

import (
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"runtime"
	"testing"
)

func TestSameTextIsShared(t *testing.T) {
	raw := json.RawMessage(`{"type":"object","title":"shared"}`)
	one, err := Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Compile(append(json.RawMessage(nil), raw...))
	if err != nil || one != two {
		t.Errorf("the same text gives %p and %p (%v)", one, two, err)
	}
	if other, err := Compile(json.RawMessage(`{"type":"object", "title":"shared"}`)); err != nil || other == one {
		t.Errorf("another text gives the same schema (%v)", err)
	}
	runtime.KeepAlive(one)
}

// Unused schemas are released: a server may see any number of schemas.
func TestUnusedSchemasGo(t *testing.T) {
	raw := json.RawMessage(`{"type":"object","title":"unused"}`)
	if _, err := Compile(raw); err != nil {
		t.Fatal(err)
	}
	gone := func() bool { _, ok := shared.Load(sha256.Sum256(raw)); return !ok }
	for range 1_000 {
		if runtime.GC(); gone() {
			return
		}
		runtime.Gosched()
	}
	t.Error("an unused schema is still shared")
}

func TestInferOnce(t *testing.T) {
	type args struct{ A int }
	one, err := Infer(reflect.TypeFor[args]())
	if err != nil {
		t.Fatal(err)
	}
	two, err := Infer(reflect.TypeFor[*args]())
	if err != nil || &one[0] != &two[0] {
		t.Errorf("the type is described twice (%v)", err)
	}
}
