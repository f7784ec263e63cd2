package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/bench/internal/child"
)

// Every gateway that can have many servers is told of all of them.
func TestGatewaysAreToldOfTheirServers(t *testing.T) {
	urls := []string{"http://127.0.0.1:1/mcp/0", "http://127.0.0.1:1/mcp/1"}
	for _, g := range gateways {
		l := &launch{dir: t.TempDir(), addr: "127.0.0.1:2", path: "/mcp", urls: urls, server: []string{"server", "-x"}}
		if err := g.prepare(l); err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		said := strings.Join(l.args, " ")
		files, err := filepath.Glob(filepath.Join(l.dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			said += string(b)
		}
		if g.spawns && !strings.Contains(said, "server -x") {
			t.Errorf("%s is not told of the command: %s", g.name, said)
		}
		if g.spawns || g.lacks[manyServers] != "" || l.register != nil {
			continue
		}
		for _, url := range urls {
			if !strings.Contains(said, url) {
				t.Errorf("%s is not told of %s: %s", g.name, url, said)
			}
		}
	}
}

func TestTablesDoNotRepeatWhatAProgramSaid(t *testing.T) {
	err := errors.New("it ended" + child.Said + "/home/somebody/proxy.py: no\nmore")
	if got := firstLine(err); got != "it ended" {
		t.Errorf("the reason is %q", got)
	}
}

func TestGatewaysListenOnTheLoopback(t *testing.T) {
	for _, g := range gateways {
		l := &launch{dir: t.TempDir(), addr: "127.0.0.1:2", path: "/mcp", urls: []string{"http://127.0.0.1:1/mcp"}, server: []string{"server"}}
		if err := g.prepare(l); err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		if all := strings.Join(append(l.args, l.env...), " "); strings.Contains(all, "0.0.0.0") {
			t.Errorf("%s is started with %s", g.name, all)
		}
	}
}
