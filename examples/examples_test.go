package examples_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The client example starts the server example: both compile and work together.
func TestAskTheGreeter(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "run", "./examples/ask")
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := "HELLO, Ann! 2026-07-28"; strings.TrimSpace(string(out)) != want {
		t.Errorf("got %q, want %q", out, want)
	}
}
