package main

import "testing"

func TestConvert(t *testing.T) {
	b := &book{repository: "https://example.com/r", pages: map[string]string{}}
	for _, page := range []string{"README.md", "ARCHITECTURE.md", "interop/README.md", "docs/a.md", "docs/decisions/1.md"} {
		b.pages[page] = place(page)
	}
	for _, test := range []struct{ from, text, want string }{
		{"docs/a.md", "[x](decisions/1.md#y) [r](../README.md) [c](../cmd/main.go)\n", "[x](decisions/1.md#y) [r](index.md) [c](https://example.com/r/cmd/main.go)\n"},
		{"docs/decisions/1.md", "[a](../a.md) [i](../../interop/README.md) [p](../images/p.png)\n", "[a](../a.md) [i](../interop.md) [p](../images/p.png)\n"},
		{"README.md", "[a](docs/a.md#b) [s](#s) [e](https://e.org/x.md) [m](ARCHITECTURE.md)\n", "[a](a.md#b) [s](#s) [e](https://e.org/x.md) [m](architecture.md)\n"},
		{"docs/a.md", "<!-- check: in func()\ntype t int\n-->\n```go\nx\n```\n", "```go\nx\n```\n"},
		{"docs/a.md", "```cedar\nx\n```\n", "```text\nx\n```\n"},
		{"docs/a.md", "````md\n```\n[x](decisions/1.md)\n````\n", "````md\n```\n[x](decisions/1.md)\n````\n"},
	} {
		if got := b.convert(test.from, test.text); got != test.want {
			t.Errorf("%s: %q became %q, want %q", test.from, test.text, got, test.want)
		}
	}
}
