package jsonc_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/internal/jsonc"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:                            `{"a":1}`,
		"{ // one\n\"a\": [1, 2,], /* x */}": "{       \n\"a\": [1, 2 ]         }",
		`{"a":"// no , } /* comment */"}`:    `{"a":"// no , } /* comment */"}`,
		`{"a":"\"//",}`:                      `{"a":"\"//" }`,
		"[1, /* b\n */ ]":                    "[1      \n    ]",
		`[1,2]//`:                            `[1,2]  `,
		`[,]`:                                `[ ]`, // too kind, but nobody writes it
		`[1,,]`:                              `[1, ]`,
		`{"a":1 /`:                           `{"a":1 /`,
		`/* open`:                            `/* open`,
		`"open`:                              `"open`,
	} {
		if got := string(jsonc.Plain([]byte(text))); got != want {
			t.Errorf("%q\n  got %q\n want %q", text, got, want)
		}
	}
}

// JSON stays what it is, places do, and nothing is said twice.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2,],}`, "//\n[]", `"\\",`, `/**/`, `{"a":"/*"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := jsonc.Plain(text)
		if len(got) != len(text) {
			t.Fatalf("%q became %q", text, got)
		}
		if json.Valid(text) && !bytes.Equal(got, text) {
			t.Errorf("JSON was changed: %q became %q", text, got)
		}
		if again := jsonc.Plain(got); json.Valid(got) && !bytes.Equal(again, got) {
			t.Errorf("%q became %q", got, again)
		}
	})
}
