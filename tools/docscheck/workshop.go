package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A workshop compiles and runs what stands in the pages, in folders below .tmp.
type workshop struct {
	ctx    context.Context //nolint:containedctx // that of the whole check, which is one call
	root   string
	dir    string
	parley string
	r      *report
	mark   string // in the environment of every process that is started
	sdk    known
	units  map[*block]*unit
}

// A unit is a package made of one block, or of several that go on with it.
type unit struct {
	dir   string
	pkg   string
	files int
	peer  string // the other SDK whose module it belongs to
	test  bool
}

// peers are the other SDKs, which are compiled in a module of their own.
var peers = map[string]known{
	"go-sdk": {
		"mcp": "github.com/modelcontextprotocol/go-sdk/mcp", "auth": "github.com/modelcontextprotocol/go-sdk/auth",
		"jsonrpc": "github.com/modelcontextprotocol/go-sdk/jsonrpc", "jsonschema": "github.com/google/jsonschema-go/jsonschema",
	},
	"mcp-go": {
		"mcp": "github.com/mark3labs/mcp-go/mcp", "server": "github.com/mark3labs/mcp-go/server",
		"client": "github.com/mark3labs/mcp-go/client", "transport": "github.com/mark3labs/mcp-go/client/transport",
	},
}

func newWorkshop(ctx context.Context, root, parley string, r *report) (*workshop, error) {
	w := &workshop{ctx: ctx, root: root, dir: filepath.Join(root, ".tmp", "docscheck"), parley: parley, r: r, units: map[*block]*unit{}, sdk: known{}}
	w.mark = "PARLEY_DOCSCHECK=" + strconv.Itoa(os.Getpid())
	if err := os.RemoveAll(w.dir); err != nil {
		return nil, err
	}
	out, err := w.command(root, "go", "list", "-f", "{{.Name}} {{.ImportPath}}", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of the SDK: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "main" && !strings.Contains(path, "/internal/") && !strings.Contains(path, "tests/") {
			w.sdk[name] = path
		}
	}
	return w, nil
}

func (w *workshop) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.ctx, name, args...) //nolint:gosec // what the pages and this program say
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), w.mark)
	return cmd
}

// writeAll writes every Go block into a package.
func (w *workshop) writeAll(pages []*page) {
	for _, p := range pages {
		var last *unit
		for i, b := range p.blocks {
			if b.lang != "go" {
				continue
			}
			if _, no := b.has("not run"); no {
				continue
			}
			u, err := w.write(b, i, last)
			if err != nil {
				w.r.failf(p.name, b.line, "%v", err)
				continue
			}
			w.r.count(&w.r.checked)
			last, w.units[b] = u, u
		}
	}
}

// vet has the go command look at all packages.
func (w *workshop) vet() {
	w.goVet(w.root, "./.tmp/docscheck/sdk/...", "sdk")
	module := filepath.Join(w.dir, "peers")
	if _, err := os.Stat(module); err != nil {
		return
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(w.root, "tools", "docscheck", "peers", name)) //nolint:gosec // a file of this repository
		if err == nil {
			err = os.WriteFile(filepath.Join(module, name), text, 0o600) //nolint:gosec // in a folder of this program
		}
		if err != nil {
			w.r.failf(module, 0, "%v", err)
		}
	}
	w.goVet(module, "./...", "peers")
}

var position = regexp.MustCompile(`(?m)^(?:vet: )?(\S+\.md):(\d+)(?::\d+)?: (.*)$`)

func (w *workshop) goVet(dir, pattern, what string) {
	if _, err := os.Stat(filepath.Join(w.dir, what)); err != nil {
		return
	}
	// What a fragment returns ends it before the end of the function around it.
	cmd := w.command(dir, "go", "vet", "-unreachable=false", "-unusedresult=false", pattern)
	if what == "peers" {
		cmd.Env = append(cmd.Env, "GOWORK=off", "GOFLAGS=-mod=mod")
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return
	}
	found := position.FindAllStringSubmatch(string(out), -1)
	for _, m := range found {
		line, _ := strconv.Atoi(m[2]) // digits, as the expression says
		name := m[1]
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		rel, err := filepath.Rel(w.root, name)
		if err != nil {
			rel = m[1]
		}
		w.r.failf(filepath.ToSlash(rel), line, "%s", m[3])
	}
	if len(found) == 0 {
		w.r.failf(what, 0, "go vet: %v\n%s", err, out)
	}
}

// write makes a file of a block, in a package of its own or that of the block that
// it goes on with.
func (w *workshop) write(b *block, number int, last *unit) (*unit, error) {
	if strings.Contains(b.text, "/internal/") {
		return nil, errors.New("an internal package, which readers cannot import")
	}
	packages, peer := w.sdk, ""
	for name, theirs := range peers {
		if _, ok := b.has(name); ok {
			packages, peer = theirs, name
		}
	}
	u := &unit{pkg: "page", peer: peer}
	if _, ok := b.has("continues"); ok {
		if last == nil {
			return nil, errors.New("there is no block to continue")
		}
		u = last
	} else {
		into := "sdk"
		if peer != "" {
			into = "peers"
		}
		name := strings.NewReplacer("/", "_", ".", "_").Replace(strings.TrimSuffix(b.page.name, ".md"))
		u.dir = filepath.Join(w.dir, into, fmt.Sprintf("%s_%02d", strings.ToLower(name), number))
	}
	src, err := makeSource(b, filepath.Join(w.root, b.page.name), packages, u.pkg)
	if err != nil {
		return nil, err
	}
	u.pkg, u.files = src.pkg, u.files+1
	u.test = u.test || src.isTest
	file := fmt.Sprintf("block%d.go", u.files)
	if src.isTest {
		file = fmt.Sprintf("block%d_test.go", u.files)
	}
	if err := os.MkdirAll(u.dir, 0o750); err != nil {
		return nil, err
	}
	return u, os.WriteFile(filepath.Join(u.dir, file), []byte(src.text), 0o600)
}

// build makes a program of a unit.
func (w *workshop) build(u *unit, program string) error {
	cmd := w.command(w.root, "go", "build", "-o", program, u.dir)
	if u.peer != "" {
		cmd.Dir = filepath.Join(w.dir, "peers")
		cmd.Env = append(cmd.Env, "GOWORK=off", "GOFLAGS=-mod=mod")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// strays ends processes that a page has left behind; there must be none.
func (w *workshop) strays() {
	found, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return
	}
	for _, name := range found {
		env, err := os.ReadFile(name) //nolint:gosec // of the system
		if err != nil || !bytes.Contains(env, []byte(w.mark+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline")) // only for the report
		w.r.failf("processes", pid, "left behind: %s", bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
}
