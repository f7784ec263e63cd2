package lint

import (
	"fmt"

	"github.com/parley-mcp/parley/internal/texts"
)

// hidden looks for characters that people do not see and models read.
func (c *checker) hidden(it *item, passages []passage) {
	var t tally
	for _, p := range passages {
		scan(&t, p)
	}
	t.report(c, it)
}

// scan looks at each character of a text.
func scan(t *tally, p passage) {
	text := []byte(p.text)
	if texts.Plain(text) {
		return
	}
	texts.Characters(text, func(at int, r rune, kind texts.Character) bool {
		t.add("unicode/"+string(kind), p.at, seen(kind, r, text[at:]))
		return true
	})
	if word := texts.Mixed(p.text); word != "" && !p.key {
		t.add("unicode/scripts", p.at, ascii(word)+" mixes scripts")
	}
}

// seen puts into words what was found; hidden tags are spelt out.
func seen(kind texts.Character, r rune, from []byte) string {
	text := fmt.Sprintf("it has U+%04X", r)
	if hides := texts.Smuggled(from); kind == texts.Tags && len(hides) > 1 {
		text += ", which hides " + quoted(hides)
	}
	return text
}

// ascii spells a text out with escapes for what is not ASCII.
func ascii(s string) string { return fmt.Sprintf("%+q", cut(s, 80)) }
