package official

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is the compiled schema of one protocol revision. It is immutable and
// safe for concurrent use.
type Schema struct {
	revision string
	defs     map[string]*jsonschema.Schema // by definition name
	methods  methodTable
	errors   map[string]string // error code, in decimal, to definition name

	// stateless is set for revisions without a session: servers send no
	// requests there, and results say what kind they are.
	stateless bool
}

// Open compiles the schema of one revision, such as "2025-06-18", found in the
// specification directory dir.
func Open(dir, revision string) (*Schema, error) {
	path := filepath.Join(dir, revision, "schema.json")
	data, err := os.ReadFile(path) //nolint:gosec // the caller names the folder of its schemas
	if err != nil {
		return nil, fmt.Errorf("official: opening revision %q: %w", revision, err)
	}
	doc, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("official: parsing %q: %w", path, err)
	}
	s := &Schema{revision: revision}
	if s.defs, err = compile(revision, doc); err != nil {
		return nil, fmt.Errorf("official: compiling %q: %w", path, err)
	}
	if s.methods, err = buildMethods(s.defs); err != nil {
		return nil, fmt.Errorf("official: reading the methods of %q: %w", path, err)
	}
	s.errors = errorCodes(s.defs)
	s.stateless = s.defs["ServerRequest"] == nil
	return s, nil
}

// Revision returns the protocol revision the schema belongs to.
func (s *Schema) Revision() string { return s.revision }

// Check validates one JSON value against the named definition, for example
// "CallToolResult". Formats (URIs, URI templates, base64) are checked too, and
// text that is not strict JSON, such as an object with a duplicate member, is
// an error.
func (s *Schema) Check(definition string, value []byte) error {
	v, err := decode(value)
	if err != nil {
		return fmt.Errorf("official: decoding %q: %w", definition, err)
	}
	return s.check(definition, v)
}

// check is Check for a decoded value.
func (s *Schema) check(definition string, v any) error {
	def := s.defs[definition]
	if def == nil {
		return fmt.Errorf("official: revision %s has no definition %q", s.revision, definition)
	}
	if err := def.Validate(v); err != nil {
		return fmt.Errorf("official: not a valid %q of revision %s: %w", definition, s.revision, err)
	}
	return nil
}

// has reports whether the revision has a definition of that name.
func (s *Schema) has(definition string) bool { return s.defs[definition] != nil }

// compile compiles every definition of a schema document. All of them are
// compiled at once because a compiler, unlike its product, must not be shared.
func compile(revision string, doc any) (map[string]*jsonschema.Schema, error) {
	keyword, names, err := definitionNames(doc)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat() // since draft 2019-09 formats are mere annotations
	c.RegisterFormat(&jsonschema.Format{Name: "byte", Validate: validateBase64})
	url := "mcp://" + revision + "/schema.json"
	if err := c.AddResource(url, doc); err != nil {
		return nil, err
	}
	defs := make(map[string]*jsonschema.Schema, len(names))
	for _, name := range names {
		def, err := c.Compile(url + "#/" + keyword + "/" + name)
		if err != nil {
			return nil, fmt.Errorf("definition %q: %w", name, err)
		}
		defs[name] = def
	}
	return defs, nil
}

// definitionNames returns the keyword that holds the definitions, which
// depends on the draft of JSON Schema, and the names below it.
func definitionNames(doc any) (keyword string, names []string, err error) {
	root, _ := doc.(map[string]any)
	for _, keyword := range []string{"$defs", "definitions"} {
		defs, ok := root[keyword].(map[string]any)
		if !ok {
			continue
		}
		for name := range defs {
			names = append(names, name)
		}
		return keyword, names, nil
	}
	return "", nil, fmt.Errorf("the document has neither %q nor %q", "$defs", "definitions")
}

// validateBase64 implements the format "byte", which is OpenAPI's and so not
// one the validator knows.
func validateBase64(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil // formats constrain strings only
	}
	_, err := base64.StdEncoding.Strict().DecodeString(text)
	return err
}

// decode parses JSON for the validator, which wants numbers as json.Number to
// keep their precision. The first pass is there for its strictness: it rejects
// duplicate members and invalid UTF-8.
func decode(data []byte) (any, error) {
	var strict any
	if err := json.Unmarshal(data, &strict); err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}
