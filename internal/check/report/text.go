package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

// The most of a piece of evidence that a terminal gets; other formats have more.
const (
	terminalLines = 12
	terminalBytes = 1000
	terminalWidth = 80
)

// terminal writes lines of a width, with colours if they are allowed.
type terminal struct {
	strings.Builder
	width   int
	colours bool
}

func (t *terminal) paint(code, s string) string {
	if !t.colours || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *terminal) bold(s string) string   { return t.paint("1", s) }
func (t *terminal) dim(s string) string    { return t.paint("2", s) }
func (t *terminal) red(s string) string    { return t.paint("31", s) }
func (t *terminal) green(s string) string  { return t.paint("32", s) }
func (t *terminal) yellow(s string) string { return t.paint("33", s) }

// line writes a line as it is.
func (t *terminal) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// para writes prose below a heading, broken at the width.
func (t *terminal) para(first, rest, s string) {
	for i, l := range wrap(s, t.width-utf8.RuneCountInString(rest)) {
		if i == 0 {
			t.line("%s%s", first, l)
			continue
		}
		t.line("%s%s", rest, l)
	}
}

// wrap breaks a text at blanks. A word that is longer than the width, such as an
// address, stays whole, so that it can be copied.
func wrap(s string, width int) []string {
	var lines []string
	at, length := "", 0
	for word := range strings.FieldsSeq(s) {
		n := utf8.RuneCountInString(word)
		if at != "" && length+1+n > width {
			lines = append(lines, at)
			at, length = "", 0
		}
		if at != "" {
			at, length = at+" ", length+1
		}
		at, length = at+word, length+n
	}
	return append(lines, at)
}

func writeText(w io.Writer, r *verdict.Report, o Options) error {
	r = shown(r)
	t := &terminal{width: o.Width, colours: o.Colour}
	if t.width <= 0 {
		t.width = terminalWidth
	}
	t.width = max(t.width, 40)
	t.heading(r)
	t.table(r)
	t.failures("FAIL", t.red, groups(r, verdict.Fail))
	t.failures("WARN", t.yellow, groups(r, verdict.Warn))
	t.unverified(r)
	t.remarks(r)
	_, err := io.WriteString(w, t.String())
	return err
}

func (t *terminal) heading(r *verdict.Report) {
	t.para("", "  ", t.bold(subject(r))+", judged as "+article(roleName(r.Role)))
	t.line("%s", t.dim(r.Target))
	if p := partialText(r); p != "" {
		t.line("")
		t.para("", "", t.yellow(p))
	}
	t.line("")
}

func article(noun string) string {
	if strings.HasPrefix(noun, "a") {
		return "an " + noun
	}
	return "a " + noun
}

// table has a line for each run. Its words are what the other formats say, too.
func (t *terminal) table(r *verdict.Report) {
	rows := [][]string{{"Revision", "Transport", "Score", "Rows verified", "Failed", "Known", "Warned"}}
	for _, s := range summaries(r) {
		rows = append(rows, []string{s.Revision, s.Transport, s.Points(), s.Verified(), fmt.Sprint(s.Failed), fmt.Sprint(s.Known), fmt.Sprint(s.Warned)})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i < 2 {
				fmt.Fprintf(&b, "%-*s  ", widths[i], cell)
				continue
			}
			fmt.Fprintf(&b, "%*s  ", widths[i], cell)
		}
		text := strings.TrimRight(b.String(), " ")
		if n == 0 {
			text = t.bold(text)
		}
		t.line("%s", text)
	}
}

const margin = "     "

func (t *terminal) failures(mark string, colour func(string) string, all []*group) {
	for _, g := range all {
		t.line("")
		label := colour(mark)
		if g.Known != "" {
			label = t.dim(mark + " (known)")
		}
		t.line("%s %s  %s", label, t.bold(g.Row), t.dim(g.Where()))
		t.para(margin, margin, g.Level+": "+g.Text)
		t.para(margin, margin+"      ", "Seen: "+g.Why)
		for i := range g.Evidence {
			if g.Known == "" {
				t.evidence(&g.Evidence[i])
			}
		}
		t.para(margin+"Page: ", margin+"      ", g.URL())
		if g.Mend != "" {
			t.para(margin+"Mend: ", margin+"      ", g.Mend)
		}
		if g.Unscored {
			t.para(margin, margin, unscoredText)
		}
		if g.Known != "" {
			t.para(margin+"Known: ", margin+"       ", g.Known)
		}
	}
}

// evidence writes the beginning of what was seen; long lines are cut.
func (t *terminal) evidence(e *verdict.Evidence) {
	short := *e
	var cut int
	short.Text, cut = shorten(e.Text, terminalBytes)
	short.Cut += cut
	lines := strings.Split(strings.TrimRight(evidenceText(&short), "\n"), "\n")
	if len(lines) > terminalLines {
		left := len(lines) - terminalLines
		lines = append(lines[:terminalLines], fmt.Sprintf("… %s more", plural(left, "line")))
	}
	for _, l := range lines {
		for _, part := range chop(l, t.width-len(margin)-2) {
			t.line("%s", strings.TrimRight(margin+t.dim("│")+" "+part, " "))
		}
	}
}

// chop breaks a line of evidence at the width, wherever that is.
func chop(s string, width int) []string {
	runes := []rune(s)
	var parts []string
	for len(runes) > width {
		parts = append(parts, string(runes[:width]))
		runes = runes[width:]
	}
	return append(parts, string(runes))
}

func (t *terminal) unverified(r *verdict.Report) {
	all := reasons(r)
	if len(all) == 0 {
		return
	}
	t.line("")
	t.line("%s", t.bold("Not verified"))
	for _, why := range all {
		t.para(fmt.Sprintf("%4d ", why.Rows), margin, why.Why)
	}
}

func (t *terminal) remarks(r *verdict.Report) {
	if len(r.Notes)+len(r.Stale) > 0 {
		t.line("")
	}
	for _, note := range r.Notes {
		t.para("Note: ", "      ", note)
	}
	for i := range r.Stale {
		t.para("Stale: ", "       ", staleText(&r.Stale[i]))
	}
	t.line("")
	t.para("", "", t.verdict(r))
}

// verdict is the last line, which says how it ended.
func (t *terminal) verdict(r *verdict.Report) string {
	lines := summaries(r)
	total := lines[len(lines)-1]
	text := fmt.Sprintf("%s of 100, %s rows verified.", total.Points(), total.Verified())
	none := "No MUST was seen to fail; "
	if total.Known > 0 {
		none = "No MUST failed but what is known; "
	}
	switch n, _ := total.Score.Verified(); {
	case total.Failed > 0:
		return t.red(plural(total.Failed, "MUST") + " failed; " + text)
	case n == 0:
		return t.yellow("Nothing was verified.")
	case r.Partial != "":
		return t.yellow(none + text + " The report is partial.")
	}
	return t.green(none + text)
}

// staleText says what to do about an entry of the baseline.
func staleText(e *verdict.Entry) string {
	where := "every revision"
	if e.Revision != "" {
		where = e.Revision
	}
	return fmt.Sprintf("the baseline has %s for %s, which fails no more; take it out", e.Row, where)
}
