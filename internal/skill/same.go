package skill

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
)

// Same compares the frontmatter of an entry with that of the SKILL.md that came for
// it, field by field. The order of fields does not count, nor how a number is
// written. The error names the first field that differs.
//
// Spec: ext-skills/stable skills#frontmatter-verification.
func Same(entry, file json.RawMessage) error {
	want, err := members(entry)
	if err != nil {
		return fmt.Errorf("the frontmatter of the entry: %w", err)
	}
	have, err := members(file)
	if err != nil {
		return fmt.Errorf("the frontmatter of the file: %w", err)
	}
	for name, value := range have {
		other, ok := want[name]
		switch {
		case !ok:
			return fmt.Errorf("the file has the field %.80q, and its entry has not", name)
		case !same(other, value):
			return fmt.Errorf("the field %.80q is %.80s in the file and %.80s in its entry", name, value, other)
		}
	}
	for name := range want {
		if have[name] == nil {
			return fmt.Errorf("the entry has the field %.80q, and the file has not", name)
		}
	}
	return nil
}

func members(doc json.RawMessage) (map[string]json.RawMessage, error) {
	if len(doc) == 0 || doc[0] != '{' {
		return nil, wire.ErrNotObject
	}
	var m map[string]json.RawMessage
	err := wire.Unmarshal(doc, &m)
	return m, err
}

// same compares two values by what they mean.
func same(a, b json.RawMessage) bool {
	switch {
	case len(a) == 0 || len(b) == 0:
		return false
	case a[0] == '{' && b[0] == '{':
		return Same(a, b) == nil
	case a[0] == '[' && b[0] == '[':
		return sameList(a, b)
	}
	if x, ok := wire.Text(a); ok {
		y, ok := wire.Text(b)
		return ok && x == y
	}
	return string(a) == string(b) || sameNumber(string(a), string(b))
}

func sameList(a, b json.RawMessage) bool {
	var x, y []json.RawMessage
	if wire.Unmarshal(a, &x) != nil || wire.Unmarshal(b, &y) != nil || len(x) != len(y) {
		return false
	}
	for i := range x {
		if !same(x[i], y[i]) {
			return false
		}
	}
	return true
}

// sameNumber compares numbers that are written differently. Integers are the same
// only if their digits are.
func sameNumber(a, b string) bool {
	if !strings.ContainsAny(a+b, ".eE") {
		return false
	}
	x, errA := strconv.ParseFloat(a, 64)
	y, errB := strconv.ParseFloat(b, 64)
	return errA == nil && errB == nil && x == y
}
