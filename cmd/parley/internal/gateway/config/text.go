package config

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// Text is a text of the file in which ${env:NAME}, ${env:NAME:-DEFAULT} and ${file:PATH}
// stand for what a variable or a file has. It may be a secret, so whatever prints it
// gets *** instead, unless it is nothing but a reference. Reveal returns what it is.
type Text struct {
	// in is a function, because fmt prints what is in fields without asking its methods.
	in func() *written
}

// written is what the file has.
type written struct {
	raw  string
	rule rule          // of what it stands for
	at   *target.Error // where it stands, without an error
	env  *target.Environment
}

func newText(w written) Text { return Text{func() *written { return &w }} }

// maxSecret bounds a file that a reference names, in bytes.
const maxSecret = 64 << 10

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// IsZero reports whether there is no text.
func (t Text) IsZero() bool { return t.raw() == "" }

// raw is what the file has.
func (t Text) raw() string {
	if t.in == nil {
		return ""
	}
	return t.in().raw
}

// String returns what may be shown.
func (t Text) String() string { return target.MaskValue(t.raw()) }

// GoString is String, for %#v.
func (t Text) GoString() string { return t.String() }

// MarshalText is String, for JSON and the like.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// LogValue is String, for logs.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// Reveal returns the text with what its references stand for at this moment.
func (t Text) Reveal() (string, error) {
	s, err := t.reveal()
	if err != nil { // a nil pointer is no nil error
		return "", err
	}
	return s, nil
}

func (t Text) reveal() (string, *target.Error) {
	if t.IsZero() {
		return "", nil
	}
	var out strings.Builder
	err := t.parts(func(literal string) { out.WriteString(literal) }, func(ref string) error {
		text, err := t.lookUp(ref)
		out.WriteString(text)
		return err
	})
	if err != nil {
		return "", t.fault(err)
	}
	s := out.String()
	if rule := t.in().rule; !rule.check(s) {
		return "", t.fault(fmt.Errorf("what it stands for does not fit; it must be %s", rule.is))
	}
	return s, nil
}

// fault returns an error at the place of the text.
func (t Text) fault(err error) *target.Error {
	e := *t.in().at
	e.Err = err
	return &e
}

// parts calls literal and reference with the parts of the text, in their order. "$${"
// stands for "${".
func (t Text) parts(literal func(string), reference func(string) error) error {
	for rest := t.raw(); ; {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			literal(rest)
			return nil
		}
		if escaped, ok := strings.CutSuffix(before, "$"); ok {
			literal(escaped + "${")
			rest = after
			continue
		}
		literal(before)
		ref, tail, ends := strings.Cut(after, "}")
		if !ends {
			return errors.New("a reference ${… has no end")
		}
		if err := reference(ref); err != nil {
			return err
		}
		rest = tail
	}
}

// split returns the parts of a reference. It does not look anything up.
func split(ref string) (kind, name, preset string, hasPreset bool, err error) {
	kind, name, _ = strings.Cut(ref, ":")
	switch kind {
	case "env":
		name, preset, hasPreset = strings.Cut(name, ":-")
		if !variableName.MatchString(name) {
			err = fmt.Errorf("${env:%.80s} does not name a variable", name)
		}
	case "file":
		if name == "" {
			err = errors.New("${file:} does not name a file")
		}
	default:
		err = errors.New("this is no reference; there are ${env:NAME}, ${env:NAME:-DEFAULT} and ${file:PATH}, and $${ stands for ${")
		if variableName.MatchString(ref) {
			err = fmt.Errorf("${%.80s} is no reference; write ${env:%.80s}", ref, ref)
		}
	}
	return kind, name, preset, hasPreset, err
}

// lookUp returns what a reference stands for.
func (t Text) lookUp(ref string) (string, error) {
	kind, name, preset, hasPreset, err := split(ref)
	if err != nil {
		return "", err
	}
	if kind == "file" {
		return t.secret(name)
	}
	if text, ok := t.in().env.Lookup(name); ok && (text != "" || !hasPreset) {
		return text, nil
	}
	if !hasPreset {
		return "", fmt.Errorf("the variable %s is not set; set it, or write a default, as in ${env:%s:-…}", name, name)
	}
	return preset, nil
}

// secret returns what a file has, without the end of its last line.
func (t Text) secret(name string) (string, error) {
	path := t.path(name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("the file of ${file:%s} cannot be read: %w", name, bare(err))
	case !info.Mode().IsRegular() || info.Size() > maxSecret:
		return "", fmt.Errorf("${file:%s} is no file of at most %d KiB", name, maxSecret>>10)
	}
	content, err := os.ReadFile(path) //nolint:gosec // the configuration names it
	if err != nil {
		return "", fmt.Errorf("the file of ${file:%s} cannot be read: %w", name, bare(err))
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r"), nil
}

// path returns a path that the file names. A relative one starts at the file's folder.
func (t Text) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(t.in().env.Home, rest)
	}
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(t.in().at.File), name)
}

// files returns the files that references name.
func (t Text) files() (paths []string) {
	_ = t.parts(func(string) {}, func(ref string) error { // its form was checked
		if kind, name, _, _, err := split(ref); err == nil && kind == "file" {
			paths = append(paths, t.path(name))
		}
		return nil
	})
	return paths
}

// Path returns the path that the text names, with what its references stand for.
func (t Text) Path() (string, error) {
	s, err := t.reveal()
	if err != nil {
		return "", err
	}
	return t.path(s), nil
}

// bare removes the path from an error, where it stands already.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
