package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

// A comment on GitHub has at most 65,536 characters; what follows the failures
// needs some of them.
const mostFailuresMarkdown = 48_000

// writeMarkdown writes a comment for a pull request: the table, then failures
// with their evidence folded.
func writeMarkdown(w io.Writer, r *verdict.Report, _ Options) error {
	r = shown(r)
	var b strings.Builder
	fmt.Fprintf(&b, "### parley check: %s %s\n\n", roleName(r.Role), span(subject(r)))
	fmt.Fprintf(&b, "Target: %s\n\n", span(r.Target))
	if p := partialText(r); p != "" {
		fmt.Fprintf(&b, "> **%s**\n\n", inline(p))
	}
	b.WriteString("| Revision | Transport | Score | Rows verified | Failed | Known | Warned |\n|---|---|--:|--:|--:|--:|--:|\n")
	for _, s := range summaries(r) {
		fmt.Fprintf(&b, "| %s | %s | **%s** | %s | %d | %d | %d |\n", inline(s.Revision), inline(s.Transport), s.Points(), s.Verified(), s.Failed, s.Known, s.Warned)
	}
	markdownFailures(&b, "Failures", groups(r, verdict.Fail))
	markdownFailures(&b, "Warnings", groups(r, verdict.Warn))
	markdownUnverified(&b, r)
	if len(r.Notes)+len(r.Stale) > 0 {
		b.WriteString("\n")
	}
	for _, note := range r.Notes[:min(len(r.Notes), mostNotes)] {
		fmt.Fprintf(&b, "- %s\n", inline(note))
	}
	for i := range r.Stale[:min(len(r.Stale), mostNotes)] {
		fmt.Fprintf(&b, "- Stale: %s\n", inline(staleText(&r.Stale[i])))
	}
	fmt.Fprintf(&b, "\n<sub>%s, profile %s</sub>\n", inline(r.Tool), inline(r.Profile))
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownFailures(b *strings.Builder, title string, all []*group) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n#### %s: %d\n\n", title, len(all))
	for i, g := range all {
		text := markdownFailure(g)
		if b.Len()+len(text) > mostFailuresMarkdown {
			fmt.Fprintf(b, "… and %d more, which the other formats have.\n", len(all)-i)
			return
		}
		b.WriteString(text)
	}
}

func markdownFailure(g *group) string {
	var b strings.Builder
	known := ""
	if g.Known != "" {
		known = " (known)"
	}
	fmt.Fprintf(&b, "<details><summary><code>%s</code>%s %s: %s</summary>\n\n", htmlText(g.Row), known, htmlText(g.Level), htmlText(g.Text))
	fmt.Fprintf(&b, "In %s: %s\n\n", inline(g.Where()), inline(g.Why))
	if g.Known != "" {
		fmt.Fprintf(&b, "Known: %s\n\n", inline(g.Known))
	}
	if g.Unscored {
		b.WriteString(unscoredText + "\n\n")
	}
	for i := range g.Evidence {
		text := evidenceText(&g.Evidence[i])
		mark := fence(text, 3)
		fmt.Fprintf(&b, "%s\n%s%s\n\n", mark, text, mark)
	}
	if g.Mend != "" {
		fmt.Fprintf(&b, "How to mend it: %s\n\n", inline(g.Mend))
	}
	if u := g.URL(); u != "" {
		fmt.Fprintf(&b, "[%s](<%s>)\n\n", inline(g.Citation), u)
	}
	b.WriteString("</details>\n\n")
	return b.String()
}

// The most reasons for not verifying, and notes, that a comment has.
const (
	mostReasons = 30
	mostNotes   = 10
)

func markdownUnverified(b *strings.Builder, r *verdict.Report) {
	all := reasons(r)
	if len(all) == 0 {
		return
	}
	total := 0
	for _, why := range all {
		total += why.Rows
	}
	fmt.Fprintf(b, "\n<details><summary>Not verified: %d</summary>\n\n", total)
	for i, why := range all {
		if i == mostReasons {
			fmt.Fprintf(b, "- … and %s more\n", plural(len(all)-i, "reason"))
			break
		}
		fmt.Fprintf(b, "- %d: %s\n", why.Rows, inline(why.Why))
	}
	b.WriteString("\n</details>\n")
}

// inline escapes a text for a line of prose. Nobody is mentioned by it, no issue
// referred to, and no address becomes a link.
func inline(s string) string { return prose.Replace(s) }

var prose = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;",
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`, "!", `\!`, "$", `\$`,
	"@", "@<!-- -->", "#", "#<!-- -->", "://", ":<!-- -->//", "www.", "www<!-- -->.", "\n", " ",
)

// htmlText escapes a text within an element of HTML, where Markdown does not hold
// but mentions and links do.
func htmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@<!-- -->", "#", "#<!-- -->", "://", ":<!-- -->//", "www.", "www<!-- -->.").Replace(s)
}

// span writes a text of one line as a span of code.
func span(s string) string {
	mark := fence(s, 1)
	if !strings.Contains(s, "`") {
		return mark + s + mark
	}
	return mark + " " + s + " " + mark // the blanks are not shown
}

// fence is a run of backticks that is longer than all in a text.
func fence(s string, least int) string {
	longest, run := 0, 0
	for _, c := range s {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(least, longest+1))
}
