// Package report writes what a check says: for people, for programs and for
// services that read the reports of other tools. Each format is made from a
// verdict.Report alone.
//
// Most of what a report quotes came from a peer, which may be hostile. Texts are
// made visible (no control characters, nothing that reorders or hides text),
// escaped for their format, and cut. JSON alone has them whole.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

// Options are what the formats cannot know. The zero value works.
type Options struct {
	// Width is how many columns the terminal has; 0 is 80. Only text uses it.
	Width int
	// Colour allows escape sequences for colours in text.
	Colour bool
}

// format is one way to write a report.
type format struct {
	name  string
	about string
	write func(w io.Writer, r *verdict.Report, o Options) error
}

func formats() []format {
	return []format{
		{"text", "for a terminal", writeText},
		{"json", "everything, for programs; its schema is report.schema.json", writeJSON},
		{"junit", "JUnit XML, for CI", writeJUnit},
		{"sarif", "SARIF 2.1.0, for code scanning", writeSARIF},
		{"markdown", "for a comment on a pull request", writeMarkdown},
		{"html", "one file that needs no network", writeHTML},
		{"badge", "an SVG with the score", writeBadge},
	}
}

// Formats returns the names of the formats. The first is for people at a terminal.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Write writes a report in the format of a name. The report must be graded and
// redacted; it is not changed.
func Write(w io.Writer, name string, r *verdict.Report, o Options) error {
	for _, f := range formats() {
		if f.name == name {
			return f.write(w, r, o)
		}
	}
	return fmt.Errorf("there is no format %q for reports, want %s", name, strings.Join(Formats(), ", "))
}
