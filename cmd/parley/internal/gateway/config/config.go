// Package config reads the file that says what a gateway is: which servers stand behind
// it, what they are called, and who may use them.
//
// Every key of the file is described in one place, by the method keys of the type that
// it belongs to: its name, what it means, its default and its bounds. Reading, the
// schema, the example and the documentation follow from that.
package config

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/yamljson"
)

// maxFile bounds a file, in bytes.
const maxFile = 1 << 20

// Config is what a file says, with defaults for what it does not say.
type Config struct {
	// Path is that of the file.
	Path string
	// Listen says where clients reach the gateway.
	Listen Listen
	// Auth says who they must be.
	Auth Auth
	// Backends are in the order of the file.
	Backends []*Backend
	// Logins says how logins of users are kept.
	Logins Logins
	// Views are parts of the whole, for some clients.
	Views []*View
	// ListTimeout is how long a list waits for a backend.
	ListTimeout time.Duration
	// PageSize is how many entries a page of a list has; 0 is all.
	PageSize int
	// ReadCache is how many bytes of what resources were read are kept; 0 is none.
	ReadCache int64
	// Profiles say which clients see tools in the form that their models take.
	Profiles Profiles
	// Console says where the console is, and who may do what there; nil says nothing.
	Console *Console
	// Guards stand between clients and backends.
	Guards
	// Telemetry says which traces and metrics go where; nil is nowhere, unless the
	// environment says it.
	Telemetry *Telemetry
	// Warnings are about what is left out or will not work, such as a server of another
	// program's file that nobody could start. The rest works.
	Warnings Mistakes

	version int
	env     *target.Environment
	guarded map[string]string // identifies what is said of each guard
}

func (c *Config) keys() []key {
	return slices.Concat([]key{
		{
			name: "version", required: true, value: number{&c.version, 1, 1, 1},
			doc: "The version of this format.",
		},
		{
			name: "listen", value: object{&listening{&c.Listen, c}},
			doc: "Where clients reach the gateway. Flags of the command line win.",
		},
		{
			name: "auth", value: object{&c.Auth},
			doc: "What the gateway demands of its clients, over HTTP.",
		},
		{
			name: "backends", required: true, value: table[*Backend]{&c.Backends, c.newBackend, "NAME", backendName},
			doc: "The servers behind the gateway, by the names that stand before those of their tools.",
		},
		{
			name: "logins", value: object{&c.Logins},
			doc: "How the logins of users at backends are kept.",
		},
		{
			name: "views", value: table[*View]{&c.Views, c.newView, "NAME", viewName},
			doc: "Parts of the whole, each at a path of its own.",
		},
		{
			name: "list_timeout", value: period{&c.ListTimeout, 3 * time.Second, 100 * time.Millisecond, time.Hour},
			doc: "How long a list waits for a backend. Then it has what the backend has said last, and clients are told when there is more.",
		},
		{
			name: "page_size", value: number{&c.PageSize, 0, 0, 100_000}, example: "100",
			doc: "How many entries a page of a list has at most; 0 is all. Many clients look at the first page only.",
		},
		{
			name: "read_cache", value: size{&c.ReadCache, 64 << 20, 0, 64 << 30},
			doc: "How much is kept of the resources that were read, for as long as their backends allow; 0 is nothing.",
		},
		{
			name: "profiles", value: object{&c.Profiles},
			doc: "Show tools in a form that the models of a client take.",
		},
		{
			name: "console", value: maybe[Console]{&c.Console, func(into *Console) value { return object{&consoled{into, c}} }},
			doc: "Where the console is, the pages for those who run the gateway, and who may do what there.",
		},
	}, c.Guards.keys(), []key{
		{
			name: "telemetry", value: maybe[Telemetry]{&c.Telemetry, func(into *Telemetry) value { return object{into} }},
			doc: "Send traces and metrics to a collector of OpenTelemetry. An empty section sends both to where the variables OTEL_* say.",
		},
	})
}

