package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
)

// Limits on a schema. They are far above what a tool needs and keep the
// compiler, whose work grows faster than the schema, within a second.
const (
	maxSchemaSize  = 1 << 20
	maxSchemaDepth = 64
	maxSubschemas  = 10_000
	maxIDs         = 200
	maxRefWork     = 10_000_000 // distinct references × subschemas
	maxPointerSize = 8 << 20    // summed length of all paths in the schema
)

// maxCount replaces larger values of counting keywords, which the compiler
// would otherwise truncate to an arbitrary number.
const maxCount = "2147483647"

// bounds measures a decoded schema.
type bounds struct {
	subschemas, ids, pointers int
	refs                      map[string]bool
}

func checkBounds(doc any) error {
	b := &bounds{refs: map[string]bool{}}
	if err := b.walk(doc, 1, 0, false); err != nil {
		return err
	}
	if len(b.refs)*b.subschemas > maxRefWork {
		return fmt.Errorf("schema has %d different references over %d subschemas, which is too many", len(b.refs), b.subschemas)
	}
	return nil
}

// walk counts every object and boolean as a subschema. Some are not, but the
// ones that are cannot be told apart before the dialect is applied. Literal
// says that v lies in a value the schema quotes, such as an enum.
func (b *bounds) walk(v any, depth, pointer int, literal bool) error {
	if depth > maxSchemaDepth {
		return fmt.Errorf("schema is nested more than %d levels deep", maxSchemaDepth)
	}
	switch v := v.(type) {
	case bool:
		return b.count(pointer)
	case []any:
		for i, item := range v {
			if err := b.walk(item, depth+1, pointer+1+len(strconv.Itoa(i)), literal); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := b.count(pointer); err != nil {
			return err
		}
		for name, item := range v {
			if err := b.member(v, name, item, literal); err != nil {
				return err
			}
			if err := b.walk(item, depth+1, pointer+1+len(name), literal || isData(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bounds) count(pointer int) error {
	b.subschemas++
	b.pointers += pointer
	if b.subschemas > maxSubschemas {
		return fmt.Errorf("schema has more than %d subschemas", maxSubschemas)
	}
	if b.pointers > maxPointerSize {
		return fmt.Errorf("schema has member names too long for its size")
	}
	return nil
}

func (b *bounds) member(obj map[string]any, name string, item any, literal bool) error {
	if literal {
		return nil
	}
	switch item := item.(type) {
	case string:
		switch name {
		case "$ref":
			b.refs[item] = true
		case "$dynamicRef", "$recursiveRef":
			return fmt.Errorf("schema uses %q, which is not supported; use \"$ref\"", name)
		case "$id", "id":
			b.ids++
			if b.ids > maxIDs {
				return fmt.Errorf("schema has more than %d identifiers (%q)", maxIDs, name)
			}
		}
	case json.Number:
		if keywords[name].value == countForm {
			obj[name] = clampCount(item)
		}
	}
	return nil
}

func clampCount(n json.Number) json.Number {
	r, ok := new(big.Rat).SetString(string(n))
	limit, _ := new(big.Rat).SetString(maxCount)
	if ok && r.Cmp(limit) > 0 {
		return maxCount
	}
	return n
}
