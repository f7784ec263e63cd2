package record

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// What a command of parley sends can be copied as that command, and what the command
// cannot send is said.
func TestCopiesAsCommands(t *testing.T) {
	const server = "https://mcp.example.com/mcp"
	for _, tt := range []struct{ method, params, command, note string }{
		{"skills/list", `{}`, "skills list " + server, ""},
		{"skills/get", `{"uri":"skill://shop/SKILL.md"}`, "skills show " + server + " skill://shop/SKILL.md", ""},
		{"tasks/get", `{"taskId":"3f2a"}`, "task show " + server + " 3f2a", ""},
		{"tasks/result", `{"taskId":"3f2a"}`, "task wait " + server + " 3f2a", ""},
		{"tasks/cancel", `{"taskId":"3f2a"}`, "task cancel " + server + " 3f2a", ""},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"language","value":"py"}}`, "complete " + server + " prompt review language py", ""},
		{
			"completion/complete", `{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"language","value":"py"},"context":{"arguments":{"style":"short","code":"x"}}}`,
			"complete " + server + " prompt review language py", "(code, style)",
		},
	} {
		r := newRecorder(t, Options{})
		script(r, "1 > POST", fmt.Sprintf(`1 >{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, tt.method, tt.params), "1 < 200", `1 <{"jsonrpc":"2.0","id":1,"result":{}}`)
		c, err := r.Parley(1, &target.Target{URL: server, Header: http.Header{}}, false)
		if err != nil || c.Text != "parley "+tt.command {
			t.Errorf("%s is %q, want %q: %v", tt.method, c.Text, tt.command, err)
		}
		if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
			t.Errorf("the notes about %s: %q", tt.command, notes)
		}
	}
}

// A task of a command that is started anew may be gone.
func TestTaskOfACommand(t *testing.T) {
	r := newRecorder(t, Options{})
	script(r, "1 > POST", `1 >{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"3f2a"}}`)
	c, err := r.Parley(1, &target.Target{Command: []string{"shop"}}, false)
	if err != nil || c.Text != "parley task show 3f2a -- shop" || len(c.Notes) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}
