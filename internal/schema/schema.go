// Package schema infers, compiles and applies JSON Schema for tool arguments,
// tool results and elicitation forms.
//
// Both the schema and the document may come from an untrusted peer, so every
// operation is bounded: schemas by size, depth and fan-out when they are
// compiled, documents by the amount of work when they are checked.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// baseURL names the schema during compilation, so that a relative reference
// resolves to something the loader can recognise.
const baseURL = "schema:///root"

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	raw    json.RawMessage
	quick  *quick // nil when the schema is not a simple one
	object bool
	fills  bool // a property may have a default
	// full compiles a plain schema when it is first called.
	full func() (*compiled, error)
}

// compiled is what the compiler made of a schema.
type compiled struct {
	root     *jsonschema.Schema
	defaults defaultIndex // nil when no property has a default
}

// Raw returns the JSON text the schema was compiled from. The caller must not
// modify it.
func (s *Schema) Raw() json.RawMessage { return s.raw }

// IsObject reports whether the "type" of the schema is "object".
func (s *Schema) IsObject() bool { return s.object }

func newSchema(raw json.RawMessage) (*Schema, error) {
	raw = bytes.Clone(raw)
	doc, err := decodeSchema(raw)
	if err != nil {
		return nil, err
	}
	p := plain{patterns: newPatterns()}
	if p.root(doc) {
		full := sync.OnceValues(func() (*compiled, error) { return compileText(raw) })
		return &Schema{raw: raw, quick: newQuick(doc, p.patterns), object: isObject(doc), fills: p.fills, full: full}, nil
	}
	c, err := compileDoc(raw, doc)
	if err != nil {
		return nil, err
	}
	full := func() (*compiled, error) { return c, nil }
	return &Schema{raw: raw, quick: newQuick(doc, p.patterns), object: isObject(doc), fills: c.defaults != nil, full: full}, nil
}

// decodeSchema returns a schema as a document for the compiler.
func decodeSchema(raw json.RawMessage) (any, error) {
	doc, err := parseSchema(raw)
	if err != nil {
		return nil, err
	}
	if err := checkDialect(doc); err != nil {
		return nil, err
	}
	return doc, checkBounds(doc)
}

func compileText(raw json.RawMessage) (*compiled, error) {
	doc, err := decodeSchema(raw)
	if err != nil {
		return nil, err
	}
	return compileDoc(raw, doc)
}

func compileDoc(raw json.RawMessage, doc any) (*compiled, error) {
	root, err := compile(doc)
	if err != nil {
		return nil, err
	}
	g := newGraph(root)
	if err := g.check(); err != nil {
		return nil, err
	}
	defaults, err := indexDefaults(raw, g)
	return &compiled{root, defaults}, err
}

func checkSize(raw json.RawMessage) error {
	if len(raw) > maxSchemaSize {
		return fmt.Errorf("schema is %d bytes, the limit is %d", len(raw), maxSchemaSize)
	}
	return nil
}

func isObject(doc any) bool {
	obj, _ := doc.(map[string]any)
	return obj["type"] == "object"
}

func parseSchema(raw json.RawMessage) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errors.New("schema is empty")
	}
	doc, err := Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("schema is not valid JSON: %w", err)
	}
	switch doc.(type) {
	case map[string]any, bool:
		return doc, nil
	}
	return nil, fmt.Errorf("schema must be an object, got %s", typeName(doc))
}

// dialects are the values of "$schema" that Compile accepts, without scheme
// and empty fragment.
var dialects = []string{
	"json-schema.org/draft/2020-12/schema",
	"json-schema.org/draft/2019-09/schema",
	"json-schema.org/draft-07/schema",
	"json-schema.org/draft-06/schema",
	"json-schema.org/draft-04/schema",
}

func checkDialect(doc any) error {
	obj, _ := doc.(map[string]any)
	v, ok := obj["$schema"]
	if !ok {
		return nil
	}
	name, ok := v.(string)
	if !ok {
		return fmt.Errorf("schema: \"$schema\" must be a string, got %s", typeName(v))
	}
	if Supported(name) {
		return nil
	}
	return fmt.Errorf("schema: unknown dialect %q in \"$schema\"; supported are draft 2020-12, 2019-09, draft-07, draft-06 and draft-04", name)
}

// Supported reports whether Compile accepts a value of "$schema".
func Supported(dialect string) bool {
	key := strings.TrimSuffix(dialect, "#")
	key = strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	return slices.Contains(dialects, key)
}

// compile runs the compiler over doc. The recover is a last resort for a fault
// in the compiler itself: a schema from a peer must never take the process
// down.
func compile(doc any) (root *jsonschema.Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("schema cannot be compiled: %v", r)
		}
	}()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	budget := maxPatternSize
	c.UseRegexpEngine(func(expr string) (jsonschema.Regexp, error) {
		return newPattern(expr, &budget)
	})
	if err := c.AddResource(baseURL, doc); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	root, err = c.Compile(baseURL)
	if err != nil {
		return nil, compileError(err)
	}
	return root, nil
}

// noLoader refuses every reference that leaves the schema.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, &externalRefError{strings.TrimPrefix(url, "schema:///")}
}

type externalRefError struct{ url string }

func (e *externalRefError) Error() string {
	return fmt.Sprintf("schema refers to %q, which is outside the schema; only references within it (\"#/...\") are followed", e.url)
}

// compileError unwraps an error of this package from the compiler's wrapping,
// and removes the internal base URL.
func compileError(err error) error {
	var load *jsonschema.LoadURLError
	if errors.As(err, &load) {
		return load.Err
	}
	var re *jsonschema.InvalidRegexError
	if errors.As(err, &re) {
		return fmt.Errorf("schema: pattern %q at %q: %w", re.Regex, strings.TrimPrefix(re.URL, baseURL), re.Err)
	}
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		return invalidSchema(invalid)
	}
	return fmt.Errorf("schema: %s", strings.ReplaceAll(err.Error(), baseURL, ""))
}

// invalidSchema picks the innermost error: the outer ones only say that the
// schema does not satisfy the meta-schema. The error is ErrPattern if a regular
// expression is all that was found.
func invalidSchema(invalid *jsonschema.SchemaValidationError) error {
	var ve *jsonschema.ValidationError
	if !errors.As(invalid.Err, &ve) {
		return fmt.Errorf("schema is invalid: %w", invalid.Err)
	}
	for len(ve.Causes) > 0 {
		ve = deepest(ve.Causes)
	}
	var at strings.Builder
	at.WriteString("#")
	for _, tok := range ve.InstanceLocation {
		at.WriteString("/" + tok)
	}
	err := fmt.Errorf("schema is invalid: at %q: %s", at.String(), ve.DetailedOutput().Error)
	if format, ok := ve.ErrorKind.(*kind.Format); ok && errors.Is(format.Err, ErrPattern) {
		return &patternError{err}
	}
	return err
}

// patternError is an error that is ErrPattern, too.
type patternError struct{ error }

func (*patternError) Is(target error) bool { return target == ErrPattern }

func deepest(causes []*jsonschema.ValidationError) *jsonschema.ValidationError {
	best := causes[0]
	for _, c := range causes[1:] {
		if len(c.InstanceLocation) > len(best.InstanceLocation) {
			best = c
		}
	}
	return best
}
