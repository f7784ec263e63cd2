package skill

import (
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/content"
)

// Root returns the URI of a skill's directory, which is that of its SKILL.md
// without the last segment. The scheme does not matter.
//
// Spec: ext-skills/stable skills#resource-mapping.
func Root(uri string) (string, error) {
	if err := content.URI(uri); err != nil {
		return "", err
	}
	root, ok := strings.CutSuffix(uri, "/"+File)
	if !ok || strings.ContainsAny(uri, "?#") {
		return "", fmt.Errorf("uri %.200q is not that of a skill: it must end with %q", uri, "/"+File)
	}
	if Name(root) == "" {
		return "", fmt.Errorf("uri %.200q names no skill: a directory must stand before %q", uri, "/"+File)
	}
	return root, nil
}

// Name returns the last segment of a URI without a slash at its end: of that of a
// skill's directory, it must be the skill's name. It is "" if there is none.
//
// Spec: ext-skills/stable skills#resource-mapping.
func Name(uri string) string {
	_, rest, _ := strings.Cut(uri, ":")
	name, err := url.PathUnescape(rest[strings.LastIndex(rest, "/")+1:])
	if err != nil {
		return ""
	}
	return name
}

// URI returns the URI of what is at a path below a directory. The path has
// slashes, and "." is the directory itself.
func URI(root, name string) string {
	if name == "." {
		return root
	}
	segments := strings.Split(name, "/")
	for i, s := range segments {
		segments[i] = delimiters.Replace(url.PathEscape(s))
	}
	return root + "/" + strings.Join(segments, "/")
}

// delimiters are what PathEscape leaves alone, and has a meaning in an authority,
// where the first segment stands.
var delimiters = strings.NewReplacer(":", "%3A", "@", "%40")

// Path returns the path of a file below the directory root of its skill: the
// inverse of URI. The error says that the file is not in the directory, or that
// its path is none: each segment must be a name that could stand in a file tree
// as it is.
//
// Spec: ext-skills/stable skills#resources.
func Path(root, uri string) (string, error) {
	rest, ok := strings.CutPrefix(uri, root+"/")
	if !ok || rest == "" {
		return "", fmt.Errorf("uri %.200q is not in the skill's directory %.200q", uri, root)
	}
	if err := content.URI(uri); err != nil {
		return "", err
	}
	segments := strings.Split(rest, "/")
	for i, s := range segments {
		name, err := url.PathUnescape(s)
		if err != nil || !safeName(name) || strings.ContainsAny(s, "?#") {
			return "", fmt.Errorf("uri %.200q: the segment %.100q cannot be the name of a file", uri, s)
		}
		segments[i] = name
	}
	return strings.Join(segments, "/"), nil
}

// safeName reports whether text is the name of one file, whatever the system.
func safeName(text string) bool {
	return text != "." && fs.ValidPath(text) && !strings.ContainsAny(text, "/\\") &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}
