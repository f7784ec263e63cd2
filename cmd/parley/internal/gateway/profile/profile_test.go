package profile

import "testing"

// The table names profiles that there are.
func TestTable(t *testing.T) {
	if _, err := readClients(); err != nil {
		t.Fatal(err)
	}
}

func TestChoose(t *testing.T) {
	clients := []Client{{"acme-*", "openai"}, {"claude-x", "none"}}
	for _, c := range []struct {
		choice       Choice
		client, want string
	}{
		{Auto, "claude-code", "claude"},
		{Auto, "claude-ai", "claude"},
		{Auto, "codex-mcp-client", "openai"},
		{Auto, "gemini-cli-mcp-client-files", "gemini"},
		{Auto, "cursor-vscode", ""},
		{Auto, "", ""},
		{Auto, "acme-agent", "openai"},
		{Auto, "claude-x", ""},
		{None, "claude-code", ""},
		{None, "acme-agent", "openai"},
		{"gemini", "x", "gemini"},
	} {
		got := ""
		if p := Choose(c.choice, clients, c.client); p != nil {
			got = p.Name
		}
		if got != c.want {
			t.Errorf("%s for %q is %q, not %q", c.choice, c.client, got, c.want)
		}
	}
}
