package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
)

// compileInput compiles a tool's input schema and checks what the protocol
// asks of it beyond JSON Schema.
//
// Spec: 2026-07-28 server/tools#tool.
func compileInput(raw json.RawMessage) (*schema.Schema, error) {
	var root struct {
		Type json.RawMessage `json:"type"`
	}
	if raw == nil {
		return nil, errors.New("no input schema")
	}
	if err := wire.Unmarshal(raw, &root); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	if string(root.Type) != `"object"` {
		return nil, errors.New(`input schema: "type" must be "object"`)
	}
	if err := checkHeaders(raw); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	return s, nil
}

// compileOutput compiles a tool's output schema.
func compileOutput(raw json.RawMessage) (*schema.Schema, error) {
	if !isObject(raw) {
		return nil, errors.New("output schema: not a JSON object")
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	return s, nil
}

// isObject reports whether raw, which is valid JSON, is an object.
func isObject(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{'
}

// headerKeyword names the HTTP header that mirrors a parameter.
const headerKeyword = "x-mcp-header"

// headerToken is the token of RFC 9110.
var headerToken = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// Keywords whose value maps names to schemas, and keywords whose value is data.
var (
	schemaMaps = map[string]bool{
		"properties": true, "patternProperties": true, "dependentSchemas": true,
		"$defs": true, "definitions": true, "dependencies": true,
	}
	schemaData = map[string]bool{"enum": true, "const": true, "default": true, "examples": true}
)

// checkHeaders checks the x-mcp-header annotations of a schema. Clients drop a
// tool that breaks these rules, so a server must not offer one.
//
// Spec: 2026-07-28 server/tools#x-mcp-header.
func checkHeaders(raw json.RawMessage) error {
	if !bytes.Contains(raw, []byte(headerKeyword)) && !bytes.Contains(raw, []byte(`\u`)) {
		return nil
	}
	var root any
	if err := wire.Unmarshal(raw, &root); err != nil {
		return err
	}
	w := headerWalk{taken: map[string]string{}}
	return w.schema(root, "", true)
}

// headerWalk visits every schema within a schema.
type headerWalk struct {
	taken map[string]string // where each header is, by its lower-case name
}

// schema visits one; reachable says that a chain of "properties" leads to it.
func (w *headerWalk) schema(node any, at string, reachable bool) error {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			if err := w.schema(item, at, false); err != nil {
				return err
			}
		}
	case map[string]any:
		return w.object(node, at, reachable)
	}
	return nil
}

func (w *headerWalk) object(node map[string]any, at string, reachable bool) error {
	if header, ok := node[headerKeyword]; ok {
		if err := w.header(header, node["type"], at, reachable); err != nil {
			return err
		}
	}
	for keyword, value := range node {
		if schemaData[keyword] || keyword == headerKeyword {
			continue
		}
		named, ok := value.(map[string]any)
		if !ok || !schemaMaps[keyword] {
			if err := w.schema(value, at+"/"+keyword, false); err != nil {
				return err
			}
			continue
		}
		for name, sub := range named {
			if err := w.schema(sub, at+"/"+keyword+"/"+name, reachable && keyword == "properties"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *headerWalk) header(header, typ any, at string, reachable bool) error {
	name, ok := header.(string)
	switch {
	case !ok || !headerToken.MatchString(name):
		return fmt.Errorf("%s at %q: %v is not the name of a header", headerKeyword, at, header)
	case !reachable || at == "":
		return fmt.Errorf("%s at %q: only properties that are reached through nothing but %q can have one", headerKeyword, at, "properties")
	case typ != "string" && typ != "integer" && typ != "boolean":
		return fmt.Errorf("%s at %q: the type must be string, integer or boolean", headerKeyword, at)
	}
	key := strings.ToLower(name)
	if other, taken := w.taken[key]; taken {
		return fmt.Errorf("%s at %q: %q is also at %q", headerKeyword, max(at, other), name, min(at, other))
	}
	w.taken[key] = at
	return nil
}
