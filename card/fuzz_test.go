package card_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-mcp/parley/card"
)

// Whatever is read can be written, says the same when it is read again, and has the same
// problems. A card without problems can be read.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		doc, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		problems := card.Lint(doc)
		c, err := card.Parse(doc)
		if err != nil {
			if len(problems) == 0 {
				t.Errorf("there is no problem with a card that cannot be read: %v", err)
			}
			return
		}
		for i := range c.Remotes {
			_, _, _ = c.Remotes[i].Resolve(map[string]string{"region": "eu"}) // must return
		}
		once, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := card.Parse(once)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, once)
		}
		if twice, err := json.Marshal(again); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("the card changes from\n%s to\n%s (%v)", once, twice, err)
		}
		if a, b := len(problems), len(card.Lint(once)); a != b {
			t.Errorf("the card has %d problems, and %d when it was written again", a, b)
		}
	})
}

// Catalogues, likewise.
func FuzzParseCatalog(f *testing.F) {
	f.Add([]byte(`{"specVersion":"1.0","entries":[{"identifier":"urn:air:example.com:mcp:weather","type":"application/mcp-server-card+json","url":"https://example.com/mcp/server-card"}]}`))
	f.Add([]byte(`{"specVersion":"1.7","host":{"displayName":"E"},"entries":[{"identifier":"a","type":"application/ai-catalog+json","data":{"specVersion":"1.0","entries":[]}}],"extensions":{"com.example.a":1},"signature":"x"}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		problems := card.LintCatalog(doc)
		c, err := card.ParseCatalog(doc)
		if err != nil {
			if len(problems) == 0 {
				t.Errorf("there is no problem with a catalogue that cannot be read: %v", err)
			}
			return
		}
		once, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := card.ParseCatalog(once); err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, once)
		}
	})
}
