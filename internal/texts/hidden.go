package texts

import (
	"unicode"
	"unicode/utf8"
)

// Character is a kind of character that a text for models should not have; "" is none.
type Character string

// The kinds of characters.
const (
	// Tags nobody sees and models read.
	Tags Character = "tags"
	// Direction turns text around.
	Direction Character = "direction"
	// Invisible have no width, where nothing needs them.
	Invisible Character = "invisible"
	// Selectors vary nothing, and can carry hidden text.
	Selectors Character = "selectors"
	// Private means what nobody knows.
	Private Character = "private"
	// Control is no line break and no tab.
	Control Character = "control"
	// Escape begins what terminals obey.
	Escape Character = "escape"
)

// Characters calls found for each character of a text that is of a kind, in order, until
// that returns false. at is its place in bytes.
func Characters(text []byte, found func(at int, r rune, kind Character) bool) {
	var before rune
	flag := 0 // tags that may follow a black flag
	rightToLeft := sometimes{text: text}
	for at := 0; at < len(text); {
		if b := text[at]; isPlain(b) {
			before, flag = rune(b), 0
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		next, _ := utf8.DecodeRune(text[at+size:])
		switch kind := classify(r, before, next, &rightToLeft); {
		case kind == Tags && flag > 0:
			flag--
			before = r
		case kind == "":
			before = r // what is to go does not come before anything
		case !found(at, r, kind):
			return
		}
		switch {
		case r == 0x1F3F4:
			flag = 7
		case !isTag(r):
			flag = 0
		}
		at += size
	}
}

// isPlain reports whether a byte is a character of ASCII that is seen, or a blank.
func isPlain(b byte) bool {
	return b >= ' ' && b < 0x7F || b == '\n' || b == '\t' || b == '\r'
}

// Plain reports whether a text has only characters of ASCII that are seen, and blanks: the
// common case.
func Plain(text []byte) bool {
	for _, b := range text {
		if !isPlain(b) {
			return false
		}
	}
	return true
}

// sometimes is whether a text has letters of a script that is written from right to left,
// which is only looked at when it matters.
type sometimes struct {
	text         []byte
	known, holds bool
}

func (s *sometimes) rightToLeft() bool {
	for text := s.text; !s.known && len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		if r >= 0x590 && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana) {
			s.known, s.holds = true, true
		}
		text = text[size:]
	}
	s.known = true
	return s.holds
}

func isTag(r rune) bool { return r >= 0xE0000 && r <= 0xE007F }

// classify returns the kind of a character where it stands.
func classify(r, before, next rune, rightToLeft *sometimes) Character {
	switch {
	case r == 0x1B, r == 0x9B:
		return Escape
	case unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r':
		return Control
	case isTag(r):
		return Tags
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return Direction
	case r == 0x200E, r == 0x200F, r == 0x061C:
		if !rightToLeft.rightToLeft() {
			return Invisible
		}
	case isJoiner(r): // part of scripts and of emoji
		if before < utf8.RuneSelf || next < utf8.RuneSelf || next == utf8.RuneError || classify(next, r, 0, rightToLeft) != "" {
			return Invisible // it joins nothing, or what is to go itself
		}
	case isInvisible(r):
		return Invisible
	case r >= 0xFE00 && r <= 0xFE0F:
		if before == 0 || before < utf8.RuneSelf && !isKeycap(before) || isSelector(before) {
			return Selectors
		}
	case r >= 0xE0100 && r <= 0xE01EF:
		if !unicode.Is(unicode.Han, before) {
			return Selectors
		}
	case unicode.Is(unicode.Co, r), r&0xFFFE == 0xFFFE:
		return Private
	}
	return ""
}

func isJoiner(r rune) bool { return r == 0x200C || r == 0x200D }

// isKeycap reports whether a selector can make a key of a character.
func isKeycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

func isSelector(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF }

// isInvisible lists characters without width that no script needs.
func isInvisible(r rune) bool {
	switch r {
	case 0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x2800, 0x3164, 0xFEFF, 0xFFA0:
		return true
	}
	return r >= 0x2060 && r <= 0x2064 || r >= 0x206A && r <= 0x206F
}

// Smuggled is what the tags at the beginning of a text hide, of which at most 100
// characters are spelt out.
func Smuggled(text []byte) string {
	const most = 100
	var hidden []byte
	for len(text) > 0 && len(hidden) <= most {
		r, size := utf8.DecodeRune(text)
		if !isTag(r) {
			break
		}
		if c := r - 0xE0000; c >= ' ' && c < 0x7F {
			hidden = append(hidden, byte(c))
		}
		text = text[size:]
	}
	return string(hidden)
}

// runeLen is how many bytes a character takes that was decoded; one that was not valid took
// one.
func runeLen(r rune) int {
	if r == utf8.RuneError {
		return 1
	}
	return utf8.RuneLen(r)
}
