package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The tables of docs/gateway.md are those of the program; -update writes them.
func TestDocs(t *testing.T) {
	const page, begin, end = "../../../../../docs/gateway.md", "<!-- keys -->\n", "<!-- end of keys -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	had, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatal("the page has no place for the tables")
	}
	var p tables
	p.section("", new(Config).keys())
	if got := p.String(); got != had {
		if !*update {
			t.Fatalf("the page is not up to date; run with -update:\n%s", got)
		}
		if err := os.WriteFile(page, []byte(before+begin+got+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// tables writes what keys there are for the documentation.
type tables struct{ strings.Builder }

func (p *tables) section(path string, keys []key) {
	if path != "" {
		fmt.Fprintf(p, "\n### `%s`\n\n", path)
	}
	p.WriteString("| key | what | default |\n|---|---|---|\n")
	for i := range keys {
		k := &keys[i]
		text := k.doc
		if b, ok := k.value.(bounded); ok {
			text += " " + b.bounds() + "."
		}
		if k.with != "" {
			text += fmt.Sprintf(" Only with `%s`.", k.with)
		}
		if k.example != "" {
			text += fmt.Sprintf(" For example `%s`.", k.example)
		}
		preset := "`" + k.value.fallback() + "`"
		switch {
		case k.required:
			preset = "required"
		case preset == "``":
			preset = ""
		}
		fmt.Fprintf(p, "| `%s` | %s | %s |\n", k.name, strings.ReplaceAll(text, "|", `\|`), preset)
	}
	for i := range keys {
		inner, stands := innerOf(keys[i].value)
		if inner == nil {
			continue
		}
		at := strings.TrimPrefix(path+"."+keys[i].name, ".")
		switch {
		case strings.HasPrefix(stands, "["):
			at += stands
		case stands != "":
			at += "." + stands
		}
		if strings.HasSuffix(at, ".prompts") || strings.HasSuffix(at, ".resources") || strings.HasPrefix(at, "views.NAME.") {
			continue // those of tools stand for them
		}
		p.section(at, inner)
	}
}
