package schema

import (
	"errors"
	"testing"
)

func TestProblemsHavePointers(t *testing.T) {
	s, err := Compile([]byte(`{"properties": {"a/b": {"items": {"properties": {"~": {"type": "string"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var unfit *ValidationError
	if err := s.Validate([]byte(`{"a/b": [{}, {"~": 1}]}`)); !errors.As(err, &unfit) {
		t.Fatalf("Validate: %v, want a *ValidationError", err)
	}
	if got, want := unfit.Problems[0].Pointer, "/a~1b/1/~0"; got != want {
		t.Errorf("pointer %q, want %q", got, want)
	}
}
