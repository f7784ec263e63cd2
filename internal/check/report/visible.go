package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

// visible writes characters that are not seen, or that do something to what is
// around them, as escapes of JSON. Line feeds stay if the text is a block.
func visible(s string, block bool) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return isHidden(r) || r == utf8.RuneError }) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' && block:
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case isHidden(r):
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isHidden reports whether a character is not seen as what it is. The last of
// them are letters and marks that have no shape.
func isHidden(r rune) bool {
	switch {
	case r == ' ':
		return false
	case !unicode.IsPrint(r):
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF, r == 0x115F, r == 0x1160, r == 0x2800, r == 0x3164, r == 0xFFA0:
		return true
	}
	return false
}

// escape writes a character as JSON would.
func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r > 0xFFFF:
		high, low := (r-0x10000)>>10+0xD800, (r-0x10000)&0x3FF+0xDC00
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// The most that is shown of something, in bytes.
const (
	mostEvidence = 4000
	mostLine     = 600
)

// line makes a text visible on one line, and cuts it.
func line(s string) string {
	s, cut := shorten(s, mostLine)
	s = visible(strings.Join(strings.Fields(s), " "), false)
	if cut > 0 {
		s += "…"
	}
	return s
}

// shorten cuts a text between characters, and says how many bytes went.
func shorten(s string, most int) (string, int) {
	if len(s) <= most {
		return s, 0
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most], len(s) - most
}

// shown returns a copy of a report of which every text is visible and cut.
func shown(r *verdict.Report) *verdict.Report {
	c := *r
	for _, s := range []*string{&c.Tool, &c.Target, &c.Name, &c.Version, &c.Partial} {
		*s = line(*s)
	}
	c.Profile = strings.ReplaceAll(r.Profile, ",", ", ")
	c.Notes = slices.Clone(r.Notes)
	for i := range c.Notes {
		c.Notes[i] = line(c.Notes[i])
	}
	c.Stale = slices.Clone(r.Stale)
	for i := range c.Stale {
		c.Stale[i].Reason = line(c.Stale[i].Reason)
	}
	c.Runs = slices.Clone(r.Runs)
	for i := range c.Runs {
		c.Runs[i].Verdicts = slices.Clone(r.Runs[i].Verdicts)
		for j := range c.Runs[i].Verdicts {
			showVerdict(&c.Runs[i].Verdicts[j])
		}
	}
	return &c
}

func showVerdict(v *verdict.Verdict) {
	for _, s := range []*string{&v.Text, &v.Why, &v.Mend, &v.Known} {
		*s = line(*s)
	}
	v.Evidence = slices.Clone(v.Evidence)
	for i := range v.Evidence {
		e := &v.Evidence[i]
		text, cut := shorten(strings.ReplaceAll(e.Text, "\r\n", "\n"), mostEvidence)
		e.Text, e.Cut = visible(text, true), e.Cut+cut
		head, _ := shorten(strings.ReplaceAll(e.Head, "\r\n", "\n"), mostEvidence)
		e.Head, e.Pointer = visible(head, true), line(e.Pointer)
	}
}
