package skilldir

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// checkName refuses what cannot be the name of a file on every system, or is more than
// a name on one of them, so that what is pulled can be copied to any other. Names that
// begin with a dot are refused because programs act on such files in the folders that
// their users enter.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("a name in its path is empty")
	case name[0] == '.':
		return fmt.Errorf("%.100q begins with a dot: such files tell programs what to do", name)
	case len(name) > longest:
		return fmt.Errorf("the name %.60s… is too long: %d bytes, at most %d", name, len(name), longest)
	case !utf8.ValidString(name):
		return fmt.Errorf("the name %.100q is not UTF-8", name)
	case strings.ContainsAny(name, `<>:"/\|?*`) || strings.ContainsFunc(name, isInvisible):
		return fmt.Errorf("the name %.100q has characters that a name cannot have on every system", name)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return fmt.Errorf("the name %.100q ends with a dot or a blank", name)
	case isReserved(name):
		return fmt.Errorf("the name %.100q is that of a device on Windows", name)
	}
	return nil
}

// isInvisible reports whether a character is not seen, or changes how others are seen.
func isInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// isReserved reports whether Windows takes a name for a device, whatever follows its
// first dot.
func isReserved(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	port, ok := strings.CutPrefix(base, "COM")
	if !ok {
		port, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
}

// fold returns what two names have in common that are one on a file system that ignores
// case, or how a letter is composed.
func fold(name string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
}

// collisions finds files that would take each other's place on some systems.
type collisions map[string]string // by folded path: as it was spelled, with "/" at the end of a folder

// add adds the path of a file. The error names the other one.
func (c collisions) add(path string) error {
	for i, r := range path {
		if r == '/' {
			if err := c.note(path[:i], "/", path); err != nil {
				return err
			}
		}
	}
	if _, twice := c[fold(path)]; twice {
		return fmt.Errorf("the path %.200q is that of two files, at least where case is ignored", path)
	}
	return c.note(path, "", path)
}

func (c collisions) note(part, end, path string) error {
	key := fold(part)
	if other, known := c[key]; known && other != part+end {
		return fmt.Errorf("the paths %.200q and %.200q are one where case is ignored, or one of them is a folder", path, other)
	}
	c[key] = part + end
	return nil
}
