package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// lines reads what the user types. An io.EOF says that the user does not want
// to answer: the input ended, or Ctrl-C or Ctrl-D was typed.
type lines struct {
	err     *output
	think   func() (end func()) // stops the clock of the command
	prompt  func(prompt string) // shows the prompt of the next read
	read    func() (string, error)
	raw     func() (restore func())
	reading chan line // a read whose caller gave up
}

type line struct {
	text string
	err  error
}

func (a *app) newLines() *lines {
	if a.typing != nil {
		return a.typing
	}
	if f, ok := a.io.In.(*os.File); ok {
		l := terminalLines(f, a.err)
		l.think = a.think
		return l
	}
	r := bufio.NewReader(a.io.In)
	return &lines{
		err:    a.err,
		think:  a.think,
		prompt: func(prompt string) { a.err.printf("%s", prompt) },
		raw:    func() func() { return func() {} },
		read: func() (string, error) {
			text, err := r.ReadString('\n')
			if err != nil && text == "" {
				return "", err
			}
			return strings.TrimRight(text, "\r\n"), nil
		},
	}
}

// terminalLines reads from a terminal that is in raw mode only while it is
// read from: there Ctrl-C answers the question instead of ending the program.
func terminalLines(f *os.File, err *output) *lines {
	fd := int(f.Fd())
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{f, err}, "")
	if width, height, e := term.GetSize(fd); e == nil && width > 0 {
		_ = t.SetSize(width, height) // without it, only wrapped lines look worse
	}
	return &lines{
		err:    err,
		prompt: t.SetPrompt,
		read: func() (string, error) {
			text, err := t.ReadLine()
			if errors.Is(err, term.ErrPasteIndicator) {
				err = nil
			}
			return text, err
		},
		raw: func() func() {
			state, e := term.MakeRaw(fd)
			if e != nil {
				return func() {}
			}
			return func() { _ = term.Restore(fd, state) } // there is nothing to do about a failure
		},
	}
}

// ask shows a prompt and returns the line that is typed. A read cannot be
// interrupted: when ctx ends, what is typed next answers the next prompt.
func (l *lines) ask(ctx context.Context, prompt string) (string, error) {
	defer l.think()()
	restore := l.raw()
	defer restore()
	if l.reading == nil {
		reading := make(chan line, 1)
		l.reading = reading
		l.prompt(prompt)
		go func() { // ends with the line, or with the program
			text, err := l.read()
			reading <- line{text, err}
		}()
	} else {
		l.err.printf("%s", prompt)
	}
	select {
	case r := <-l.reading:
		l.reading = nil
		if r.err != nil {
			l.err.printf("\r\n")
			return "", io.EOF
		}
		return strings.TrimSpace(r.text), nil
	case <-ctx.Done():
		l.err.printf("\r\n")
		return "", context.Cause(ctx)
	}
}
