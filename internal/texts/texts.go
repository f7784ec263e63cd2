// Package texts knows what texts for models should not have: characters that nobody sees,
// sentences that give a model orders, secrets, and names that look like others. It is for
// who judges servers and for who stands between them and their clients.
//
// What it looks for is data: instructions.tsv and secrets.tsv. Texts may be hostile: the
// time that they take is linear in their length.
package texts

import (
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/wire"
)

// Kind is a kind of what a text should not have.
type Kind uint8

// The kinds.
const (
	// Hidden are characters that nobody sees, and models read.
	Hidden Kind = iota
	// Instructions are sentences that give a model orders.
	Instructions
	// Secrets are keys and tokens.
	Secrets
)

// Finding is something that a text should not have.
type Finding struct {
	Kind Kind
	// Rule identifies what was found: a Character, or the ID of a Pattern or a Secret.
	Rule string
	// Begin and End are where it is in the text, in bytes.
	Begin, End int
}

// Tokens estimates how many tokens a text costs: one for four characters of ASCII,
// and one for each other character. The ratio is the rule of thumb that vendors give
// for English; JSON with many short words costs up to a third more. No tokenizer is
// asked, because each model has another.
//
// Source: https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them
func Tokens(text []byte) int {
	ascii, other := 0, 0
	for len(text) > 0 {
		_, size := utf8.DecodeRune(text)
		if size == 1 {
			ascii++
		} else {
			other++
		}
		text = text[size:]
	}
	return (ascii+3)/4 + other
}

// ToolTokens estimates what a tool costs in each request of a model. What hosts give to
// models is the name, the description and the input schema, as compact JSON. tool must be
// valid; what is no object costs what it is.
func ToolTokens(tool []byte) int {
	told := []byte{'{'}
	for _, m := range []struct{ from, to string }{{"name", "name"}, {"description", "description"}, {"inputSchema", "input_schema"}} {
		value := wire.Find(tool, m.from)
		if value == nil {
			value = []byte("null")
		}
		if len(told) > 1 {
			told = append(told, ',')
		}
		told = append(wire.AppendText(told, m.to), ':')
		var err error
		if told, err = wire.AppendRaw(told, value); err != nil {
			return Tokens(tool)
		}
	}
	return Tokens(append(told, '}'))
}
