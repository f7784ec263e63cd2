package approval

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const (
	// brief and whole are how much is shown of arguments, in bytes: in a question, or to an
	// operator, who can scroll.
	brief = 4 << 10
	whole = 1 << 20
	// longText is how long a single text may be in a question.
	longText = 600
	// deep is how deep values are shown that stand within others.
	deep = 40
)

// Text tells a person what is to be done, so that they can decide about it. What could be
// hidden from them is visible; what is too long is cut, with its size and digest.
func (r *Request) Text() string { return r.text(brief) }

// Full is Text with all of the arguments, as long as they are not larger than a MiB.
func (r *Request) Full() string { return r.text(whole) }

func (r *Request) text(limit int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Do you approve this %s?\n\n", deeds[r.Method].noun)
	fmt.Fprintf(&b, "%s: %s", deeds[r.Method].subject, visible(r.Shown, longText))
	if r.Shown != r.Subject {
		fmt.Fprintf(&b, " (%s of %s)", visible(r.Subject, longText), r.Backend)
	}
	b.WriteByte('\n')
	if r.Unlisted {
		b.WriteString("Its server does not list it, so nobody knows what it is.\n")
	}
	for _, why := range r.Why {
		fmt.Fprintf(&b, "Why you are asked: %s\n", visible(why, longText))
	}
	if r.Arguments == nil {
		b.WriteString("Arguments: none\n")
	} else {
		fmt.Fprintf(&b, "Arguments:\n%s\n", shown(r.Arguments, limit))
	}
	if r.Extra != nil {
		fmt.Fprintf(&b, "And besides:\n%s\n", shown(r.Extra, limit))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// deed is what a method is in the words of people.
type deed struct{ noun, subject string }

var deeds = map[string]deed{
	mcp.MethodCallTool:     {"call of a tool", "Tool"},
	mcp.MethodGetPrompt:    {"use of a prompt", "Prompt"},
	mcp.MethodReadResource: {"reading of a resource", "Resource"},
}

// visible shows a text on one line. Characters that are not seen, or that change how others
// are, stand there as escapes.
func visible(text string, limit int) string {
	quoted := quote(text, limit)
	return strings.NewReplacer(`\"`, `"`).Replace(quoted[1 : len(quoted)-1])
}

// shown shows JSON: its members and elements each on a line, texts with hidden characters
// as escapes, and nothing else as an escape. Numbers are as they are.
func shown(doc json.RawMessage, limit int) string {
	s := &shower{s: wire.Skim(doc), limit: limit, text: longText}
	if limit > brief {
		s.text = limit
	}
	s.value(0)
	if s.cut {
		fmt.Fprintf(&s.b, "\n[cut: all of it is %d bytes, %s]", len(doc), digest(doc))
	}
	return s.b.String()
}

// shower writes JSON for people, up to a limit.
type shower struct {
	s           wire.Skimmer
	b           strings.Builder
	limit, text int
	cut         bool
}

// full reports whether nothing more is shown.
func (s *shower) full() bool {
	s.cut = s.cut || s.b.Len() > s.limit
	return s.cut
}

func (s *shower) value(depth int) {
	switch c := s.s.Next(); {
	case s.full():
		s.s.Skip()
	case (c == '{' || c == '[') && depth >= deep:
		s.cut = true
	case c == '{' || c == '[':
		s.composite(c, depth)
	case c == '"':
		s.string(s.s.Skip())
	default: // a number can be long as well
		token := s.s.Skip()
		if len(token) > s.text {
			s.cut = true
			token = token[:s.text]
		}
		s.b.Write(token)
	}
}

func (s *shower) composite(open byte, depth int) {
	closing := map[byte]byte{'{': '}', '[': ']'}[open]
	s.b.WriteByte(open)
	s.s.Enter()
	empty := true
	for ; !s.s.Leave(); empty = false {
		if s.full() {
			return
		}
		if !empty {
			s.b.WriteByte(',')
		}
		s.line(depth + 1)
		if open == '{' {
			s.string(s.s.Skip())
			s.b.WriteString(": ")
		}
		s.value(depth + 1)
	}
	if s.cut {
		return
	}
	if !empty {
		s.line(depth)
	}
	s.b.WriteByte(closing)
}

func (s *shower) line(depth int) {
	s.b.WriteByte('\n')
	s.b.WriteString(strings.Repeat("  ", depth))
}

// string writes a text, given as JSON.
func (s *shower) string(raw []byte) {
	text, ok := wire.Text(raw)
	if !ok {
		text = string(raw)
	}
	s.b.WriteString(quote(text, s.text))
}

// quote writes a text as JSON in which everything can be seen. One that is longer than a
// limit, in bytes, is cut, with its size and digest.
func quote(text string, limit int) string {
	var b strings.Builder
	b.WriteByte('"')
	kept := text
	if len(text) > limit {
		kept = text[:limit]
		for !utf8.ValidString(kept[max(0, len(kept)-utf8.UTFMax):]) && len(kept) > limit-utf8.UTFMax {
			kept = kept[:len(kept)-1]
		}
	}
	for _, r := range kept {
		escape(&b, r)
	}
	b.WriteByte('"')
	if len(kept) < len(text) {
		fmt.Fprintf(&b, " [cut: %d bytes, %s]", len(text), digest([]byte(text)))
	}
	return b.String()
}

var escapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// escape writes a character, as an escape of JSON unless it can be seen, and does nothing
// to its neighbours.
func escape(b *strings.Builder, r rune) {
	short, ok := escapes[r]
	switch {
	case ok:
		b.WriteString(short)
	case r == ' ' || unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S, unicode.Mn, unicode.Mc) && !isBlank(r):
		b.WriteRune(r)
	case r > 0xFFFF:
		r -= 0x10000
		fmt.Fprintf(b, `\u%04x\u%04x`, 0xD800+(r>>10), 0xDC00+(r&0x3FF))
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// isBlank reports whether a character is a letter, mark or symbol by its category, and yet
// shows nothing: fillers of Hangul, the joiner of graphemes, selectors of variations, and
// the blank of Braille.
func isBlank(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == 0x2800
}
