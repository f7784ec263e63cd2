package yamljson

import (
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	for source, want := range map[string]string{
		"a: 9007199254740993\nb: [0x10, 1.50, ~, yes, true]\n": `{"a":9007199254740993,"b":[16,1.50,null,"yes",true]}`,
		"a: &x {k: 2026-01-02}\nb: *x\n":                       `{"a":{"k":"2026-01-02"},"b":{"k":"2026-01-02"}}`,
	} {
		n, err := Parse([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Render(n, 0); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v; want %s", source, got, err, want)
		}
	}
	for source, want := range map[string]string{
		"a: 1\na: 2":      `line 5: "a" is there twice`,
		"\n\na: .nan":     "line 6: ",
		"a: &a [*a]":      "levels deep",
		"a: !mine b":      `the tag "!mine" has no meaning in JSON`,
		"? {a: b}\n: c\n": "a key must be a string",
	} {
		n, err := Parse([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Render(n, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v; want %q", source, got, err, want)
		}
	}
	if n, err := Parse([]byte("# empty")); n != nil || err != nil {
		t.Errorf("Parse of nothing = %v, %v", n, err)
	}
}
