// Package schemas judges messages by the JSON schemas that are published with
// each revision of the protocol. They are embedded, reduced to their structure.
//
// [Schema.Check] says where a message breaks them. The published schemas leave
// every object open, so [Schema.Unknown] lists the members that a revision does
// not mention, which is no violation: peers may be newer, or have extensions. A
// [Recorder] is stricter: it is for our own tests, where what a revision does
// not have must not be sent.
package schemas

import (
	"embed"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/yosida95/uritemplate/v3"

	"github.com/parley-mcp/parley/internal/schema"
)

// data has a file for each revision, one line for each definition. The test
// TestReduced makes the files, and compares them with the published ones.
//
//go:embed data
var data embed.FS

// Schema is the schema of one revision. It is immutable and safe for concurrent
// use.
type Schema struct {
	revision string
	defs     map[string]*jsonschema.Schema // by definition name
	methods  methodTable
	errors   map[string]string // error code, in decimal, to definition name

	// stateless is set for revisions without a session: servers send no
	// requests there, and results say what kind they are.
	stateless bool
}

// all compiles the schema of each revision when it is first asked for.
var all = sync.OnceValue(func() map[string]func() (*Schema, error) {
	m := map[string]func() (*Schema, error){}
	files, err := data.ReadDir("data")
	if err != nil {
		panic("schemas: " + err.Error()) // a test reads them
	}
	for _, f := range files {
		revision := strings.TrimSuffix(f.Name(), ".json")
		m[revision] = sync.OnceValues(func() (*Schema, error) {
			text, err := data.ReadFile("data/" + revision + ".json")
			if err != nil {
				return nil, err
			}
			return parse(revision, text)
		})
	}
	return m
})

// Revisions returns the revisions that there are schemas of, oldest first.
func Revisions() []string {
	var names []string
	for name := range all() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Of returns the schema of a revision. It is compiled once in a process, when
// it is first asked for.
func Of(revision string) (*Schema, error) {
	compiled, ok := all()[revision]
	if !ok {
		return nil, fmt.Errorf("there is no schema of revision %q; there are those of %s", revision, strings.Join(Revisions(), ", "))
	}
	return compiled()
}

// parse compiles the schema of one revision.
func parse(revision string, text []byte) (*Schema, error) {
	doc, err := schema.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", revision, err)
	}
	s := &Schema{revision: revision}
	if s.defs, err = compile(revision, doc); err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", revision, err)
	}
	if s.methods, err = buildMethods(s.defs); err != nil {
		return nil, fmt.Errorf("the methods of %s: %w", revision, err)
	}
	s.errors = errorCodes(s.defs)
	s.stateless = s.defs["ServerRequest"] == nil
	return s, nil
}

// Revision returns the protocol revision the schema belongs to.
func (s *Schema) Revision() string { return s.revision }

// Has reports whether the revision lists a method, a request or a notification,
// among those that servers, or clients, send. Extensions have others.
func (s *Schema) Has(method string, fromServer bool) bool {
	at := route{method, direction(!fromServer)}
	return s.methods.requests[at] != "" || s.methods.notifications[at] != ""
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
	c.RegisterFormat(&jsonschema.Format{Name: "uri-template", Validate: validateTemplate})
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

// validateTemplate takes the place of the validator's own check, which refuses
// expressions in place of a host.
func validateTemplate(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil // formats constrain strings only
	}
	_, err := uritemplate.New(text)
	return err
}
