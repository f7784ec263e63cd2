package pins

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/parley-mcp/parley/internal/wire"
)

// Digest identifies what a definition says: name, description, schemas, annotations and
// all other members, but not how large a resource is and when it last changed.
func Digest(definition json.RawMessage) (string, error) {
	lasting, err := wire.Without(definition, "size")
	if err != nil {
		return "", err
	}
	if notes := wire.Find(lasting, "annotations"); len(notes) > 0 && notes[0] == '{' {
		if lasting, err = withoutModified(lasting, notes); err != nil {
			return "", err
		}
	}
	canonical, err := wire.Canonical(lasting)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

func withoutModified(definition, notes []byte) ([]byte, error) {
	lasting, err := wire.Without(notes, "lastModified")
	if err != nil {
		return nil, err
	}
	if string(lasting) == "{}" {
		return wire.Without(definition, "annotations")
	}
	return wire.Set(definition, "annotations", lasting)
}

// Diff shows how the pending version of a pin differs from the approved one, line by
// line, or the whole of it if none was approved.
func (p *Pin) Diff() string {
	if p.Pending == nil {
		return ""
	}
	return string(diff.Diff("approved", p.Approved.lines(), "pending", p.Pending.lines()))
}

// Lines is the definition in a form in which equal parts are equal lines.
func (v *Version) Lines() string { return string(v.lines()) }

// lines is the definition in a form in which equal parts are equal lines.
func (v *Version) lines() []byte {
	if v == nil {
		return nil
	}
	canonical, err := wire.Canonical(v.Definition)
	if err != nil {
		canonical = v.Definition
	}
	var text bytes.Buffer
	if json.Indent(&text, canonical, "", "  ") != nil {
		return canonical
	}
	text.WriteByte('\n')
	return text.Bytes()
}
