package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
)

// What another program does not use of a server is not there either, and what only it can
// honour is said.
func TestToolsOfForeignFiles(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "mcp.json", `{"mcpServers": {
"roo": {"command": "x", "alwaysAllow": ["a"], "disabledTools": ["echo", "rm"]},
"gemini": {"command": "x", "includeTools": ["a", "b"], "excludeTools": ["b"], "trust": true},
"copilot": {"command": "x", "tools": ["*"], "autoApprove": []},
"none": {"command": "x", "tools": []},
"other": {"command": "x", "tools": {"a": 1}, "trust": false},
"off": {"command": "x", "enabled": false},
"cline": {"command": "x", "disabled": true},
"odd": {"command": "x", "disabledTools": "echo"}}}`)
	c := read(t, path, nil)
	want := map[string]naming.Selection{
		"roo": {Exclude: []string{"echo", "rm"}}, "gemini": {Include: []string{"a", "b"}, Exclude: []string{"b"}},
		"copilot": {Include: []string{"*"}}, "none": {Include: []string{}}, "other": {},
	}
	got := map[string]naming.Selection{}
	for _, b := range c.Backends {
		got[b.Name] = b.Rules().Tools
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the tools are %+v, want %+v", got, want)
	}
	warned(t, c,
		`mcp.json:2:40: mcpServers.roo.alwaysAllow: this is about when the other program asks its user, and has no effect here`,
		`mcp.json:3:88: mcpServers.gemini.trust: this is about when the other program asks its user, and has no effect here`,
		`mcp.json:9:42: mcpServers.odd.disabledTools: this is not a list; the server "odd" is left out`,
	)
	e, err := NewExample(path, outside(dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	if text := "  gemini:\n    command: [x]\n    tools:\n      include: [a, b]\n      exclude: [b]\n"; !strings.Contains(string(e.Text), text) {
		t.Errorf("what was taken over does not have\n%s\n%s", text, e.Text)
	}
}

// All that is wrong with a server of another program's file is said.
func TestAllWarningsOfForeignFiles(t *testing.T) {
	path := write(t, t.TempDir(), "vs.json", `{"servers": {"b": {"command": "x", "args": ["${env:NOPE}"], "env": {"TOKEN": "${input:tok}", "U": "${env:NOPE}"}}}, "inputs": [{"id": "tok"}]}`)
	warned(t, read(t, path, nil),
		`vs.json:1:45: servers.b.args[0]: the variable NOPE is not set`,
		`vs.json:1:78: servers.b.env.TOKEN: the input "tok" is for the user to give`,
		`vs.json:1:99: servers.b.env.U: the variable NOPE is not set`,
	)
}

// A line for a shell is no command.
func TestLinesAreNoCommands(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a program", "#!/bin/sh\n")
	text := "version: 1\nbackends:\n  line: {command: [\"python3 /tmp/x.py\"]}\n  path: {command: [\"./no such\", x], cwd: .}\n  plain: {command: [python3, \"a b\"]}\n"
	warned(t, read(t, write(t, dir, "g.yaml", text), nil),
		`g.yaml:3:20: backends.line.command[0]: there is no program of this name, which has spaces`,
		`g.yaml:4:20: backends.path.command[0]: there is no program of this name, which has spaces`,
	)
	warned(t, read(t, write(t, dir, "mcp.json", `{"mcpServers": {"y": {"command": "python3 /tmp/x.py"}}}`), nil),
		`mcp.json:1:22: mcpServers.y: there is no program "python3 /tmp/x.py"; its arguments belong into args`)
}

// warned fails the test if the warnings of a configuration do not begin as is wanted.
func warned(t *testing.T, c *Config, want ...string) {
	t.Helper()
	if len(c.Warnings) != len(want) {
		t.Errorf("%d warnings, want %d:\n%v", len(c.Warnings), len(want), c.Warnings)
		return
	}
	for i, w := range c.Warnings {
		if _, text, _ := strings.Cut(w.Error(), "001/"); !strings.HasPrefix(text, want[i]) {
			t.Errorf("warned %q, want %q", text, want[i])
		}
	}
}
