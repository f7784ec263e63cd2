package host_test

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client/host"
)

func TestParseConfig(t *testing.T) {
	vars := map[string]string{"TOKEN": "t", "HOME": "/home/ann"}
	servers, err := host.ParseConfig([]byte(`{ // as editors take it
		"mcpServers": {
			"files": {"command": "${HOME}/bin/files", "args": ["--root", "${ROOT:-/srv}"], "env": {"KEY": "${env:TOKEN}"}, "cwd": "/tmp", "other": 1},
			"shop": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
			"off": {"command": "x", "disabled": true},
			"unset": {"command": "x", "env": {"KEY": "${NOBODY}"}},
			"input": {"command": "${input:x}"},
			"wrong": {"command": 5}
		},
		"servers": {"more": {"url": "https://example.com/sse", "type": "sse"}},
		"inputs": []
	}`), func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	files, shop := servers["files"], servers["shop"]
	if files.Command != "/home/ann/bin/files" || strings.Join(files.Args, " ") != "--root /srv" || files.Env["KEY"] != "t" || files.Dir != "/tmp" {
		t.Errorf("%+v", files)
	}
	if shop.URL != "https://example.com/mcp" || shop.Headers["Authorization"] != "Bearer t" || !servers["off"].Disabled || servers["more"].Type != "sse" {
		t.Errorf("%+v", servers)
	}
	h := open(t, map[string]host.Server{"unset": servers["unset"], "input": servers["input"], "wrong": servers["wrong"]}, nil)
	for i, want := range []string{"${input:x} is no reference", "env: KEY: the variable NOBODY is not set", "its entry cannot be read"} {
		s := h.Servers()[i]
		if s.State != host.Down || s.Err == nil || !strings.Contains(s.Err.Error(), want) || !s.Retry.IsZero() {
			t.Errorf("%+v, want %s", s, want)
		}
	}
	for _, doc := range []string{"", "[]", "{}", `{"mcpServers": 5}`, `{"mcpServers":{},"mcpServers":{}}`, "// no\n{}"} {
		if _, err := host.ParseConfig([]byte(doc), nil); err == nil || !strings.Contains(err.Error(), "this is not a configuration of servers") {
			t.Errorf("%q: %v", doc, err)
		}
	}
}

func TestServersThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		server host.Server
		want   string
	}{
		{host.Server{}, "give one of them"},
		{host.Server{Command: "x", Transport: inMemory(notes())}, "give one of them"},
		{host.Server{Command: "x", Type: "http"}, `type "http" is not for a command`},
		{host.Server{URL: "https://example.com", Type: "stdio"}, `type "stdio" is not for a URL`},
		{host.Server{URL: "example.com"}, "http:// or https://"},
		{host.Server{URL: "https://example.com", Headers: map[string]string{"A": "1\r\nB: 2"}}, `"A" cannot be sent`},
		{host.Server{Command: "x", Env: map[string]string{"A=B": ""}}, `"A=B" cannot be the name`},
	} {
		h := open(t, map[string]host.Server{"x": c.server}, nil)
		if err := h.Servers()[0].Err; err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.server, err)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"${A:-x}","args":["${"],"env":{"B":"${env:C}"}}}}`))
	f.Add([]byte(`{"servers":{"":{"url":"https://example.com","headers":{"X":null}}},"mcpServers":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		servers, err := host.ParseConfig(data, func(string) (string, bool) { return "v", true })
		if (servers == nil) == (err == nil) {
			t.Fatalf("%v, %v", servers, err)
		}
	})
}
