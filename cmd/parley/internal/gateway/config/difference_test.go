package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

const base = `version: 1
listen: {http: 127.0.0.1:7331}
auth: {bearer: "${file:token}"}
backends:
  a: {command: [x], env: {K: "${file:key}", V: "${env:V}"}}
  b: {url: https://b.example/mcp, auth: {client: {issuer: "https://login.example", id: g, secret: "${file:secret}"}}}
  c: {command: [z]}
views:
  work: {backends: [a]}
`

// A backend is restarted if how it is reached has changed, and only then.
func TestDifference(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "key", "1")
	write(t, dir, "token", "0123456789abcdef")
	write(t, dir, "secret", "1")
	write(t, dir, "p.cedar", "")
	env := map[string]string{"V": "v"}
	old := read(t, write(t, dir, "g.yaml", base), env)
	if want := []string{filepath.Join(dir, "g.yaml"), filepath.Join(dir, "key"), filepath.Join(dir, "secret"), filepath.Join(dir, "token")}; !slices.Equal(old.Files(), want) {
		t.Errorf("files %q, want %q", old.Files(), want)
	}
	edit := func(from, to string) func() {
		return func() { write(t, dir, "g.yaml", strings.Replace(base, from, to, 1)) }
	}
	for _, test := range []struct {
		name string
		edit func()
		want string
	}{
		{"nothing", func() {}, "nothing"},
		{"comments and order", edit("  c: {command: [z]}\n", "\n  # c\n  c:\n    idle: 600s\n    command:\n    - z\n"), "nothing"},
		{"a new one", edit("  c:", "  d: {command: [z]}\n  c:"), "start: d"},
		{"one less", edit("  c: {command: [z]}\n", ""), "stop: c"},
		{"another name", edit("  c: ", "  d: "), "start: d; stop: c"},
		{"another command", edit("[z]", "[z, -v]"), "restart: c"},
		{"another life", edit("[z]", "[z], idle: 1m"), "restart: c"},
		{"names", edit("[z]", "[z], tools: {rename: {x: y}}"), "show otherwise: c"},
		{"an override", edit("[z]", "[z], override: {x: {title: Y}}"), "show otherwise: c"},
		{"a view", edit("[a]}", "[a], principals: [p]}"), "views: work"},
		{"views", edit("work:", "play:"), "views: play, work"},
		{"a guard", edit("views:", "limits: [{rate: 600/m}]\nviews:"), "guards: limits"},
		{"policies", edit("views:", "policy: {files: [p.cedar], default: allow}\nviews:"), "guards: policy"},
		{"times and sizes", edit("views:", "list_timeout: 5s\npage_size: 9\nread_cache: 1MiB\nviews:"), "settings: list_timeout, page_size, read_cache"},
		{"who may use the console", edit("views:", "console: {bearer: operator}\nviews:"), "settings: console; not before a restart of the gateway: console"},
		{"an address", edit("7331", "7332"), "not before a restart of the gateway: listen"},
		{"authorization", edit(`bearer: "${file:token}"`, "none: true"), "not before a restart of the gateway: auth"},
		{"telemetry", edit("views:", "telemetry: {sample: 0.5}\nviews:"), "not before a restart of the gateway: telemetry"},
		{"a page of metrics", edit("7331}", "7331, metrics: /metrics}"), "not before a restart of the gateway: listen"},
		{"a secret", func() { write(t, dir, "key", "2") }, "restart: a"},
		{"a client secret", func() { write(t, dir, "secret", "2") }, "restart: b"},
		{"a token", func() { write(t, dir, "token", "0123456789abcdef0") }, "not before a restart of the gateway: auth"},
		{"a variable", func() { env["V"] = "w" }, "restart: a"},
		{"the same in other words", edit("${env:V}", "v"), "nothing"},
		{"a secret that is missing", edit("${file:key}", "${file:none}"), "restart: a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.edit()
			c := Difference(old, read(t, old.Path, env))
			if got := c.String(); got != test.want || c.IsEmpty() != (test.want == "nothing") {
				t.Errorf("%s, want %s", got, test.want)
			}
			write(t, dir, "g.yaml", base)
			write(t, dir, "key", "1")
			write(t, dir, "secret", "1")
			write(t, dir, "token", "0123456789abcdef")
			env["V"] = "v"
		})
	}
}

// Guards are others if their files are.
func TestDifferentPolicies(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "p.cedar", "permit(principal, action, resource);")
	path := write(t, dir, "g.yaml", "version: 1\nbackends: {}\npolicy: {files: [p.cedar], default: allow}\n")
	old := read(t, path, nil)
	write(t, dir, "g.yaml", "version: 1\npolicy:\n  default: allow\n  files: [p.cedar]\nbackends: {}\n")
	if c := Difference(old, read(t, path, nil)); !c.IsEmpty() {
		t.Error(&c)
	}
	write(t, dir, "p.cedar", "forbid(principal, action, resource);")
	if c := Difference(old, read(t, path, nil)); c.String() != "guards: policy" {
		t.Error(&c)
	}
}

// Whatever is said of a backend makes a difference.
func TestEveryKeyMakesADifference(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "vars", "A=1")
	env := outside(dir, map[string]string{"SSH_AUTH_SOCK": "s", "FILES_TOKEN": "t", "SHOP_TOKEN": "t"})
	text := func(b string) *Config {
		c, err := Read(write(t, dir, "g.yaml", "version: 1\nbackends:\n  a:\n"+b), env)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	others := map[string]string{
		"command": "[other]", "url": "https://other.example/", "auth": "{login: true}", "share": "all", "start": "demand", "idle": "1m", "timeout": "1m", "connect_timeout": "1m",
		"revision": "2025-11-25", "max_connections": "3", "env_file": "vars", "parked": "{time: 1m}",
	}
	for _, k := range new(Backend).keys() {
		reach := "    command: [x]\n"
		if k.with == "url" || k.name == "url" {
			reach = "    url: https://x.example/mcp\n"
		}
		with := reach
		if k.name == "command" || k.name == "url" {
			with = ""
		}
		value := others[k.name]
		switch {
		case value == "":
			value = k.example
		case value == k.value.fallback():
			value = "once"
		}
		c := Difference(text(reach), text(with+"    "+k.name+": "+value+"\n"))
		if k.shows != slices.Equal(c.Show, []string{"a"}) || k.shows == slices.Equal(c.Restart, []string{"a"}) {
			t.Errorf("%s: %s", k.name, &c)
		}
	}
}

// An entry of another program's file has changed if what it says has.
func TestForeignDifference(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "vars", "A=1")
	text := `{"mcpServers": {"a": {"command": "x", "envFile": "vars"}, "b": {"url": "http://x/mcp"}}}`
	old := read(t, write(t, dir, "mcp.json", text), nil)
	if want := []string{filepath.Join(dir, "mcp.json"), filepath.Join(dir, "vars")}; !slices.Equal(old.Files(), want) {
		t.Errorf("files %q, want %q", old.Files(), want)
	}
	if c := Difference(old, read(t, write(t, dir, "mcp.json", strings.ReplaceAll(text, ",", ",\n")), nil)); !c.IsEmpty() {
		t.Error(&c)
	}
	write(t, dir, "vars", "A=2")
	if c := Difference(old, read(t, write(t, dir, "mcp.json", strings.Replace(text, "x/mcp", "y/mcp", 1)), nil)); c.String() != "restart: a, b" {
		t.Error(&c)
	}
	if _, err := target.ReadEnvFile(filepath.Join(dir, "none")); err == nil {
		t.Error("there is no such file")
	}
}
