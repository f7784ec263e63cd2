package target

import (
	"path/filepath"
	"strings"

	"github.com/parley-mcp/parley/internal/ref"
)

// Draft is what a file says about a server, for another format: its references are
// rewritten, and it may have secrets.
type Draft struct {
	URL          string
	Command      []string
	Env, Headers []DraftSetting
	Dir, EnvFile string
	Revision     string
}

// DraftSetting is a variable or a header of a Draft.
type DraftSetting struct {
	Name, Value string
	// Literal says that the value stands in the file as it is, and may be a secret.
	Literal bool
}

// Draft returns what an entry says. A reference to a variable becomes what variable
// returns; one to an input becomes a variable, too, see InputVariable. hasPreset says
// that there is a value for when it is not set.
func (e *Entry) Draft(env Environment, variable func(name, preset string, hasPreset bool) (string, error)) (*Draft, error) {
	if e.Err != nil {
		return nil, e.Err
	}
	d := drafter{resolver: resolver{Environment: env, file: e.File}, variable: variable}
	draft := &Draft{URL: d.text(e.url), Dir: d.path(e.dir), EnvFile: d.path(e.envFile), Revision: d.text(e.version)}
	if e.command.s != "" {
		draft.Command = []string{d.text(e.command)}
		for _, arg := range e.args {
			draft.Command = append(draft.Command, d.text(arg))
		}
	}
	draft.Env, draft.Headers = d.settings(e.env), d.settings(e.headers)
	return draft, d.err
}

// drafter rewrites references.
type drafter struct {
	resolver

	variable func(name, preset string, hasPreset bool) (string, error)
}

func (d *drafter) settings(settings []setting) []DraftSetting {
	list := make([]DraftSetting, 0, len(settings))
	for _, s := range settings {
		list = append(list, DraftSetting{s.name, d.text(s.value), MaskValue(s.value.s) != s.value.s})
	}
	return list
}

// text rewrites the references of a text.
func (d *drafter) text(t text) string {
	if strings.Contains(t.s, "$${") {
		d.fail(t.errorf("a $ before a reference means something else in the other format"))
	}
	return d.replace(t, func(text string) (string, error) {
		if id, ok := strings.CutPrefix(text, "input:"); ok {
			preset := d.file.input(id).Default
			return d.variable(InputVariable(id), preset, preset != "")
		}
		if value, ok := d.place(text); ok {
			return value, nil
		}
		name, preset, hasPreset, err := ref.Parts(text)
		if err != nil {
			return "", err
		}
		return d.variable(name, preset, hasPreset)
	})
}

// path rewrites a path. A relative one starts at the workspace.
func (d *drafter) path(t text) string {
	path := d.text(t)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(d.Home, rest)
	}
	if path == "" || filepath.IsAbs(path) || strings.HasPrefix(path, "${") {
		return path
	}
	return filepath.Join(d.workspace(), path)
}
