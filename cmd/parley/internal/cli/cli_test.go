package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
)

// console is what a test sees of a run.
type console struct {
	out, err bytes.Buffer
}

// newTestApp returns an app whose streams are terminals, or not, and whose
// user types what input says.
func newTestApp(input string, terminal bool) (*app, *console) {
	c := new(console)
	return newApp(c.streams(input, terminal)), c
}

func (c *console) streams(input string, terminal bool) IO {
	return IO{
		In:         strings.NewReader(input),
		Out:        &c.out,
		Err:        &c.err,
		LookupEnv:  func(string) (string, bool) { return "", false },
		IsTerminal: func(any) bool { return terminal },
		Executable: func() (string, error) { return "parley", nil },
	}
}

func TestColours(t *testing.T) {
	tests := []struct {
		name     string
		terminal bool
		env      map[string]string
		want     bool
	}{
		{"terminal", true, nil, true},
		{"no terminal", false, nil, false},
		{"NO_COLOR", true, map[string]string{"NO_COLOR": "1"}, false},
		{"empty NO_COLOR", true, map[string]string{"NO_COLOR": ""}, true},
		{"dumb terminal", true, map[string]string{"TERM": "dumb"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := new(console)
			streams := c.streams("", tt.terminal)
			streams.LookupEnv = func(name string) (string, bool) {
				v, ok := tt.env[name]
				return v, ok
			}
			if code := Run(t.Context(), streams, []string{"nonsense"}); code != exitUsage {
				t.Errorf("exit code = %d, want %d", code, exitUsage)
			}
			if got := strings.Contains(c.err.String(), "\x1b["); got != tt.want {
				t.Errorf("colours = %t, want %t: %q", got, tt.want, c.err.String())
			}
		})
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	c := new(console)
	streams := c.streams("", false)
	streams.Out = brokenWriter{}
	if code := Run(context.Background(), streams, []string{"version"}); code != exitUnreachable {
		t.Errorf("exit code = %d, want %d", code, exitUnreachable)
	}
	if !strings.Contains(c.err.String(), "parley: short write") {
		t.Errorf("stderr = %q", c.err.String())
	}
}

func TestHarmless(t *testing.T) {
	tests := map[string]string{
		"a\tb\nc":          "a\tb\nc",
		"\x1b[31mred":      "\uFFFD[31mred",
		"a\rb":             "a\uFFFDb",
		"a\r\nb":           "a\nb",
		"\x9b\u2028\u200F": "\uFFFD\uFFFD\uFFFD",
		"abc\u202Etxt.exe": "abc\uFFFDtxt.exe",
	}
	for in, want := range tests {
		if got := harmless(in); got != want {
			t.Errorf("harmless(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine(" a\n\n b\tc ", 100); got != "a b c" {
		t.Errorf("got %q", got)
	}
	if got := oneLine("äöüß", 3); got != "äö…" {
		t.Errorf("got %q", got)
	}
}
