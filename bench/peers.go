package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// feature is something that not every peer has.
type feature string

const (
	piped     feature = "stdio"
	listening feature = "subscriptions/listen"
	asking    feature = "elicitation"
	notifying feature = "progress"
	sessions  feature = "sessions"
)

// peer is somebody's implementation.
type peer struct {
	name, label string
	// build builds the server and returns its command line.
	build func(p *peer) ([]string, error)
	// client reports whether there is a client program, too.
	client bool
	// lacks holds features that cannot be measured, with the reason.
	lacks map[feature]string
	// slow programs get more time to warm up.
	slow bool
}

// subject is a peer that was built.
type subject struct {
	*peer
	server []string
	// size is that of the server's program, 0 when it is not one file.
	size int64
	// clientProgram is the path of the client program, or "".
	clientProgram string
}

const binDir = "../.tmp/bench"

var peers = []*peer{
	{name: "floor", label: "floor", build: goServer, client: true, lacks: map[feature]string{
		sessions: "it has no sessions",
	}},
	{name: "parley", label: "Parley", build: goServer, client: true},
	{name: "gosdk", label: "official Go SDK 1.8.0", build: goServer, client: true},
	{name: "mcpgo", label: "mcp-go 1.2.1", build: goServer, client: true, lacks: map[feature]string{
		notifying: "it drops some of the notifications",
	}},
	{name: "rust", label: "Rust rmcp 3.9.0", build: rustServer},
	{name: "typescript", label: "TypeScript SDK 2.4.0", build: nodeServer, slow: true},
	{name: "python", label: "Python SDK 2.3.0", build: pythonServer, slow: true, lacks: map[feature]string{
		listening: "its server holds 1,024 subscriptions at most",
	}},
}

// build builds the peers that were asked for, all if none was. It returns those
// that could be built, and the reasons why the others could not.
func build(names []string) ([]*subject, []string, error) {
	var built []*subject
	var skipped []string
	for _, p := range peers {
		if len(names) > 0 && p.name != "floor" && !slices.Contains(names, p.name) {
			continue
		}
		log.Printf("building %s", p.label)
		s, err := newSubject(p)
		if err != nil {
			log.Printf("skipping %s: %v", p.label, err)
			skipped = append(skipped, fmt.Sprintf("%s was not measured: %v", p.label, err))
			continue
		}
		built = append(built, s)
	}
	if len(built) == 0 || built[0].name != "floor" {
		return nil, nil, errors.New("the floor could not be built")
	}
	return built, skipped, nil
}

func newSubject(p *peer) (*subject, error) {
	command, err := p.build(p)
	if err != nil {
		return nil, err
	}
	s := &subject{peer: p, server: command}
	if info, err := os.Stat(command[0]); err == nil && len(command) == 1 {
		s.size = info.Size()
	}
	if p.client {
		s.clientProgram, err = goProgram("clients", p.name)
	}
	return s, err
}

func goServer(p *peer) ([]string, error) {
	program, err := goProgram("servers", p.name)
	return []string{program}, err
}

// goProgram builds a program as for a release.
func goProgram(kind, name string) (string, error) {
	program, err := filepath.Abs(filepath.Join(binDir, kind, name))
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./"+kind+"/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return program, quietly(cmd)
}

// quietly runs a command and shows its output only when it fails.
func quietly(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}
