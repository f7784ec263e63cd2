package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// A visit goes through the blocks of one page from its top, as a reader would, in
// a folder and with a home of its own.
type visit struct {
	*workshop
	page    *page
	dir     string
	lets    []string          // what stands for what: old, new, …
	ports   map[string]string // of the page, to those that are free here
	env     []string
	servers []*process
	said    string // what the last block that ran has written
}

// runAll visits all pages, some at a time.
func (w *workshop) runAll(pages []*page) {
	var all sync.WaitGroup
	slots := make(chan struct{}, 3)
	for _, p := range pages {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			v := &visit{workshop: w, page: p, ports: map[string]string{}, dir: filepath.Join(w.dir, "run", strings.ReplaceAll(p.name, "/", "_"))}
			if err := v.furnish(); err != nil {
				w.r.failf(p.name, 0, "%v", err)
				return
			}
			defer v.stop(nil)
			for _, b := range p.blocks {
				v.visit(b)
			}
		})
	}
	all.Wait()
}

// furnish makes the folder, with the program in its path.
func (v *visit) furnish() error {
	for _, d := range []string{"bin", "home"} {
		if err := os.MkdirAll(filepath.Join(v.dir, d), 0o750); err != nil {
			return err
		}
	}
	home := filepath.Join(v.dir, "home")
	v.env = []string{
		"PATH=" + filepath.Join(v.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + home, "PARLEY_KEYRING=off", "NO_COLOR=1",
		"XDG_CONFIG_HOME=" + home + "/config", "XDG_STATE_HOME=" + home + "/state", "XDG_CACHE_HOME=" + home + "/cache", "XDG_RUNTIME_DIR=" + home, "XDG_DATA_HOME=" + home + "/data",
	}
	return os.Symlink(v.parley, filepath.Join(v.dir, "bin", "parley"))
}

func (v *visit) visit(b *block) {
	if d, no := b.has("not run"); no {
		v.r.skip(v.page.name, b.line, "block", d.arg)
		v.said = ""
		return
	}
	for _, prepare := range []func(*block) error{v.prepare, v.start} {
		if err := prepare(b); err != nil {
			v.r.failf(v.page.name, b.line, "%v", err)
			return
		}
	}
	if _, keep := b.has("keep"); !keep {
		defer v.stop(b)
	}
	if _, is := b.has("output"); is {
		if err := compare(v.said, v.local(b.text)); err != nil {
			v.r.failf(v.page.name, b.line, "%v", err)
		}
		v.r.count(&v.r.checked)
		return
	}
	if err := v.treat(b); err != nil {
		v.r.failf(v.page.name, b.line, "%v", err)
	}
}

// treat does with a block what its language says.
func (v *visit) treat(b *block) error {
	switch b.lang {
	case "go":
		return v.program(b)
	case "sh":
		return v.shell(b)
	case "python":
		v.r.count(&v.r.checked)
		return v.python(b)
	case "json":
		v.r.count(&v.r.checked)
		var any json.RawMessage
		return json.Unmarshal([]byte(b.text), &any)
	case "nginx":
		return v.nginx(b)
	case "yaml":
		v.r.count(&v.r.checked)
		return v.yaml(b)
	}
	if _, ok := b.has("file"); ok {
		v.r.count(&v.r.checked)
		return nil
	}
	return fmt.Errorf("nothing checks %q here: tag it as go, sh, python, json or yaml, or say what it is for with file, output or not run", b.lang)
}

// prepare writes files, sets variables and notes what stands for what.
func (v *visit) prepare(b *block) error {
	for _, d := range b.dirs {
		switch d.verb {
		case "let":
			old, now, ok := strings.Cut(d.arg, " = ")
			if !ok {
				return fmt.Errorf("line %d: let takes OLD = NEW", d.line)
			}
			v.lets = append(v.lets, strings.TrimSpace(old), strings.TrimSpace(now))
		case "env":
			v.env = append(v.env, v.local(d.arg))
		case "file":
			text := d.body
			if text == "" {
				text = b.text
			}
			name := filepath.Join(v.dir, filepath.FromSlash(d.arg))
			if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
				return err
			}
			mode := os.FileMode(0o600)
			if strings.HasPrefix(text, "#!") {
				mode = 0o700
			}
			if err := os.WriteFile(name, []byte(v.local(text)), mode); err != nil {
				return err
			}
		}
	}
	return nil
}

var port = regexp.MustCompile(`(^|[\s"'=/]|127\.0\.0\.1|localhost|0\.0\.0\.0):([1-9]\d{3,4})\b`)

