package examples_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The client example starts the server example: both compile and work together.
// The server runs once before, without a client, so that it is built: the client
// does not wait for a compiler before it tries an older revision.
func TestAskTheGreeter(t *testing.T) {
	run(t, "./examples/greeter")
	out := run(t, "./examples/ask")
	if want := "HELLO, Ann! 2026-07-28"; strings.TrimSpace(string(out)) != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// run runs a program with nothing on its standard input.
func run(t *testing.T, program string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "run", program)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return out
}
