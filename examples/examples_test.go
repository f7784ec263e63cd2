package examples_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// The client starts the server: both compile and work together.
func TestAskTheGreeter(t *testing.T) {
	run(t, "", "./examples/greeter") // without a client, so that the client need not wait for a compiler
	out, _ := run(t, "", "./examples/ask", "greet", `{"name":"Ann","loud":true}`, "go", "run", "./examples/greeter")
	if want := "HELLO, Ann!\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// The user is asked until what they enter fits.
func TestAskForATable(t *testing.T) {
	run(t, "", "./examples/booking")
	out, asked := run(t, "24.12.\n40\n\nyes\n2026-12-24\n4\nterrace\nyes\n", "./examples/ask")
	if want := "Booking 1: Luigi, terrace, 2026-12-24, for 4.\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
	for _, part := range []string{"When shall I book", "date (such as 2026-12-24)", "place (inside, terrace, else \"inside\")", "That does not fit"} {
		if !strings.Contains(asked, part) {
			t.Errorf("the user was asked\n%s, without %q", asked, part)
		}
	}
}

// run runs a program, with a text on its standard input.
func run(t *testing.T, in string, args ...string) (out, asked string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run"}, args...)...)
	cmd.Dir = ".."
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", args, err, &stderr)
	}
	return stdout.String(), stderr.String()
}
