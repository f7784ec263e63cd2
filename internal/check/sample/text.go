package sample

import (
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/wire"
)

// formats has a text of each format.
var formats = map[string]string{
	"date": "2026-01-02", "date-time": "2026-01-02T03:04:05Z", "time": "03:04:05Z", "duration": "PT1M",
	"email": "sample@example.com", "idn-email": "sample@example.com", "hostname": "example.com", "idn-hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uuid": "00000000-0000-4000-8000-000000000001",
	"uri": "https://example.com/", "iri": "https://example.com/", "uri-reference": "https://example.com/", "iri-reference": "https://example.com/",
	"uri-template": "https://example.com/{id}", "json-pointer": "/a", "relative-json-pointer": "0", "regex": "^a$", "period": "PT1M", "semver": "1.0.0",
}

// hints are texts for members whose names say what they are, in schemas that do
// not.
var hints = []struct{ word, text string }{
	{"url", formats["uri"]},
	{"uri", formats["uri"]},
	{"email", formats["email"]},
	{"timezone", "UTC"},
	{"datetime", formats["date-time"]},
	{"timestamp", formats["date-time"]},
	{"date", formats["date"]},
}

// word is the text of members about which nothing is known.
const word = "sample"

// strings yields texts.
func (t *target) strings(yield func(json.RawMessage) bool) {
	least, most := 0, maxLength
	for _, s := range t.plain {
		if s.MinLength != nil {
			least = max(least, *s.MinLength)
		}
		if s.MaxLength != nil {
			most = min(most, *s.MaxLength)
		}
	}
	if least > maxLength {
		t.keep(&Error{Pointer: t.at, Reason: fmt.Sprintf("it needs a text of %d characters, which is too long", least)})
		return
	}
	for text := range t.texts(least, most) {
		if n := utf8.RuneCountInString(text); n < least || n > most {
			continue
		}
		if !yield(wire.AppendText(nil, text)) {
			return
		}
	}
}

// texts yields texts, some of which have the wrong length.
func (t *target) texts(least, most int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, text := range t.likely(least) {
			if !yield(text) || !yield(sized(text, least, most)) {
				return
			}
		}
		for i := range len(t.avoid) + 1 {
			if !yield(fmt.Sprintf("%s%d", word, i+2)) || !yield(string(rune('a'+i%26))) || !yield(fmt.Sprint(i)) {
				return
			}
		}
	}
}

// likely returns texts of the format, that match the pattern, and that the name
// of the member suggests.
func (t *target) likely(least int) []string {
	var all []string
	for _, s := range t.plain {
		if s.Format != nil {
			all = append(all, formats[s.Format.Name])
		}
	}
	for _, s := range t.plain {
		if s.Pattern != nil {
			all = slices.AppendSeq(all, matching(s.Pattern, len(t.avoid), least))
		}
	}
	name := strings.ToLower(path.Base(t.at))
	for _, h := range hints {
		if strings.Contains(name, h.word) {
			all = append(all, h.text)
		}
	}
	return append(all, word, "a", "1", "A", "a1", "")
}

// sized cuts a text off, or repeats its last character.
func sized(text string, least, most int) string {
	n := utf8.RuneCountInString(text)
	switch {
	case n > most:
		return string([]rune(text)[:most])
	case n < least && n > 0:
		_, last := utf8.DecodeLastRuneInString(text)
		return text + strings.Repeat(text[len(text)-last:], least-n)
	}
	return text
}

// matching yields texts that match a pattern: the shortest, those that repeat
// more, and variants.
func matching(p interface {
	String() string
	MatchString(string) bool
}, variants, least int,
) iter.Seq[string] {
	return func(yield func(string) bool) {
		parsed, err := syntax.Parse(p.String(), syntax.Perl)
		if err != nil {
			return
		}
		parsed = parsed.Simplify()
		for _, more := range []int{0, 1, 2, 4, 8, 16, least} {
			for pick := range 2 + variants {
				w := writer{more: more, pick: pick}
				w.write(parsed)
				if text := w.out.String(); w.out.Len() <= maxLength && p.MatchString(text) && !yield(text) {
					return
				}
			}
		}
	}
}

// writer writes a text that a regular expression matches.
type writer struct {
	out  strings.Builder
	more int // how often * and + repeat beyond what they must
	pick int // which character of a class, and which alternative, is taken
}

func (w *writer) write(re *syntax.Regexp) {
	if w.out.Len() > maxLength {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		w.out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if r, ok := pickRune(re.Rune, w.pick); ok {
			w.out.WriteRune(r)
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.out.WriteRune(rune('a' + w.pick%26))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			w.write(sub)
		}
	case syntax.OpAlternate:
		w.write(re.Sub[w.pick%len(re.Sub)])
	case syntax.OpStar:
		w.repeat(re.Sub[0], w.more)
	case syntax.OpPlus:
		w.repeat(re.Sub[0], 1+w.more)
	case syntax.OpQuest:
		w.repeat(re.Sub[0], min(w.more, 1))
	case syntax.OpRepeat:
		n := re.Min + w.more
		if re.Max >= 0 {
			n = min(n, re.Max)
		}
		w.repeat(re.Sub[0], n)
	default: // anchors and the like, which match no characters
	}
}

func (w *writer) repeat(re *syntax.Regexp, n int) {
	for i := 0; i < n && w.out.Len() <= maxLength; i++ {
		before := w.out.Len()
		if w.write(re); w.out.Len() == before {
			return // it stays empty
		}
	}
}

// plain are the characters that texts are made of if a class has some of them.
var plain = regexp.MustCompile(`^[a-z0-9A-Z_-]$`)

// pickRune returns a character of a class, which is a list of ranges.
func pickRune(ranges []rune, pick int) (rune, bool) {
	if len(ranges) < 2 {
		return 0, false
	}
	for _, first := range []rune{'a', '0', 'A'} {
		for i := 0; i+1 < len(ranges); i += 2 {
			low, high := max(ranges[i], first), ranges[i+1]
			if low > high || !plain.MatchString(string(low)) {
				continue
			}
			r := low + rune(pick%26)
			if r <= high && plain.MatchString(string(r)) {
				return r, true
			}
			return low, true
		}
	}
	return ranges[0], true
}
