package vendors

import "testing"

func TestTable(t *testing.T) {
	if _, err := read(); err != nil {
		t.Fatal(err)
	}
	for _, mode := range Defaults() {
		if len(Of(mode)) == 0 {
			t.Errorf("the mode %s has no rules", mode)
		}
	}
	for _, r := range Rules() {
		if Names()[r.Vendor] == "" {
			t.Errorf("%s: the vendor has no name", r.ID)
		}
	}
}