// local puts what a page names into what there is here: other ports, so that pages
// do not meet, and what its directives say.
func (v *visit) local(text string) string {
	if len(v.lets) > 0 {
		text = strings.NewReplacer(v.lets...).Replace(text)
	}
	return port.ReplaceAllStringFunc(text, func(s string) string {
		m := port.FindStringSubmatch(s)
		if _, ok := v.ports[m[2]]; !ok {
			v.ports[m[2]] = free(m[2])
		}
		return m[1] + ":" + v.ports[m[2]]
	})
}

// free returns a port that nobody listens on, or the same one.
func free(same string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it only asks for a number
	if err != nil {
		return same
	}
	defer func() { _ = l.Close() }()
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		return strconv.Itoa(a.Port)
	}
	return same
}

// program builds a Go block for later commands, runs or tests it.
func (v *visit) program(b *block) error {
	u := v.units[b]
	if u == nil {
		return nil
	}
	if d, ok := b.has("build"); ok {
		return v.build(u, filepath.Join(v.dir, "bin", d.arg))
	}
	if _, ok := b.has("run"); ok {
		program := filepath.Join(v.dir, "bin", filepath.Base(u.dir))
		here, err := v.localize(u)
		if err != nil {
			return err
		}
		if err := v.build(here, program); err != nil {
			return err
		}
		return v.line(b, program)
	}
	if _, ok := b.has("test"); ok {
		cmd := v.command(v.root, "go", "test", "-count=1", "./"+strings.TrimPrefix(u.dir, v.root+"/"))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	return nil
}

// localize returns a copy of a program with the ports that are free here.
func (v *visit) localize(u *unit) (*unit, error) {
	files, err := filepath.Glob(filepath.Join(u.dir, "*.go"))
	if err != nil {
		return nil, err
	}
	here := &unit{dir: filepath.Join(v.dir, filepath.Base(u.dir)), peer: u.peer}
	if err := os.MkdirAll(here.dir, 0o750); err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name) //nolint:gosec // what this program has written
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(here.dir, filepath.Base(name)), []byte(v.local(string(text))), 0o600); err != nil { //nolint:gosec // in a folder of this program
			return nil, err
		}
	}
	return here, nil
}

// yaml parses a block; one that says so is a gateway's file, or a part of one.
func (v *visit) yaml(b *block) error {
	var any yaml.Node
	if err := yaml.Unmarshal([]byte(b.text), &any); err != nil {
		return err
	}
	d, ok := b.has("gateway")
	if !ok {
		return nil
	}
	name := fmt.Sprintf("gateway-%d.yaml", b.line)
	if err := os.WriteFile(filepath.Join(v.dir, name), []byte(v.local(d.body+b.text)), 0o600); err != nil {
		return err
	}
	return v.line(b, "parley gateway validate "+name)
}

// nginx has a block read as a part of a server's configuration.
func (v *visit) nginx(b *block) error {
	if _, err := exec.LookPath("nginx"); err != nil {
		v.r.skip(v.page.name, b.line, "block", "there is no nginx here")
		return nil
	}
	text := "pid nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\nserver {\nlisten 127.0.0.1:8080;\n" + b.text + "}\n}\n"
	if err := os.WriteFile(filepath.Join(v.dir, "nginx.conf"), []byte(v.local(text)), 0o600); err != nil {
		return err
	}
	v.r.count(&v.r.checked)
	return v.line(b, `nginx -t -q -p "$PWD" -c "$PWD/nginx.conf"`)
}

// python compiles a block, and imports it where fastmcp is installed: servers are
// made then, and started only by those who run the file.
func (v *visit) python(b *block) error {
	name := fmt.Sprintf("block_%d.py", b.line)
	if err := os.WriteFile(filepath.Join(v.dir, name), []byte(b.text), 0o600); err != nil {
		return err
	}
	venvs, err := filepath.Glob(filepath.Join(v.root, "interop", "python", ".venv", "fastmcp-*", "bin", "python"))
	if err != nil {
		return err
	}
	cmd := v.command(v.dir, "python3", "-m", "py_compile", name)
	if len(venvs) > 0 {
		cmd = v.command(v.dir, venvs[len(venvs)-1], "-c", "import "+strings.TrimSuffix(name, ".py"))
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// compare holds what was written to what the page shows: … stands for anything, and
// in a line of its own for any number of lines.
func compare(got, want string) error {
	var expr strings.Builder
	expr.WriteString(`(?s)\A`)
	for line := range strings.Lines(strings.TrimRight(want, "\n ")) {
		line = strings.TrimRight(line, "\n ")
		if line == "…" {
			expr.WriteString(`(?:[^\n]*\n)*?`)
			continue
		}
		expr.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `[^\n]*`) + ` *\n`)
	}
	expr.WriteString(`\z`)
	if !regexp.MustCompile(expr.String()).MatchString(strings.TrimRight(got, "\n ") + "\n") {
		return fmt.Errorf("the page shows something else than what was written:\n%s", got)
	}
	return nil
}
