// Package report writes tables and notes in Markdown.
package report

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/bench/internal/stats"
)

// Table is a table with footnotes. The first column is aligned to the left,
// the others to the right.
type Table struct {
	Head []string
	rows [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Len returns how many rows there are.
func (t *Table) Len() int { return len(t.rows) }

// String returns the table in Markdown, in columns that also read as text.
func (t *Table) String() string {
	widths := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c), 3)
		}
	}
	var b strings.Builder
	line(&b, t.Head, widths)
	rule := make([]string, len(widths))
	for i, w := range widths {
		rule[i] = strings.Repeat("-", w)
		if i > 0 {
			rule[i] = rule[i][1:] + ":"
		}
	}
	line(&b, rule, widths)
	for _, row := range t.rows {
		line(&b, row, widths)
	}
	return b.String()
}

func line(b *strings.Builder, cells []string, widths []int) {
	for i, c := range cells {
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
		if i == 0 {
			c, pad = c+pad, ""
		}
		fmt.Fprintf(b, "| %s%s ", pad, c)
	}
	b.WriteString("|\n")
}

// Notes are numbered footnotes; the same text has the same number.
type Notes struct{ texts []string }

// Mark returns the mark of a note.
func (n *Notes) Mark(text string) string {
	i := slices.Index(n.texts, text)
	if i < 0 {
		i = len(n.texts)
		n.texts = append(n.texts, text)
	}
	return fmt.Sprintf("– <sup>%d</sup>", i+1)
}

// String returns the notes as a paragraph, "" for none.
func (n *Notes) String() string {
	var b strings.Builder
	for i, t := range n.texts {
		fmt.Fprintf(&b, "<sup>%d</sup> %s. ", i+1, t)
	}
	return strings.TrimSpace(b.String())
}

// Number writes a number with about three digits, and with separated thousands.
func Number(v float64) string {
	switch {
	case v >= 1000:
		s := fmt.Sprintf("%.0f", v)
		for i := len(s) - 3; i > 0; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
		return s
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Spread writes a median with the minimum and maximum.
func Spread(s stats.Spread) string {
	return fmt.Sprintf("%s (%s–%s)", Number(s.Median), Number(s.Min), Number(s.Max))
}

// Replace puts text between the markers of a page that have a name, and leaves
// the rest as it is.
func Replace(page []byte, name, text string) ([]byte, error) {
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->\n"
	before, rest, ok := bytes.Cut(page, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return nil, errors.New("the page lacks the lines " + strings.TrimSpace(begin) + " and " + strings.TrimSpace(end))
	}
	return slices.Concat(before, []byte(begin), []byte("\n"+strings.TrimSpace(text)+"\n\n"), []byte(end), after), nil
}
