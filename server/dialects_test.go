package server

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// The package documentation lists the dialects that schemas may have, and all of
// them work.
//
// Spec: 2026-07-28 basic#schema-dialect.
func TestDocumentedDialects(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`(?m)^//   - (http\S+)$`).FindAllSubmatch(doc, -1)
	if len(listed) != 5 {
		t.Fatalf("the package documentation lists %d dialects, want 5", len(listed))
	}
	s, _ := newServer(Options{})
	add := func(dialect string) error {
		schema := json.RawMessage(fmt.Sprintf(`{"$schema":%q,"type":"object"}`, dialect))
		return s.TryAddRawTool(mcp.Tool{Name: "t", InputSchema: schema}, rawNothing)
	}
	for _, dialect := range listed {
		if err := add(string(dialect[1])); err != nil {
			t.Errorf("%s is documented: %v", dialect[1], err)
		}
	}
	if err := add("http://json-schema.org/draft-03/schema#"); err == nil || !strings.Contains(err.Error(), "draft-03") || !strings.Contains(err.Error(), "supported are") {
		t.Errorf("a dialect that is not supported: %v", err)
	}
}
