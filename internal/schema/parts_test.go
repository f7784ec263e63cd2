package schema

import "testing"

func TestAccepts(t *testing.T) {
	s, err := Compile([]byte(`{"properties":{"a":{"type":"array","items":{"minimum":2}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	root, err := s.Compiled()
	if err != nil {
		t.Fatal(err)
	}
	for doc, want := range map[string]bool{`[2,3]`: true, `[1]`: false, `[2`: false, `[1e9999]`: false, `{}`: false} {
		if got := Accepts(root.Properties["a"], []byte(doc), 100); got != want {
			t.Errorf("Accepts(%s) = %v, want %v", doc, got, want)
		}
	}
	if Accepts(root.Properties["a"], []byte(`[2,2,2,2,2,2]`), 3) {
		t.Error("Accepts took more steps than it had")
	}
}
