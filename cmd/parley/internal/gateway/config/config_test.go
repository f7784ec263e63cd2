package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/toolname"
)

// outside is an environment of a few variables.
func outside(dir string, variables map[string]string) target.Environment {
	return target.Environment{Home: dir, Folder: dir, Lookup: func(name string) (string, bool) {
		text, ok := variables[name]
		return text, ok
	}}
}

// write writes a file of a test and returns its path.
func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read reads a file that has no mistakes.
func read(t testing.TB, path string, variables map[string]string) *Config {
	t.Helper()
	c, err := Read(path, outside(filepath.Dir(path), variables))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRead(t *testing.T) {
	c := read(t, "testdata/valid/all.yaml", map[string]string{"TOKEN": "s3cret", "SSH_AUTH_SOCK": "/run/ssh"})
	if len(c.Warnings) != 0 {
		t.Error(c.Warnings)
	}
	if c.Listen.HTTP != "7331" || c.Auth.Issuer.Scopes[0] != "mcp" || c.Views[0].Principals[0] != "alice" || c.Views[0].DefaultFor[1] != "carol" {
		t.Errorf("%+v %+v %+v", c.Listen, c.Auth.Issuer, c.Views[0])
	}
	files, shop := c.Backends[0], c.Backends[1]
	if files.Share != bridge.ShareAll || files.Idle != 0 || files.Timeout != 90*time.Minute || !files.AtOnce || files.MaxConnections != 3 {
		t.Errorf("%+v", files)
	}
	if shop.Share != bridge.SharePrincipal || shop.Idle != 10*time.Minute || shop.Timeout != 2*time.Minute || !shop.AtOnce || !shop.Login {
		t.Errorf("%+v", shop)
	}
	if p := files.Parking(); p != (bridge.Parking{Calls: 50, Each: 5, Time: 90 * time.Second, Setting: "backends.files.parked"}) {
		t.Errorf("%+v", p)
	}
	if p := shop.Parking(); p != (bridge.Parking{Calls: 1000, Each: 100, Time: 15 * time.Minute, Setting: "backends.shop.parked"}) {
		t.Errorf("%+v", p)
	}
	to, err := files.Target()
	if err != nil || !slices.Equal(to.Command, []string{"npx", "-y", "@modelcontextprotocol/server-filesystem", "/data"}) ||
		!slices.Equal(to.Env, []string{"SSH_AUTH_SOCK=/run/ssh", "TOKEN=s3cret", "PORT=8080", "ON=true"}) ||
		to.Dir != filepath.FromSlash("testdata/valid/data") || to.Revision.String() != "2025-11-25" {
		t.Errorf("%+v, %v", to, err)
	}
	if to, err = shop.Target(); err != nil || to.URL != "https://shop.example/mcp" || to.Header.Get("X-Key") != "Key s3cret" {
		t.Errorf("%+v, %v", to, err)
	}
	own, err := c.Backends[2].Credentials()
	if err != nil || own.Issuer != "https://login.example" || own.Client.ClientID != "gateway" || own.Client.Secret != "s3cret" || len(own.Scopes) != 1 {
		t.Errorf("%+v, %v", own, err)
	}
	if own, err = shop.Credentials(); own != nil || err != nil {
		t.Error(own, err)
	}
	rules := files.Rules()
	o, prompt, resource := rules.OverrideTools["read_file"], rules.OverridePrompts["review"], rules.OverrideResources["file:///{path}"]
	if rules.Backend != "files" || rules.RenameTools["read_file"] != "read" || !rules.Tools.Has("read_x") || rules.Tools.Has("write_x") || rules.Prompts.Has("a") ||
		*o.Title != "Read" || *o.Description != "" || string(o.Annotations) != `{"readOnlyHint":true,"openWorldHint":false}` {
		t.Errorf("%+v", rules)
	}
	if prompt.Title != nil || *prompt.Description != "Review it." || prompt.Annotations != nil {
		t.Errorf("%+v", prompt)
	}
	if *resource.Title != "Files" || resource.Description != nil || string(resource.Annotations) != `{"audience":["user","assistant"],"priority":0}` {
		t.Errorf("%+v", resource)
	}
	if o := shop.Rules().OverrideTools; len(o) != 0 {
		t.Error(o)
	}
}

// Two checks of one thing cannot differ.
func TestBackendNames(t *testing.T) {
	for _, name := range []string{"", "a", "a-b", "-a", "A", "a_b", "0", strings.Repeat("a", 32), strings.Repeat("a", 33)} {
		if got, want := backendName.check(name), toolname.ValidServer(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
}

// What is missing outside of the file is a warning, and an error of that backend.
func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "lines", "a\nb\n")
	path := write(t, dir, "g.yaml", `version: 1
backends:
  a: {command: [x], env: {A: "${env:MISSING}", B: "${file:missing}"}}
  b: {url: "${env:URL}", headers: {X: "${file:lines}"}, auth: {client: {issuer: "https://x", id: x, secret: "${file:none}"}}}
  c: {command: [x]}
views: {v: {principals: [alice]}}
listen: {http: 0.0.0.0:7331}
`)
	c := read(t, path, map[string]string{"URL": "ftp://secret"})
	want := []string{
		`3:30: backends.a.env.A: the variable MISSING is not set; set it, or write a default, as in ${env:MISSING:-…}`,
		`3:51: backends.a.env.B: the file of ${file:missing} cannot be read: no such file or directory`,
		`4:12: backends.b.url: what it stands for does not fit; it must be a URL that begins with http:// or https://`,
		`4:39: backends.b.headers.X: what it stands for does not fit; it must be a text on one line`,
		`4:109: backends.b.auth.client.secret: the file of ${file:none} cannot be read: no such file or directory`,
		`6:25: views.v.principals: without auth.issuer nobody has a name, so nobody can use the view`,
		`7:16: listen.http: this address can be reached from other machines; say in auth who may use the gateway: bearer, issuer, or none for everybody`,
	}
	got := strings.Split(strings.ReplaceAll(c.Warnings.Error(), path+":", ""), "\n")
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if _, err := c.Backend("a").Target(); err == nil {
		t.Error("a can be reached")
	}
	if _, err := c.Backend("c").Target(); err != nil || c.Backend("d") != nil {
		t.Error(err)
	}
}

// Nothing that prints a text shows what is secret in it.
func TestTextsAreMasked(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "key", "hunter2-file\n")
	path := write(t, dir, "g.yaml", `version: 1
auth: {bearer: hunter2-literal-token}
backends:
  a: {command: [run, --api-key, hunter2-arg], env: {A: hunter2-env, B: "${file:key}", C: "${env:C:-hunter2-default}"}}
  b: {url: "https://user:hunter2-pass@x.example/mcp?key=hunter2-query", headers: {X: "Bearer hunter2-header"}}
`)
	c := read(t, path, nil)
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	for _, v := range []any{c, *c, c.Auth, c.Auth.Bearer, &c.Auth.Bearer, c.Backends[0], *c.Backends[0], *c.Backends[1], c.Backends[0].env, c.Backends[0].env[0].value} {
		fmt.Fprintf(&out, "%v %+v %#v %s\n", v, v, v, v)
		if doc, err := json.Marshal(v); err == nil {
			out.Write(doc)
		}
		log.Info("test", "value", v)
	}
	fmt.Fprintln(&out, c.Backends[0].Same())
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("a secret was printed:\n%s", out.String())
	}
	if s, err := c.Auth.Bearer.Reveal(); s != "hunter2-literal-token" || err != nil {
		t.Error(s, err)
	}
	to, err := c.Backends[0].Target()
	if err != nil || !slices.Equal(to.Env, []string{"A=hunter2-env", "B=hunter2-file", "C=hunter2-default"}) {
		t.Errorf("%q, %v", to.Env, err)
	}
	if got := c.Backends[1].String(); got != "https://user:***@x.example/mcp?key=***" {
		t.Error(got)
	}
}

