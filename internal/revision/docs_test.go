package revision_test

import (
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/revision"
)

var update = flag.Bool("update", false, "write the table of docs/revisions.md")

// words say what the columns of Facts mean to somebody who writes a server or a
// client; an empty text leaves one out, because the page tells it in another way.
var words = map[string]string{
	"StreamableHTTP":        "Streamable HTTP; before, HTTP+SSE",
	"Batches":               "batches of messages",
	"Audio":                 "sound in content",
	"ToolAnnotations":       "tools say what they do: read only, destructive",
	"ProgressMessage":       "progress has a message for people",
	"Completions":           "completion is declared",
	"StructuredContent":     "structured results, output schemas",
	"Elicitation":           "forms for the user",
	"ResourceLinks":         "links to resources in results",
	"Titles":                "titles beside names",
	"MetaOnTypes":           "`_meta` on tools, resources, prompts and content",
	"LastModified":          "annotations say when a resource changed",
	"ResourceMetadata":      "authorization servers are found by the resource's metadata",
	"CompletionContext":     "completion knows the other arguments",
	"Icons":                 "icons",
	"ImplementationDetails": "a description and a website of the implementation",
	"ElicitURL":             "sending the user to a page",
	"ElicitationID":         "a notification when such a visit is over",
	"RichForms":             "forms with titled and several choices, defaults everywhere",
	"SamplingTools":         "sampling with tools",
	"Tasks":                 "tasks in the core; from 2026-07-28 on they are an extension",
	"Polling":               "a server may end the stream of a running request",
	"ErrorWithoutID":        "",
	"Stateless":             "no sessions: each request carries all that it needs",
	"AnyStructuredContent":  "structured results that are no objects",
	"RootsListChanged":      "clients tell that their roots have changed",
	"EmptyCursors":          "",
	"Extensions":            "extensions are declared",
}

// TestDocs holds the table of docs/revisions.md to the facts. -update writes it.
func TestDocs(t *testing.T) {
	const file, begin, end = "../../docs/revisions.md", "<!-- the table of internal/revision -->\n", "<!-- its end -->\n"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	have, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table", file)
	}
	want := support(t)
	if have == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not what internal/revision says; go test -run TestDocs ./internal/revision -update writes:\n%s", file, want)
	}
	if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// support is the table: a row for each fact, a column for each revision.
func support(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| |")
	for _, f := range revision.All() {
		b.WriteString(" " + f.Revision.String() + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(revision.All())) + "\n")
	for column := range reflect.TypeFor[revision.Facts]().Fields() {
		if column.Type.Kind() != reflect.Bool {
			continue
		}
		text, known := words[column.Name]
		if !known {
			t.Errorf("nothing says what %s means to readers of docs/revisions.md", column.Name)
		}
		if text == "" {
			continue
		}
		b.WriteString("| " + text + " |")
		for _, f := range revision.All() {
			b.WriteString(map[bool]string{true: " yes |", false: " |"}[reflect.ValueOf(*f).FieldByIndex(column.Index).Bool()])
		}
		b.WriteString("\n")
	}
	return b.String()
}
