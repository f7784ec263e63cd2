package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// gateway is a program that stands between clients and servers.
type gateway struct {
	name, label, language string
	// install returns the program and its first arguments. nil is for none at
	// all: clients and servers are connected directly.
	install func() ([]string, error)
	// prepare says how the program is run in front of servers.
	prepare func(*launch) error
	// spawns says that it starts its server itself, as a command; the others
	// reach it over HTTP.
	spawns bool
	// stateless says that its clients need no session.
	stateless bool
	// lacks holds what cannot be measured, with the reason.
	lacks map[feature]string
}

// manyServers is that there can be many servers behind one endpoint.
const manyServers feature = "many servers"

const (
	onePerPath  = "each server has a path of its own"
	oneServer   = "it stands in front of one server"
	noSessions  = "it keeps no sessions"
	rawRequests = "it knows nothing of the protocol"
)

// gateways are measured in this order: without any, the floor, ours, peers.
// The peers were the newest releases that could be installed.
var gateways = []*gateway{
	{name: "direct", label: "no gateway", prepare: directly, stateless: true, lacks: map[feature]string{manyServers: oneServer}},
	{name: "reverseproxy", label: "httputil.ReverseProxy", language: "Go", install: reverseProxy, prepare: prepareReverseProxy, stateless: true, lacks: map[feature]string{
		manyServers: rawRequests, sessions: rawRequests,
	}},
	{name: "gateway", label: "parley gateway", language: "Go", install: parleyGateway, prepare: prepareParley, stateless: true},
	{name: "vmcp", label: "ToolHive vMCP 0.47.0", language: "Go", install: goModule("github.com/stacklok/toolhive/cmd/vmcp@v0.47.0"), prepare: prepareVMCP},
	{name: "tbxark", label: "mcp-proxy at 4f78891 (TBXark)", language: "Go", install: goSources("tbxark", "https://github.com/TBXark/mcp-proxy", "4f78891f47eb18578039ec8d45f827e998631f12"), prepare: prepareTBXark, lacks: map[feature]string{
		manyServers: onePerPath,
	}},
	{name: "rust-mcp-proxy", label: "mcp-proxy 0.6.0 (J. Rotenberg)", language: "Rust", install: rustCrate("mcp-proxy", "0.6.0"), prepare: prepareRust},
	{name: "node-mcp-proxy", label: "mcp-proxy 6.7.19 (punkpeye)", language: "Node", install: nodeGateway("mcp-proxy"), prepare: preparePunkpeye, spawns: true, stateless: true, lacks: map[feature]string{
		manyServers: oneServer,
	}},
	{name: "supergateway", label: "supergateway 4.0.0", language: "Node", install: nodeGateway("supergateway"), prepare: prepareSupergateway, spawns: true, lacks: map[feature]string{
		manyServers: oneServer,
	}},
	{name: "fastmcp", label: "fastmcp 4.1.2", language: "Python", install: fastmcp("fastmcp", "requirements.txt"), prepare: prepareFastMCP, stateless: true},
	{name: "fastmcp3", label: "fastmcp 3.4.10", language: "Python", install: fastmcp("fastmcp3", "requirements-3.txt"), prepare: prepareFastMCP},
	{name: "python-mcp-proxy", label: "mcp-proxy 0.13.0 (sparfenyuk)", language: "Python", install: pythonProgram("sparfenyuk", "mcp-proxy"), prepare: prepareSparfenyuk, spawns: true, lacks: map[feature]string{
		manyServers: onePerPath,
	}},
	{name: "contextforge", label: "ContextForge 1.0.7", language: "Python", install: pythonProgram("contextforge", "mcpgateway"), prepare: prepareContextForge, lacks: map[feature]string{
		sessions: noSessions,
	}},
}

func gatewayPeers() []named {
	var all []named
	for _, g := range gateways {
		all = append(all, named{g.name, g.label})
	}
	return all
}

// installed is a gateway that can be started.
type installed struct {
	*gateway
	command []string
}

// installGateways installs those that were asked for, all if none was, and
// always what they are compared with. It returns the reasons why others could
// not be.
func installGateways(names []string) ([]*installed, []string, error) {
	var all []*installed
	var skipped []string
	for i, g := range gateways {
		basis := i < 2
		if len(names) > 0 && !basis && !slices.Contains(names, g.name) {
			continue
		}
		in := &installed{gateway: g}
		if g.install != nil {
			log.Printf("installing %s", g.label)
			var err error
			if in.command, err = g.install(); err != nil && basis {
				return nil, nil, err
			} else if err != nil {
				log.Printf("skipping %s: %v", g.label, err)
				skipped = append(skipped, fmt.Sprintf("%s was not measured: %s", g.label, firstLine(err)))
				continue
			}
		}
		all = append(all, in)
	}
	return all, skipped, nil
}

func reverseProxy() ([]string, error) {
	program, err := goProgram("gateways", "reverseproxy")
	return []string{program}, err
}

// parleyGateway builds the program, which is another module.
func parleyGateway() ([]string, error) {
	program, err := filepath.Abs(filepath.Join(binDir, "gateways", "parley"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	cmd.Dir, cmd.Env = "../cmd/parley", append(os.Environ(), "CGO_ENABLED=0")
	return []string{program, "gateway"}, quietly(cmd)
}

// goModule installs a program by its path and version.
func goModule(at string) func() ([]string, error) {
	return func() ([]string, error) {
		dir, err := filepath.Abs(filepath.Join(binDir, "gateways", "go"))
		if err != nil {
			return nil, err
		}
		path, _, _ := strings.Cut(at, "@")
		program := filepath.Join(dir, filepath.Base(path))
		if _, err := os.Stat(program); err == nil {
			return []string{program}, nil
		}
		cmd := exec.Command("go", "install", "-trimpath", "-ldflags=-s -w", at)
		cmd.Dir, cmd.Env = os.TempDir(), append(os.Environ(), "CGO_ENABLED=0", "GOBIN="+dir)
		return []string{program}, quietly(cmd)
	}
}

func rustCrate(name, version string) func() ([]string, error) {
	return func() ([]string, error) {
		if _, err := exec.LookPath("cargo"); err != nil {
			return nil, errors.New("cargo is not installed")
		}
		root, err := filepath.Abs(filepath.Join(binDir, "gateways", "rust"))
		if err != nil {
			return nil, err
		}
		// Cargo does nothing if this version is there.
		cmd := exec.Command("cargo", "install", "--quiet", "--locked", "--root", root, "--version", version, name)
		return []string{filepath.Join(root, "bin", name)}, quietly(cmd)
	}
}

func nodeGateway(name string) func() ([]string, error) {
	return func() ([]string, error) {
		dir, err := nodeFolder("gateways/node")
		return []string{"node", filepath.Join(dir, "node_modules", ".bin", name)}, err
	}
}

func pythonProgram(folder, name string) func() ([]string, error) {
	return func() ([]string, error) {
		bin, err := pythonFolder(filepath.Join("gateways", folder), filepath.Join("gateways", folder, "requirements.txt"))
		return []string{filepath.Join(bin, name)}, err
	}
}

func fastmcp(name, requirements string) func() ([]string, error) {
	return func() ([]string, error) {
		bin, err := pythonFolder(filepath.Join("gateways", name), filepath.Join("gateways", "fastmcp", requirements))
		if err != nil {
			return nil, err
		}
		main, err := filepath.Abs("gateways/fastmcp/proxy.py")
		return []string{filepath.Join(bin, "python"), main}, err
	}
}