func TestReferences(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "key", "of a file\r\n")
	env := outside(dir, map[string]string{"A": "1", "EMPTY": "", "NESTED": "${env:A}"})
	for raw, want := range map[string]string{
		"":                                "",
		"plain $ {x}":                     "plain $ {x}",
		"${env:A}-${env:A}":               "1-1",
		"${env:EMPTY}":                    "",
		"${env:EMPTY:-preset}":            "preset",
		"${env:MISSING:-}":                "",
		"${env:MISSING:-http://x/}":       "http://x/",
		"${env:NESTED}":                   "${env:A}",
		"$${env:A} ${env:A}":              "${env:A} 1",
		"${file:key}":                     "of a file",
		"${file:~/key}":                   "of a file",
		"${file:" + dir + "/key}, really": "of a file, really",
	} {
		text := newText(written{raw, anything, &target.Error{File: filepath.Join(dir, "g.yaml")}, &env})
		if got, err := text.Reveal(); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", raw, got, err, want)
		}
	}
}

const foreign = `{
  // as VS Code has them
  "servers": {
    "My Files": {"command": "npx", "args": ["-y", "x"], "env": {"KEY": "${input:api-key}"}},
    "off": {"command": "x", "disabled": true},
    "broken": {"command": "x", "url": "http://x"},
    "shop": {"url": "https://shop.example/mcp", "headers": {"A": "${env:TOKEN}"}},
  },
  "inputs": [{"id": "api-key", "type": "promptString", "password": true}],
}`

