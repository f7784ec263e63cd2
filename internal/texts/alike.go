package texts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lookalikes are letters of Cyrillic and Greek that look like Latin ones, and the letters
// that they look like.
var lookalikes = func() map[rune]rune {
	const (
		others = "АВЕЅІЈКМНОРСТУХаеіјорсухѕԁԛԝһӏ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρ"
		latin  = "ABESIJKMHOPCTYXaeijopcyxsdqwhl" + "ABEZHIKMNOPTYXovp"
	)
	pairs, to := map[rune]rune{}, []rune(latin)
	for i, r := range []rune(others) {
		pairs[r] = to[i]
	}
	return pairs
}()

// Mixed returns a word that has Latin letters and such that only look so, or "".
func Mixed(text string) string {
	start, latin, other := -1, false, false
	for i, r := range text + " " {
		if unicode.IsLetter(r) {
			if start < 0 {
				start, latin, other = i, false, false
			}
			latin = latin || r < utf8.RuneSelf
			other = other || lookalikes[r] != 0
			continue
		}
		if start >= 0 && latin && other {
			return text[start:min(i, len(text))]
		}
		start = -1
	}
	return ""
}

// Skeleton returns what a name looks like at a glance: names that people can take for one
// another have the same. Case and what sets words apart do not count.
func Skeleton(name string) string {
	var b strings.Builder
	for _, r := range name {
		if to := lookalikes[r]; to != 0 {
			r = to
		}
		if r >= 0xFF01 && r <= 0xFF5E { // wide forms of ASCII
			r -= 0xFEE0
		}
		switch r {
		case 'l', 'I', '1', '|':
			b.WriteByte('l')
		case '0', 'o', 'O':
			b.WriteByte('o')
		default:
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				b.WriteRune(unicode.ToLower(r))
			}
		}
	}
	return strings.NewReplacer("rn", "m", "vv", "w", "i", "l").Replace(b.String())
}
