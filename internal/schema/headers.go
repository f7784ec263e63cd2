package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
)

// headerKeyword names the HTTP header that mirrors a parameter.
const headerKeyword = "x-mcp-header"

// headerToken is the token of RFC 9110.
var headerToken = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// HeaderBinding says that a parameter of a tool is mirrored by a header.
type HeaderBinding struct {
	// Path is the list of property names that lead from the root of the
	// arguments to the parameter; it has at least one.
	Path []string
	// Type is "string", "integer" or "boolean".
	Type string
	// Name is the header's name after "Mcp-Param-", as the schema spells it.
	Name string
}

// Headers returns the header bindings of a tool's input schema, sorted by
// path; none for a schema without x-mcp-header annotations. The error says
// which annotation breaks which rule: a server must not offer such a tool,
// and a client drops it.
//
// Spec: 2026-07-28 basic/transports/streamable-http#schema-extension.
func Headers(raw json.RawMessage) ([]HeaderBinding, error) {
	if !bytes.Contains(raw, []byte(headerKeyword)) && !bytes.Contains(raw, []byte(`\u`)) {
		return nil, nil
	}
	var root any
	if err := wire.Unmarshal(raw, &root); err != nil {
		return nil, err
	}
	w := headerWalk{taken: map[string]string{}}
	if err := w.schema(root, place{reachable: true}); err != nil {
		return nil, err
	}
	return w.found, nil
}

// MaxMirrored is the largest integer that a header may mirror; the smallest is
// -MaxMirrored. All integers between are exact in double precision.
//
// Spec: 2026-07-28 server/tools#x-mcp-header.
const MaxMirrored = 1<<53 - 1

// numberText bounds what is calculated with: a short exponent can stand for a number
// of any size.
var numberText = regexp.MustCompile(`^-?[0-9]{1,64}(?:\.[0-9]{1,64})?(?:[Ee][+-]?[0-9]{1,3})?$`)

// Mirrored returns the integer that a number in JSON or in a header stands for, and
// whether a header may mirror it: 42, 42.0 and 4.2e1 are the same.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
func Mirrored(number string) (n int64, ok bool) {
	if !numberText.MatchString(number) {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	n = r.Num().Int64()
	return n, -MaxMirrored <= n && n <= MaxMirrored
}

// headerWalk visits every schema within a schema.
type headerWalk struct {
	found []HeaderBinding
	taken map[string]string // where each header is declared, by lower-case name
}

// place is a location in a schema.
type place struct {
	at        string   // for messages
	path      []string // of properties
	reachable bool     // a chain of nothing but "properties" leads here
}

// below returns the place of a schema that a keyword holds under a name.
func (p place) below(keyword, name string) place {
	return place{
		at:        p.at + "/" + keyword + "/" + name,
		path:      append(slices.Clip(p.path), name),
		reachable: p.reachable && keyword == "properties",
	}
}

func (w *headerWalk) schema(node any, p place) error {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			if err := w.schema(item, place{at: p.at}); err != nil {
				return err
			}
		}
	case map[string]any:
		return w.object(node, p)
	}
	return nil
}

// object visits the keywords in order of their names, so that the same schema
// always gives the same error.
func (w *headerWalk) object(node map[string]any, p place) error {
	if header, ok := node[headerKeyword]; ok {
		if err := w.header(header, node["type"], p); err != nil {
			return err
		}
	}
	for _, keyword := range slices.Sorted(maps.Keys(node)) {
		if isData(keyword) || keyword == headerKeyword {
			continue
		}
		named, ok := node[keyword].(map[string]any)
		if !ok || keywords[keyword].value != namedForm {
			if err := w.schema(node[keyword], place{at: p.at + "/" + keyword}); err != nil {
				return err
			}
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			if err := w.schema(named[name], p.below(keyword, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *headerWalk) header(header, typ any, p place) error {
	name, ok := header.(string)
	switch {
	case !ok || !headerToken.MatchString(name):
		return fmt.Errorf("%s at %q: %q is not the name of a header", headerKeyword, p.at, fmt.Sprint(header))
	case !p.reachable || len(p.path) == 0:
		return fmt.Errorf("%s at %q: only properties that are reached through nothing but %q can have one", headerKeyword, p.at, "properties")
	case typ != "string" && typ != "integer" && typ != "boolean":
		return fmt.Errorf("%s at %q: the type must be string, integer or boolean", headerKeyword, p.at)
	}
	key := strings.ToLower(name)
	if other, taken := w.taken[key]; taken {
		return fmt.Errorf("%s at %q: %q is also at %q", headerKeyword, p.at, name, other)
	}
	w.taken[key] = p.at
	w.found = append(w.found, HeaderBinding{Path: p.path, Type: typ.(string), Name: name}) //nolint:forcetypeassert // compared with strings above
	return nil
}