// The files of other programs are read as they are, and each entry costs only itself.
func TestForeign(t *testing.T) {
	path := write(t, t.TempDir(), "mcp.json", foreign)
	c := read(t, path, map[string]string{"TOKEN": "t"})
	if len(c.Backends) != 2 || c.Backends[0].Name != "my-files" || c.Backends[0].Original != "My Files" || c.Backends[1].Name != "shop" || c.Backends[1].Original != "" {
		t.Fatalf("%v", c.Backends)
	}
	want := []string{
		`4:72: servers.My Files.env.KEY: the input "api-key" is for the user to give, and there is nobody to ask; set the variable PARLEY_INPUT_API_KEY`,
		`6:39: servers.broken.url: there is a command, too; a server has either a url or a command; the server "broken" is left out`,
	}
	if got := strings.Split(strings.ReplaceAll(c.Warnings.Error(), path+":", ""), "\n"); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if to, err := c.Backend("shop").Target(); err != nil || to.Header.Get("A") != "t" {
		t.Errorf("%+v %v", to, err)
	}
	c = read(t, path, map[string]string{"PARLEY_INPUT_API_KEY": "k"})
	if to, err := c.Backend("my-files").Target(); err != nil || !slices.Equal(to.Env, []string{"KEY=k"}) {
		t.Errorf("%+v %v", to, err)
	}
	if b := c.Backend("my-files"); b.Share != bridge.SharePrincipal || b.Idle != 10*time.Minute || b.String() != "npx -y x" {
		t.Errorf("%+v", b)
	}
}

func TestForeignMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers": {"My Files": {"command": "x"}, "my files": {"command": "y"}}}`: `1:59: mcpServers.my files: "My Files" and "my files" would both be called my-files: give one of them another name`,
		`{"mcpServers": {}}`:                   `1:1: it has no server that is enabled; if this is the gateway's own format, its name must end in .yaml`,
		`{"mcpServers": [`:                     `1:17: this is not JSON: `,
		`{"mcpServers": {"a": {}, "a": {}}}`:   `1:31: mcpServers.a: the member stands here twice`,
		`{"mcpServers": {"a": {"disabled": 1}`: `1:37: this is not JSON: `,
	} {
		path := write(t, t.TempDir(), "mcp.json", text)
		if _, err := Read(path, outside("", nil)); err == nil || !strings.HasPrefix(err.Error(), path+":"+want) {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.yaml"), outside("", nil)); !os.IsNotExist(err) {
		t.Error(err)
	}
	path := write(t, t.TempDir(), "large.yaml", strings.Repeat("#", maxFile+1))
	if _, err := Read(path, outside("", nil)); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Error(err)
	}
}
