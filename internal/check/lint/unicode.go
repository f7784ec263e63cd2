package lint

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
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
	if asciiOnly(p.text) {
		return
	}
	rightToLeft := strings.ContainsFunc(p.text, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana)
	})
	var before rune
	flag := 0 // tags that may follow a black flag
	for i, r := range p.text {
		next, _ := utf8.DecodeRuneInString(p.text[i+utf8.RuneLen(max(r, 0)):])
		switch rule := classify(r, before, next, rightToLeft); {
		case rule == "unicode/tags" && flag > 0:
			flag--
		case rule != "":
			t.add(rule, p.at, seen(rule, r, p.text[i:]))
		}
		if r == 0x1F3F4 {
			flag = 7
		} else if !isTag(r) {
			flag = 0
		}
		before = r
	}
	if word := mixed(p.text); word != "" && !p.key {
		t.add("unicode/scripts", p.at, ascii(word)+" mixes scripts")
	}
}

// asciiOnly reports whether a text has only what can be seen, the common case.
func asciiOnly(s string) bool {
	for i := range len(s) {
		if b := s[i]; b >= 0x7F || b < ' ' && b != '\n' && b != '\t' && b != '\r' {
			return false
		}
	}
	return true
}

func isTag(r rune) bool { return r >= 0xE0000 && r <= 0xE007F }

// classify returns the rule that a character breaks where it stands, or "".
func classify(r, before, next rune, rightToLeft bool) string {
	switch {
	case r == 0x1B, r == 0x9B:
		return "unicode/escape"
	case unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r':
		return "unicode/control"
	case isTag(r):
		return "unicode/tags"
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return "unicode/direction"
	case r == 0x200E, r == 0x200F, r == 0x061C:
		if !rightToLeft {
			return "unicode/invisible"
		}
	case r == 0x200C, r == 0x200D: // part of scripts and of emoji
		if before < utf8.RuneSelf || next < utf8.RuneSelf {
			return "unicode/invisible"
		}
	case isInvisible(r):
		return "unicode/invisible"
	case r >= 0xFE00 && r <= 0xFE0F:
		if before == 0 || before < utf8.RuneSelf && !strings.ContainsRune("#*0123456789", before) || isSelector(before) {
			return "unicode/selectors"
		}
	case r >= 0xE0100 && r <= 0xE01EF:
		if !unicode.Is(unicode.Han, before) {
			return "unicode/selectors"
		}
	case unicode.Is(unicode.Co, r), r&0xFFFE == 0xFFFE:
		return "unicode/private"
	}
	return ""
}

func isSelector(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF }

// isInvisible lists characters without width that no script needs.
func isInvisible(r rune) bool {
	switch r {
	case 0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x2800, 0x3164, 0xFEFF, 0xFFA0:
		return true
	}
	return r >= 0x2060 && r <= 0x2064 || r >= 0x206A && r <= 0x206F
}

// seen puts into words what was found; hidden tags are spelt out.
func seen(rule string, r rune, from string) string {
	text := fmt.Sprintf("it has U+%04X", r)
	if rule != "unicode/tags" {
		return text
	}
	var b strings.Builder
	for _, r := range from {
		if !isTag(r) || b.Len() > 100 {
			break
		}
		if c := r - 0xE0000; c >= ' ' && c < 0x7F {
			b.WriteRune(c)
		}
	}
	if b.Len() > 1 {
		text += ", which hides " + quoted(b.String())
	}
	return text
}

// lookalikes are letters of Cyrillic and Greek that look like Latin ones.
const lookalikes = "АВЕЅІЈКМНОРСТУХаеіјорсухѕԁԛԝһӏ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρ"

// mixed returns a word that has Latin letters and such that only look so, or "".
func mixed(text string) string {
	start, latin, other := -1, false, false
	for i, r := range text + " " {
		if unicode.IsLetter(r) {
			if start < 0 {
				start, latin, other = i, false, false
			}
			latin = latin || r < utf8.RuneSelf
			other = other || r >= utf8.RuneSelf && strings.ContainsRune(lookalikes, r)
			continue
		}
		if start >= 0 && latin && other {
			return text[start:min(i, len(text))]
		}
		start = -1
	}
	return ""
}

// ascii spells a text out with escapes for what is not ASCII.
func ascii(s string) string { return fmt.Sprintf("%+q", cut(s, 80)) }
