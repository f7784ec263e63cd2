package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
)

// output is a stream that several goroutines may write to, with colours if it
// is a terminal. It keeps the first error, so that callers need not check each
// write.
type output struct {
	terminal bool
	colours  bool

	mu  sync.Mutex
	w   io.Writer
	err error
}

// newOutput honours NO_COLOR, see https://no-color.org.
func newOutput(streams *IO, w io.Writer) *output {
	o := &output{w: w, terminal: streams.IsTerminal(w)}
	off, _ := streams.LookupEnv("NO_COLOR")
	kind, _ := streams.LookupEnv("TERM")
	o.colours = o.terminal && off == "" && kind != "dumb"
	return o
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// printf writes formatted text. An error is kept.
func (o *output) printf(format string, args ...any) { _, _ = fmt.Fprintf(o, format, args...) }

func (o *output) bold(s string) string  { return o.paint("1", s) }
func (o *output) dim(s string) string   { return o.paint("2", s) }
func (o *output) red(s string) string   { return o.paint("31", s) }
func (o *output) green(s string) string { return o.paint("32", s) }

func (o *output) paint(colour, s string) string {
	if !o.colours || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// text prepares a server's text for this stream. On a terminal it must not
// move the cursor or recolour what is around it.
func (o *output) text(s string) string {
	if !o.terminal {
		return s
	}
	return harmless(s)
}

// harmless replaces control characters, except for line breaks and tabs, and
// characters that change the direction of text.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case isHarmful(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// isHarmful reports whether a character does something to a terminal instead of
// being shown: control characters, and those that reorder what is around them.
func isHarmful(r rune) bool {
	switch {
	case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0x061C, r == 0x200E, r == 0x200F, r == 0x2028, r == 0x2029:
		return true
	}
	return false
}

// oneLine puts a text on one line, cut to a number of characters.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(harmless(s)), " ")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// indent puts a prefix before each line.
func indent(s, prefix string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+prefix)
}

// endLine ends a text with a line break, unless it has one.
func endLine(s string) string {
	if strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// escaped writes control characters and those that change the direction of text
// as escapes of JSON, which mean the same to programs and do nothing on a
// terminal. Outside of strings, JSON has none but white space.
func escaped(doc []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(doc) {
		if r != '\n' && r != '\t' && r != '\r' && isHarmful(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.Bytes()
}

// json writes one JSON document: verbatim for programs, indented for people.
func (o *output) json(doc json.RawMessage) {
	var indented bytes.Buffer
	if o.terminal && json.Indent(&indented, doc, "", "  ") == nil {
		doc = indented.Bytes()
	}
	o.printf("%s\n", o.text(string(doc)))
}