// Read reads a file. One whose name ends in .json or .jsonc is another program's: an
// mcp.json, a claude_desktop_config.json, or one of VS Code. Each server that it has, and
// that is not disabled, becomes a backend. All others are YAML in the gateway's own
// format, of which every mistake is reported.
//
// An error about what a file says is of type Mistakes. The environment is kept: what
// references stand for is looked up when it is needed.
func Read(path string, env target.Environment) (*Config, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".jsonc":
		return readForeign(path, env)
	}
	source, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	return parse(path, source, env)
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // reading the file the user names is the purpose
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	source, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(source) > maxFile {
		err = &os.PathError{Op: "read", Path: path, Err: fmt.Errorf("the file is larger than %d MiB", maxFile>>20)}
	}
	return source, err
}

// parse reads a file in the gateway's own format.
func parse(path string, source []byte, env target.Environment) (*Config, error) {
	r := newReader(path, bytes.TrimPrefix(source, []byte("\ufeff")), env) // editors on Windows write it
	c := &Config{Path: path, env: &r.env}
	top, err := yamljson.Parse(r.source)
	switch {
	case err != nil:
		r.syntax(err)
	case top == nil:
		r.faultAt(1, 1, "", `the file is empty; "parley gateway init" writes one to begin with`)
	default:
		r.value(object{c}, top, "")
		r.finish()
		c.checkNames(r)
		r.mistakes = append(r.mistakes, c.Policy.check()...)
	}
	if len(r.mistakes) > 0 {
		return nil, sorted(r.mistakes)
	}
	c.probe()
	c.rememberGuards(top)
	return c, nil
}

// Files returns the files that the configuration is made of: its own, those of policies,
// and those that it takes secrets from.
func (c *Config) Files() []string {
	paths := append([]string{c.Path}, c.Auth.Bearer.files()...)
	for _, b := range c.Backends {
		paths = append(paths, b.files()...)
	}
	paths = append(paths, c.Logins.files()...)
	paths = append(paths, c.Policy.paths()...)
	paths = append(paths, c.Telemetry.files()...)
	slices.Sort(paths)
	return slices.Compact(paths)
}

// probe looks how the servers are reached now, and what clients need.
func (c *Config) probe() {
	token, err := c.Auth.Bearer.Reveal()
	if err != nil {
		c.warn(err)
	}
	c.Auth.same = digest(token)
	if err := c.Telemetry.probe(); err != nil {
		c.warn(err)
	}
	for _, b := range c.Backends {
		if err := b.probe(); err != nil {
			c.warn(err)
		}
	}
	c.Warnings = sorted(c.Warnings)
}

// warn adds what is wrong, but stops nothing.
func (c *Config) warn(err error) {
	for _, one := range all(err) {
		e, ok := one.(*target.Error) //nolint:errorlint // what wraps one mistake says more
		if !ok {
			e = &target.Error{File: c.Path, Err: one}
		}
		c.Warnings = append(c.Warnings, e)
	}
}

// all returns the errors that were joined, or the only one: what wraps one mistake says more.
func all(err error) (errs []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		errs = append(errs, all(one)...)
	}
	return errs
}

// Backend returns the backend of this name, or nil.
func (c *Config) Backend(name string) *Backend {
	for _, b := range c.Backends {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// Mistakes are all that is wrong with a file, in its order.
type Mistakes []*target.Error

// Error has a line for each mistake, in the form that editors understand.
func (m Mistakes) Error() string {
	lines := make([]string, 0, len(m))
	for _, e := range m {
		lines = append(lines, e.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes.
func (m Mistakes) Unwrap() []error {
	all := make([]error, 0, len(m))
	for _, e := range m {
		all = append(all, e)
	}
	return all
}

// sorted returns mistakes in the order of the file, each once: what an alias stands for
// is read more than once.
func sorted(m Mistakes) Mistakes {
	slices.SortStableFunc(m, func(a, b *target.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.CompactFunc(m, func(a, b *target.Error) bool {
		return a.Line == b.Line && a.Column == b.Column && a.Err.Error() == b.Err.Error()
	})
}
