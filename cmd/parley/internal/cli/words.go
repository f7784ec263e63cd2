package cli

import "strings"

// word is one word of a line, as a shell would read it: quotes keep blanks together,
// and a backslash takes the character after it as it is, except between single quotes.
type word struct {
	text  string // without quotes
	start int    // where it begins, in bytes
	open  bool   // a quote is not closed
}

// splitWords splits a line into words. If the line ends in a blank, or is empty, the
// last word is an empty one, which has not been typed yet.
func splitWords(line string) []word {
	var words []word
	var b strings.Builder
	at, started, quote, escaped := 0, false, rune(0), false
	begin := func(i int) {
		if !started {
			at, started = i, true
		}
	}
	for i, r := range line {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begin(i)
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
				continue
			}
			b.WriteRune(r)
		case r == '\'' || r == '"':
			begin(i)
			quote = r
		case r == ' ' || r == '\t':
			if started {
				words = append(words, word{text: b.String(), start: at})
				b.Reset()
				started = false
			}
		default:
			begin(i)
			b.WriteRune(r)
		}
	}
	if !started {
		at = len(line)
	}
	return append(words, word{text: b.String(), start: at, open: quote != 0 || escaped})
}

// wordsOf returns the words of a complete line.
func wordsOf(line string) ([]string, error) {
	words := splitWords(line)
	last := words[len(words)-1]
	if last.open {
		return nil, usagef("a quote is not closed: %s", line)
	}
	if last.start == len(line) {
		words = words[:len(words)-1]
	}
	texts := make([]string, 0, len(words))
	for _, w := range words {
		texts = append(texts, w.text)
	}
	return texts, nil
}
