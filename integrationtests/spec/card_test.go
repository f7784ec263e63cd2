package spec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/internal/check/specdir"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// cardFolder returns the published specification of server cards.
func cardFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(specdir.Of(t), "extensions", "server-card")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the specification that is here has no server cards")
	}
	return dir
}

// officialCards compiles the published schema, with formats.
func officialCards(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cardFolder(t), "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("cards.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("cards.json#/$defs/ServerCard")
}

func officiallyValid(t *testing.T, s *jsonschema.Schema, doc []byte) bool {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v) == nil
}

// isRefused reports whether Lint finds more than advice.
func isRefused(doc []byte) bool {
	return slices.ContainsFunc(card.Lint(doc), func(p card.Problem) bool { return !p.Advice })
}

func cardsIn(t *testing.T, patterns ...string) map[string][]byte {
	t.Helper()
	docs := map[string][]byte{}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("there are no cards at %s: %v", pattern, err)
		}
		for _, path := range paths {
			doc, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			docs[filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))] = doc
		}
	}
	return docs
}

// Lint judges the published examples, and the cards of this repository, as the published
// schema does.
func TestServerCardExamples(t *testing.T) {
	s := officialCards(t)
	docs := cardsIn(t, filepath.Join(cardFolder(t), "examples", "ServerCard", "*", "*.json"), filepath.FromSlash("../../card/testdata/*/*.json"))
	for name, doc := range docs {
		valid := strings.HasPrefix(name, "valid")
		if got := officiallyValid(t, s, doc); got != valid {
			t.Errorf("%s: the published schema says valid: %t", name, got)
		}
		if isRefused(doc) == valid {
			t.Errorf("%s: Lint says %v", name, card.Lint(doc))
		}
	}
}

// Lint refuses what the published schema refuses, whatever member is spoilt, and accepts
// whatever it accepts, except for what breaks a rule that the schema does not express.
func TestServerCardsAreJudgedAsPublished(t *testing.T) {
	s := officialCards(t)
	for name, doc := range cardsIn(t, filepath.FromSlash("../../card/testdata/valid/*.json")) {
		var tree any
		if err := json.Unmarshal(doc, &tree); err != nil {
			t.Fatal(err)
		}
		n := 0
		spoil(tree, func(value any) { tree = value }, name, func(what string) {
			n++
			changed, err := json.Marshal(tree)
			if err != nil {
				t.Fatal(err)
			}
			valid, refused := officiallyValid(t, s, changed), isRefused(changed)
			if !valid && !refused {
				t.Errorf("%s: the published schema refuses it, and Lint does not", what)
			}
			if valid && refused && !slices.ContainsFunc(card.Lint(changed), beyondSchema) {
				t.Errorf("%s: the published schema accepts it; Lint says %v", what, card.Lint(changed))
			}
		})
		if n < 50 {
			t.Errorf("%s: only %d ways to spoil it", name, n)
		}
	}
}

// beyondSchema knows the rules that the schema does not express.
func beyondSchema(p card.Problem) bool {
	return slices.ContainsFunc([]string{"placeholder", "no http or https URL", "has no scheme", "no MIME type", "not a MIME type", "size ", "no name of a header", "src", "is no URL", "is a range", "secret"}, func(s string) bool {
		return strings.Contains(p.Text, s)
	})
}

// spoil replaces each value of a tree in turn by others, removes each member, and adds
// unknown ones; check sees the tree as it then is.
func spoil(value any, set func(any), at string, check func(what string)) {
	for _, other := range []any{nil, true, 7, "", "x", strings.Repeat("x", 300), []any{}, []any{1}, map[string]any{}, map[string]any{"x": 1}} {
		set(other)
		check(fmt.Sprintf("%s = %.20v", at, other))
	}
	set(value)
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member := v[name]
			spoil(member, func(x any) { v[name] = x }, at+"."+name, check)
			delete(v, name)
			check(at + " without " + name)
			v[name] = member
		}
		v["unknown"] = []any{1, "x"}
		check(at + " with an unknown member")
		delete(v, "unknown")
	case []any:
		for i, item := range v {
			spoil(item, func(x any) { v[i] = x }, fmt.Sprintf("%s[%d]", at, i), check)
		}
	}
}

// What is made from a server is valid by the published schema.
func TestServerCardsOfServersAreValid(t *testing.T) {
	s := officialCards(t)
	info := mcp.Implementation{
		Name: "weather", Title: "Weather", Version: "1.2.3", Description: "Forecasts.", WebsiteURL: "https://example.com",
		Icons: []mcp.Icon{{Src: "data:image/png;base64,iVBORw0KGgo=", Sizes: []string{"any"}, Theme: "light"}},
	}
	c, err := card.New(server.New(info, nil), &card.Options{
		Name: "com.example/weather", URL: "https://example.com/mcp",
		Headers:    []card.Header{{Name: "Authorization", Input: card.Input{Description: "Your token.", Required: true, Secret: true}}},
		Remotes:    []card.Remote{{Type: card.SSE, URL: "https://example.com/sse"}},
		Repository: &card.Repository{URL: "https://git.example.com/weather", Source: "forgejo", Subfolder: "a/b"},
		Meta:       mcp.Meta{"com.example/tier": json.RawMessage(`{"name":"free"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if !officiallyValid(t, s, doc) {
		t.Errorf("the published schema refuses %s", doc)
	}
}
