package skilldir

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/skill"
)

// Identity says which skill is meant: that of a server, as its user calls the server,
// at a URI. Neither is enough: two servers may have a skill at the same URI.
type Identity struct{ Server, URI string }

// longest bounds the name of a file or folder, in bytes. File systems allow 255.
const longest = 200

// longestPath bounds the path of a file in its skill, in bytes.
const longestPath = 1000

// Folder returns where a skill is kept, as a path with slashes below the folder of
// all skills:
//
//	SERVER/PLACE/NAME
//
// NAME is the skill's own, as Agent Skills demands of its folder. PLACE is what stands
// before it in the URI. All have the same depth, so that a skill within a skill, which
// has a folder of its own, does not lie in the other's. SERVER and PLACE are escaped such
// that different ones differ on file systems that ignore case, too.
//
// Spec: ext-skills/stable skills#skill-uris.
func (id Identity) Folder() (string, error) {
	place, name, err := cutURI(id.URI)
	if err == nil && id.Server == "" {
		err = errors.New("the server has no label")
	}
	server, place := escape(id.Server), escape(place)
	for _, part := range []string{server, place} {
		if err == nil && len(part) > longest {
			err = fmt.Errorf("%.60s… is too long for the name of a folder: %d bytes, at most %d", part, len(part), longest)
		}
	}
	if err != nil {
		return "", &PathError{URI: id.URI, Err: err}
	}
	return server + "/" + place + "/" + name, nil
}

// PathError says why something that a server has at a URI cannot be a file or a folder
// here.
type PathError struct {
	URI string
	Err error
}

// Error names the URI.
func (e *PathError) Error() string { return fmt.Sprintf("%.200q cannot be kept: %v", e.URI, e.Err) }

// Unwrap returns what is wrong.
func (e *PathError) Unwrap() error { return e.Err }

// IdentityOf is the reverse of Identity.Folder.
func IdentityOf(folder string) (Identity, bool) {
	parts := strings.Split(folder, "/")
	if len(parts) != 3 {
		return Identity{}, false
	}
	server, known := unescape(parts[0])
	place, found := unescape(parts[1])
	return Identity{Server: server, URI: place + parts[2] + "/" + skill.File}, known && found
}

// cutURI splits the URI of a skill into the skill's name and what stands before it.
func cutURI(uri string) (place, name string, err error) {
	root, err := skill.Root(uri)
	if err != nil {
		return "", "", err
	}
	name = root[strings.LastIndexByte(root, '/')+1:]
	if err := skill.CheckName(name); err != nil {
		return "", "", err
	}
	return strings.TrimSuffix(root, name), name, checkName(name)
}

// FilePath returns the path, with slashes, that a file has in the folder of its skill.
// It is the one by which the skill's texts refer to the file, and never leads out of
// the folder. The error says why a file cannot have that path.
//
// Spec: ext-skills/stable skills#relative-references.
func FilePath(skillURI, fileURI string) (string, error) {
	path, err := filePath(skillURI, fileURI)
	if err != nil {
		return "", &PathError{URI: fileURI, Err: err}
	}
	return path, nil
}

func filePath(skillURI, uri string) (string, error) {
	root, err := skill.Root(skillURI)
	if err != nil {
		return "", err
	}
	path, err := skill.Path(root, uri)
	if err != nil {
		return "", err
	}
	for name := range strings.SplitSeq(path, "/") {
		if err := checkName(name); err != nil {
			return "", err
		}
	}
	if len(path) > longestPath {
		return "", fmt.Errorf("its path is too long: %d bytes, at most %d", len(path), longestPath)
	}
	return path, nil
}

// escape makes a name of one folder out of any text. The result has no upper-case
// letters, and is never that of another text.
func escape(text string) string {
	var b strings.Builder
	scheme, rest, isURL := strings.Cut(text, "://")
	escapeTo(&b, scheme)
	if isURL {
		b.WriteByte('=')
		escapeTo(&b, rest)
	}
	name := b.String()
	if short, ok := strings.CutSuffix(name, "."); ok {
		name = short + "%2e"
	}
	if strings.HasPrefix(name, ".") || isReserved(name) {
		name = fmt.Sprintf("%%%02x", name[0]) + name[1:]
	}
	return name
}

func escapeTo(b *strings.Builder, text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', strings.IndexByte("-_.", c) >= 0:
			b.WriteByte(c)
		case c >= 'A' && c <= 'Z':
			b.WriteByte('!')
			b.WriteByte(c + 'a' - 'A')
		case c == '/':
			b.WriteByte('+')
		default:
			fmt.Fprintf(b, "%%%02x", c)
		}
	}
}

func unescape(name string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch c := name[i]; c {
		case '=':
			b.WriteString("://")
		case '+':
			b.WriteByte('/')
		case '!':
			if i++; i == len(name) || name[i] < 'a' || name[i] > 'z' {
				return "", false
			}
			b.WriteByte(name[i] - 'a' + 'A')
		case '%':
			if i+2 >= len(name) {
				return "", false
			}
			raw, err := url.PathUnescape(name[i : i+3])
			if err != nil {
				return "", false
			}
			b.WriteString(raw)
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}
