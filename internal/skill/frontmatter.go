package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/internal/yamljson"
)

// maxFrontmatter is far above what anybody writes by hand, and keeps what a
// stranger wrote from costing much.
const maxFrontmatter = 256 << 10 // bytes

var delimiter = []byte("---")

// Frontmatter returns the YAML frontmatter of a SKILL.md as a JSON object: every
// field that the author wrote, in that order. Numbers keep their digits, dates
// their text, and an alias becomes a copy of what it stands for. What JSON has no
// form for is an error: infinity, tags of the author's own, keys that are not
// scalars. So is a field that is there twice. Whether the fields follow the rules
// is not looked at; see Check.
//
// Spec: ext-skills/stable skills#frontmatter.
func Frontmatter(doc []byte) (json.RawMessage, error) {
	source, err := cut(doc)
	if err != nil {
		return nil, err
	}
	top, err := yamljson.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("the frontmatter: %w", err)
	}
	if top == nil || top.Kind != yaml.MappingNode {
		return nil, errors.New("the frontmatter is not a mapping of fields such as \"name: my-skill\"")
	}
	const opening = 1 // the line of three hyphens
	fields, err := yamljson.Render(top, opening)
	if err != nil {
		return nil, fmt.Errorf("the frontmatter, %w", err)
	}
	return fields, nil
}

// cut returns the lines between the two that consist of three hyphens.
func cut(doc []byte) ([]byte, error) {
	first, rest, _ := bytes.Cut(doc, []byte("\n"))
	if !isDelimiter(first) {
		return nil, errors.New(`it must begin with YAML frontmatter: the first line must be "---"`)
	}
	for at := 0; at < len(rest); {
		line, _, more := bytes.Cut(rest[at:], []byte("\n"))
		switch {
		case isDelimiter(line):
			return checked(rest[:at])
		case at > maxFrontmatter:
			return nil, errTooLong
		case !more:
			at = len(rest)
		default:
			at += len(line) + 1
		}
	}
	return nil, errors.New(`the frontmatter has no end: a line with nothing but "---" must follow it`)
}

func isDelimiter(line []byte) bool { return bytes.Equal(bytes.TrimRight(line, " \t\r"), delimiter) }

var errTooLong = fmt.Errorf("the frontmatter has more than %d bytes", maxFrontmatter)

// checked refuses what the YAML library would take for another encoding.
func checked(source []byte) ([]byte, error) {
	if len(source) > maxFrontmatter {
		return nil, errTooLong
	}
	return source, nil
}
