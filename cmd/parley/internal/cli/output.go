package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
)

// output is a stream that several goroutines may write to, with colours if it
// is a terminal. It keeps the first error, so that callers need not check each
// write.
//
// What printf prints is made harmless there: no caller can forget it. Colours
// survive because they have a type of their own.
type output struct {
	terminal bool
	colours  bool
	raw      bool // --raw: a stream that is no terminal gets texts as they are

	mu       sync.Mutex
	w        io.Writer
	err      error
	replaced bool // something was made harmless
}

// painted is text that is already harmless, and may have colours of ours.
type painted string

// newOutput honours NO_COLOR, see https://no-color.org.
func newOutput(streams *IO, w io.Writer) *output {
	o := &output{w: w, terminal: streams.IsTerminal(w)}
	off, _ := streams.LookupEnv("NO_COLOR")
	kind, _ := streams.LookupEnv("TERM")
	o.colours = o.terminal && off == "" && kind != "dumb"
	return o
}

// Write implements io.Writer. It writes the bytes as they are.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// printf writes formatted text. Arguments that are texts are made harmless,
// unless they are painted. An error is kept.
func (o *output) printf(format string, args ...any) {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = o.safe(arg)
	}
	_, _ = fmt.Fprintf(o, format, safe...)
}

// safe makes an argument of printf harmless.
func (o *output) safe(arg any) any {
	switch v := arg.(type) {
	case painted:
		return string(v)
	case []byte:
		return o.text(string(v))
	case json.RawMessage:
		return o.text(string(v))
	case error:
		return o.text(v.Error())
	case fmt.Stringer:
		return o.text(v.String())
	}
	if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
		return o.text(v.String())
	}
	return arg
}

func (o *output) bold(s string) painted  { return o.paint("1", s) }
func (o *output) dim(s string) painted   { return o.paint("2", s) }
func (o *output) red(s string) painted   { return o.paint("31", s) }
func (o *output) green(s string) painted { return o.paint("32", s) }

// paint colours a text, which it makes harmless before.
func (o *output) paint(colour, s string) painted {
	s = o.text(s)
	if !o.colours || s == "" {
		return painted(s)
	}
	return painted("\x1b[" + colour + "m" + s + "\x1b[0m")
}

// text makes a text harmless for this stream: on a terminal it must not move
// the cursor or recolour what is around it, and what goes into a pipe often
// ends on one. Outside of a terminal, line ends stay as they are.
func (o *output) text(s string) string {
	switch {
	case o.terminal:
		return harmless(s)
	case o.raw:
		return s
	}
	lines := strings.Split(s, "\r\n")
	for i, line := range lines {
		lines[i] = harmless(line)
	}
	safe := strings.Join(lines, "\r\n")
	if safe != s {
		o.mu.Lock()
		o.replaced = true
		o.mu.Unlock()
	}
	return safe
}

// safe is an output for code that does not know printf: what is written to it is
// made harmless.
type safe struct{ out *output }

// Write implements io.Writer.
func (s safe) Write(p []byte) (int, error) {
	if _, err := s.out.Write([]byte(s.out.text(string(p)))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// json writes one JSON document: verbatim for programs, indented for people.
func (o *output) json(doc json.RawMessage) {
	var indented bytes.Buffer
	if o.terminal && json.Indent(&indented, doc, "", "  ") == nil {
		doc = indented.Bytes()
	}
	o.line(doc)
}

// line writes a JSON document as it is, with escapes for what is harmful.
func (o *output) line(doc []byte) {
	if o.terminal || !o.raw {
		doc = escaped(doc)
	}
	_, _ = o.Write(append(bytes.Clone(doc), '\n')) // an error is kept
}
