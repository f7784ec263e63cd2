package parley_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestExamplesStayShort holds the programs that users meet first to the lines that
// they took when they were first written, for the API of that time: a change of the
// API that makes them longer has to be worth it. Tests count where they are the example.
func TestExamplesStayShort(t *testing.T) {
	for _, example := range []struct {
		name  string
		files []string
		most  int
	}{
		{"notes", []string{"notes/main.go", "notes/notes.go", "notes/store.go"}, 267},
		{"tests of notes", []string{"notes/main_test.go"}, 105},
		{"external-issuer", []string{"external-issuer/main.go"}, 84},
		{"agent", []string{"agent/main.go"}, 149},
		{"rest", []string{"rest/main.go", "rest/proxy.go"}, 212},
		{"everything", []string{"everything/main.go"}, 169},
	} {
		lines := 0
		for _, file := range example.files {
			text, err := os.ReadFile(filepath.Join("examples", file))
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
		}
		if lines > example.most {
			t.Errorf("%s has %d lines, more than the %d of its first version", example.name, lines, example.most)
		}
	}
}
