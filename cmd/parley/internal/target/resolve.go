package target

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/joho/godotenv"

	"github.com/parley-mcp/parley/internal/ref"
	"github.com/parley-mcp/parley/mcp"
)

// Environment is what the references in configuration files refer to.
type Environment struct {
	// Lookup looks up a variable.
	Lookup func(name string) (string, bool)
	// Home is the user's home folder, and Folder the one that the program works in.
	Home, Folder string
	// Ask asks the user for a value. nil means that there is nobody to ask.
	Ask func(*Input) (string, error)
}

// Resolve returns the target that an entry names, with all references replaced:
// ${NAME} and ${env:NAME} are variables, ${NAME:-TEXT} has a default, ${input:ID} is
// asked for, and ${userHome}, ${workspaceFolder}, ${workspaceFolderBasename},
// ${pathSeparator} and ${/} are what they are in VS Code.
func (e *Entry) Resolve(env Environment) (Target, error) {
	if e.Err != nil {
		return Target{}, e.Err
	}
	r := resolver{Environment: env, file: e.File, asked: map[string]string{}}
	t := Target{Entry: e, URL: r.text(e.url), Dir: r.path(e.dir)}
	if e.command.s != "" {
		t.Command = []string{r.text(e.command)}
		for _, arg := range e.args {
			t.Command = append(t.Command, r.text(arg))
		}
	}
	r.readEnv(&t, e)
	r.readHeader(&t, e)
	if e.version.s != "" {
		var ok bool
		if t.Revision, ok = mcp.ParseRevision(r.text(e.version)); !ok {
			r.fail(e.version.errorf("%q is not a released revision", e.version.s))
		}
	}
	if t.URL != "" && !IsURL(t.URL) {
		r.fail(e.url.errorf("this is not a URL with http:// or https://"))
	}
	t.Secrets = r.secrets
	return t, r.err
}

// resolver replaces references, and collects what is wrong with them.
type resolver struct {
	Environment

	file    *File
	asked   map[string]string // the values of inputs
	secrets []string          // those that must not be shown
	err     error             // all that is wrong
}

func (r *resolver) fail(err error) {
	if r.err == nil {
		r.err = err
		return
	}
	r.err = errors.Join(r.err, err)
}

// text replaces the references in a text.
func (r *resolver) text(t text) string { return r.replace(t, r.reference) }

// replace replaces the references in a text by what one returns.
func (r *resolver) replace(t text, one func(ref string) (string, error)) string {
	value, err := ref.Replace(t.s, one)
	if err != nil {
		r.fail(t.errorf("%w", err))
	}
	return value
}

// reference returns the value of a reference, without its braces.
func (r *resolver) reference(text string) (string, error) {
	if value, ok := r.place(text); ok {
		return value, nil
	}
	if id, ok := strings.CutPrefix(text, "input:"); ok {
		return r.input(id)
	}
	return ref.Variable(text, r.Lookup)
}

// place returns the value of a reference to a place.
func (r *resolver) place(text string) (value string, ok bool) {
	switch text {
	case "userHome":
		return r.Home, true
	case "workspaceFolder":
		return r.workspace(), true
	case "workspaceFolderBasename":
		return filepath.Base(r.workspace()), true
	case "pathSeparator", "/":
		return string(filepath.Separator), true
	}
	return "", false
}

// input returns a value that the file leaves to the user.
func (r *resolver) input(id string) (string, error) {
	if value, ok := r.asked[id]; ok {
		return value, nil
	}
	in := r.file.input(id)
	value, err := r.given(in)
	if err != nil {
		return "", err
	}
	r.asked[id] = value
	if in.Password && value != "" {
		r.secrets = append(r.secrets, value)
	}
	return value, nil
}

// given returns the value of an input: that of its variable, or what the user says.
func (r *resolver) given(in *Input) (string, error) {
	variable := InputVariable(in.ID)
	if value, ok := r.Lookup(variable); ok {
		return value, nil
	}
	if r.Ask == nil {
		return "", fmt.Errorf("the input %q is for the user to give, and there is nobody to ask; set the variable %s", in.ID, variable)
	}
	if r.err != nil {
		return "", r.err // it would be asked for in vain
	}
	value, err := r.Ask(in)
	if err != nil {
		return "", fmt.Errorf("the input %q was not given: %w", in.ID, err)
	}
	return value, nil
}

// workspace is the folder that a file of a project is for.
func (r *resolver) workspace() string {
	dir := filepath.Dir(r.file.Path)
	switch filepath.Base(dir) {
	case ".vscode", ".cursor":
		if abs, err := filepath.Abs(filepath.Dir(dir)); err == nil {
			return abs
		}
	}
	return r.Folder
}

// path returns a path of a file. A relative one starts at its workspace.
func (r *resolver) path(t text) string {
	path := r.text(t)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(r.Home, rest)
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.workspace(), path)
}

// readEnv sets the variables of a command: those of the file that envFile names
// first, so that those of the entry replace them.
func (r *resolver) readEnv(t *Target, e *Entry) {
	if e.envFile.s != "" {
		values, err := ReadEnvFile(r.path(e.envFile))
		if err != nil {
			r.fail(e.envFile.errorf("%w", err))
		}
		t.Env = values
	}
	for _, s := range e.env {
		t.Env = append(t.Env, s.name+"="+r.text(s.value))
	}
}

// Files returns the files, besides its own, that an entry takes values from.
func (e *Entry) Files(env Environment) []string {
	if e.envFile.s == "" {
		return nil
	}
	r := resolver{Environment: env, file: e.File}
	path := r.path(e.envFile)
	if r.err != nil {
		return nil
	}
	return []string{path}
}

// ReadEnvFile reads a file with variables, and returns them as NAME=value, sorted.
func ReadEnvFile(path string) ([]string, error) {
	file, err := os.Open(path) //nolint:gosec // the user's configuration names it
	if err != nil {
		return nil, err
	}
	defer file.Close()
	values, err := godotenv.Parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	list := make([]string, 0, len(values))
	for name, value := range values {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list, nil
}

func (r *resolver) readHeader(t *Target, e *Entry) {
	if len(e.headers) > 0 {
		t.Header = http.Header{}
	}
	for _, s := range e.headers {
		value := r.text(s.value)
		if strings.ContainsAny(s.name, " :") || strings.ContainsAny(value, "\r\n\x00") {
			r.fail(s.value.errorf("this cannot be a header"))
		}
		t.Header.Set(s.name, value)
	}
}
