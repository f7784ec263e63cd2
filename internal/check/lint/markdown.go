package lint

import (
	"fmt"
	"strconv"
	"strings"
)

// Markdown returns a report for a page or a comment: what stands in it shows as it
// is and can't become a link, an image or a tag.
func (r *Report) Markdown() string {
	var b strings.Builder
	b.WriteString("# Definitions\n\n")
	for _, s := range r.Servers {
		fmt.Fprintf(&b, "- %s: %s\n", plain(s.Title()), s.String())
	}
	fmt.Fprintf(&b, "\n**%s**\n", r.Verdict())
	if len(r.Findings) > 0 {
		b.WriteString("\n| | rule | definition | finding | mend |\n|---|---|---|---|---|\n")
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		level, text := string(f.Severity), f.Text
		if f.Accepted != "" {
			level, text = "accepted", text+"; accepted: "+f.Accepted
		}
		fmt.Fprintf(&b, "| %s | %s | %s `%s` | %s | %s |\n", level, plain(f.Rule), plain(f.where()), code(f.Pointer), plain(text), plain(f.Mend))
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "\n%d more findings were left out.\n", r.Omitted)
	}
	return b.String()
}

// Title names a server, or the file that its definitions are from.
func (s *Summary) Title() string {
	switch {
	case s.Server != "":
		return s.Server
	case s.File != "":
		return s.File
	}
	return "the server"
}

// String says in one line what a server defines and what its tools cost.
func (s *Summary) String() string {
	parts := []string{counted(s.Tools, "tool"), counted(s.Prompts, "prompt"), counted(s.Resources, "resource"), counted(s.Templates, "template")}
	text := strings.Join(parts, ", ")
	if s.Tools > 0 {
		text += fmt.Sprintf("; the tools cost about %d tokens in each request", s.Tokens)
	}
	return text
}

// Verdict says in one line how many findings there are.
func (r *Report) Verdict() string {
	text := fmt.Sprintf("%s, %s, %s", counted(r.Errors, "error"), counted(r.Warnings, "warning"), counted(r.Notes, "note"))
	if r.Accepted > 0 {
		text += fmt.Sprintf(", %d accepted", r.Accepted)
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// plain escapes what Markdown and HTML give a meaning.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\\`*_{}[]()#+!|<>~&@:", r):
			fmt.Fprintf(&b, "&#%d;", r)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "U+%04X", r)
		}
	}
	return b.String()
}

// code prepares a text for a span of code in a table.
func code(s string) string {
	return strings.NewReplacer("`", "'", "|", "¦").Replace(quoteless(s))
}
