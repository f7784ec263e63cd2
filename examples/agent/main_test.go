package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The agent has the answers of all its servers, although one of them dies.
func TestAgent(t *testing.T) {
	const want = `user: What is on today?
tool: weather__now failed: false
tool: calendar__today failed: false
tool: notes__read failed: false
tool: notes__delete failed: true
tool: notes__sort failed: true
tool: weather__now failed: false
model: It is sunny, 21 degrees. There is: 10:00 dentist. You have noted: buy milk.
calendar is up
notes is up
weather is up
user: What do I have to buy?
tool: notes__read failed: false
model: You have to buy milk.
`
	if got := output(t, "run", "."); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The example has nothing that its readers cannot have.
func TestThisIsAnExample(t *testing.T) {
	for name := range strings.Lines(output(t, "list", "-f", `{{join .Imports "\n"}}`, "./...")) {
		if strings.Contains(name, "/parley/") && strings.Contains(name, "/internal/") {
			t.Errorf("it imports %s", name)
		}
	}
}

func output(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatalf("go %s: %v", args, err)
	}
	return string(out)
}
