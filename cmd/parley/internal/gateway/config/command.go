package config

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// words are a command: a program, and its arguments.
type words struct{ list[Text] }

func (v words) read(r *reader, n *yaml.Node, at where) {
	v.list.read(r, n, at)
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return
	}
	if first := origin(n.Content[0]); first.Kind == yaml.ScalarNode && isPlainScalar(first.ShortTag()) && first.ShortTag() != "!!str" {
		r.fault(first, at.index(0), "this is %s; if it is the name of a program, write it in quotes", kindOf(first))
	}
}

// isLine reports whether a command is a line for a shell, which there is none of: it has
// spaces, and there is no program of that name.
func isLine(t *target.Target) bool {
	if len(t.Command) == 0 || !strings.ContainsAny(t.Command[0], " \t") {
		return false
	}
	name := t.Command[0]
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(t.Dir, name)
	}
	_, err := exec.LookPath(name)
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist)
}

var errLine = errors.New("there is no program of this name, which has spaces; a command is a list of the program and its arguments, such as [npx, -y, x]")

// line reports a command that is a line for a shell.
func (b *Backend) line(t *target.Target) error {
	switch {
	case !isLine(t):
		return nil
	case b.entry != nil:
		return b.entry.Mistakef("there is no program %.80q; its arguments belong into args", t.Command[0])
	}
	return b.command[0].fault(errLine)
}
