package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// editor is the user's terminal while a shell runs: lines are edited there, and what
// is printed meanwhile appears above the line that is being typed.
type editor struct {
	in  *os.File
	out io.Writer

	mu          sync.Mutex
	t           *term.Terminal
	interrupted bool // the last line ended with Ctrl-C

	// For commands; answers to questions have neither.
	history  term.History
	complete func(line string, pos int, key rune) (newLine string, newPos int, ok bool)
}

func newEditor(in *os.File, out io.Writer) *editor {
	e := &editor{in: in, out: out, history: noHistory{}}
	e.reset()
	return e
}

// reset forgets a line that was not finished.
func (e *editor) reset() {
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keyboard{e}, e.out}, "")
	if width, height, err := term.GetSize(int(e.in.Fd())); err == nil && width > 0 {
		_ = t.SetSize(width, height) // without it, only wrapped lines look worse
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.t = t
}

func (e *editor) terminal() *term.Terminal {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.t
}

// Write implements io.Writer: it prints above the line that is being typed.
func (e *editor) Write(p []byte) (int, error) { return e.terminal().Write(p) }

// keyboard reads from the terminal. Ctrl-C empties the line and ends it, because the line
// editor cannot tell it from the end of the input.
type keyboard struct{ e *editor }

const ctrlC, ctrlE, ctrlU = 3, 5, 21

// Read implements io.Reader.
func (k keyboard) Read(p []byte) (int, error) {
	n, err := k.e.in.Read(p[:max(1, len(p)/3)])
	read := append([]byte(nil), p[:n]...)
	out := p[:0]
	for _, b := range read {
		if b != ctrlC {
			out = append(out, b)
			continue
		}
		k.e.mu.Lock()
		k.e.interrupted = true
		k.e.mu.Unlock()
		out = append(out, ctrlE, ctrlU, '\r')
	}
	return len(out), err
}

// raw makes the terminal give single keys until restore is called.
func (e *editor) raw() (restore func()) {
	state, err := term.MakeRaw(int(e.in.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(e.in.Fd()), state) } // there is nothing to do about a failure
}

var errInterrupted = errors.New("Ctrl-C")

// readLine reads a line. It returns errInterrupted after Ctrl-C, and io.EOF after
// Ctrl-D on an empty line.
func (e *editor) readLine() (string, error) {
	t := e.terminal()
	if width, height, err := term.GetSize(int(e.in.Fd())); err == nil && width > 0 {
		_ = t.SetSize(width, height) // it may have changed
	}
	text, err := t.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	e.mu.Lock()
	interrupted := e.interrupted
	e.interrupted = false
	e.mu.Unlock()
	switch {
	case err != nil:
		e.reset()
		_, _ = e.out.Write([]byte("\r\n")) // the terminal is gone
		return "", err
	case interrupted:
		return "", errInterrupted
	}
	return text, nil
}

// command reads a line with history and completion. A read cannot be interrupted: when
// ctx ends, it is abandoned.
func (e *editor) command(ctx context.Context, prompt string) (string, error) {
	t := e.terminal()
	t.History, t.AutoCompleteCallback = e.history, e.complete
	t.SetPrompt(prompt)
	defer e.raw()()
	read := make(chan line, 1)
	go func() { // ends with the line, or with the program
		text, err := e.readLine()
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		t.History, t.AutoCompleteCallback = noHistory{}, nil
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// lines returns the editor as what answers to questions are read from.
func (e *editor) lines(a *app) *lines {
	return &lines{
		err: a.err, think: a.think,
		prompt: func(prompt string) { e.terminal().SetPrompt(prompt) },
		read:   e.readLine,
		raw:    e.raw,
	}
}
