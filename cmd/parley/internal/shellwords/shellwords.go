// Package shellwords takes a command line apart as a shell would, and puts words so that
// a shell reads them as they are.
package shellwords

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// Word is one word of a line, as a shell would read it: quotes keep blanks together,
// and a backslash takes the character after it as it is, except between single quotes.
type Word struct {
	Text  string // without quotes
	Start int    // where it begins, in bytes
	Open  bool   // a quote is not closed
}

// Split splits a line into words. If the line ends in a blank, or is empty, the
// last word is an empty one, which has not been typed yet.
func Split(line string) []Word {
	var words []Word
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
				words = append(words, Word{Text: b.String(), Start: at})
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
	return append(words, Word{Text: b.String(), Start: at, Open: quote != 0 || escaped})
}

// Of returns the words of a complete line.
func Of(line string) ([]string, error) {
	words := Split(line)
	last := words[len(words)-1]
	if last.Open {
		return nil, fmt.Errorf("a quote is not closed: %s", line)
	}
	if last.Start == len(line) {
		words = words[:len(words)-1]
	}
	texts := make([]string, 0, len(words))
	for _, w := range words {
		texts = append(texts, w.Text)
	}
	return texts, nil
}

// Quote puts a word so that the shell of this system reads it as it is.
func Quote(s string) string {
	unquoted := "/._-+:"
	if runtime.GOOS == "windows" {
		unquoted += `\` // it separates the folders of a path
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(unquoted, r)
	}
	if s != "" && !slices.ContainsFunc([]rune(s), func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
