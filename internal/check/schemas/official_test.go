package schemas

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/check/specdir"
	"github.com/parley-mcp/parley/mcp"
)

func open(t testing.TB, revision string) *Schema {
	t.Helper()
	s, err := Of(revision)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOfUnknown(t *testing.T) {
	if _, err := Of("1900-01-01"); err == nil || !strings.Contains(err.Error(), Revisions()[0]) {
		t.Errorf("Of of no revision = %v; want an error that names those there are", err)
	}
}

// The revisions are those of the module.
func TestRevisions(t *testing.T) {
	var want []string
	for _, r := range mcp.Revisions() {
		want = append(want, r.String())
	}
	if got := Revisions(); !slices.Equal(got, want) {
		t.Errorf("Revisions() = %q, want %q", got, want)
	}
}

func TestParseErrors(t *testing.T) {
	for name, text := range map[string]string{
		"notjson":   `{`,
		"nodefs":    `{}`,
		"badref":    `{"$defs": {"A": {"$ref": "#/$defs/B"}}}`,
		"badunion":  `{"$defs": {"ClientRequest": {"anyOf": [{"$ref": "#/$defs/A"}]}, "A": {}}}`,
		"duplicate": `{"$defs": {}, "$defs": {}}`,
	} {
		if _, err := parse(name, []byte(text)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("parse(%q) = %v; want an error that names it", name, err)
		}
	}
}

func TestCheck(t *testing.T) {
	s := open(t, "2025-06-18")
	if s.Revision() != "2025-06-18" {
		t.Errorf("Revision() = %q", s.Revision())
	}
	tests := []struct {
		definition, value, want string // want is part of the error, "" for none
	}{
		{"CallToolResult", `{"content":[{"type":"text","text":"hi"}]}`, ""},
		{"CallToolResult", `{"content":[{"type":"text"}]}`, "text"},
		{"CallToolResult", `{}`, "content"},
		{"CallToolResult", `{"content":[],"content":[]}`, "duplicate"},
		{"CallToolResult", `{"content":[]} x`, "more data"},
		{"CallToolResult", "{\"content\":[],\"_meta\":{\"k\":\"\xff\"}}", "UTF-8"},
		{"NoSuchThing", `{}`, `"NoSuchThing"`},
		{"Root", `{"uri":"file:///a"}`, ""},
		{"Root", `{"uri":"not a uri"}`, "uri"},
		{"ResourceTemplate", `{"name":"t","uriTemplate":"file:///{path}"}`, ""},
		{"ResourceTemplate", `{"name":"t","uriTemplate":"notes://{day}/all"}`, ""},
		{"ResourceTemplate", `{"name":"t","uriTemplate":"file:///{path"}`, "URI template"},
		{"ImageContent", `{"type":"image","mimeType":"image/png","data":"AAAA"}`, ""},
		{"ImageContent", `{"type":"image","mimeType":"image/png","data":"A"}`, "base64"},
		{"RequestId", `9007199254740993`, ""},
		{"RequestId", `1.5`, "must be an integer or a string, not a number"},
		{"RequestId", `null`, "not null"},
	}
	for _, tt := range tests {
		expect(t, problem(s.CheckIn(tt.definition, []byte(tt.value))), tt.want, tt.definition+" "+tt.value)
	}
}

// TestFormats makes sure that formats are checked whatever the draft.
func TestFormats(t *testing.T) {
	for _, revision := range Revisions() {
		v := open(t, revision).CheckIn("Root", []byte(`{"uri":"no uri"}`))
		expect(t, problem(v), "URI", revision)
	}
}

// problem joins violations.
func problem(all []Violation) error {
	var lines []string
	for _, v := range all {
		lines = append(lines, v.String())
	}
	if lines == nil {
		return nil
	}
	return errors.New(strings.Join(lines, "; "))
}

// expect fails the test unless err contains want, or is nil if want is "".
func expect(t *testing.T, err error, want, what string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v; want no error", what, err)
	case want != "" && err == nil:
		t.Errorf("%s: no error; want one with %q", what, want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("%s: %v; want an error with %q", what, err, want)
	}
}

// exampleExceptions lists published examples with unknown members, as
// "Definition/file.json".
var exampleExceptions = map[string]struct {
	unknown string // the only unknown path
	reason  string
}{
	"ListRootsRequest/list-roots-request.json": {
		"/id",
		"requests are embedded in results here, so their schema has no id",
	},
	"ReadResourceResultResponse/read-resource-result-response.json": {
		"/result/contents",
		"lacking ttlMs and cacheScope it is valid only as an InputRequiredResult, by accident",
	},
}

// TestExamples runs the examples that accompany the schema of 2026-07-28.
func TestExamples(t *testing.T) {
	const revision = "2026-07-28"
	s := open(t, revision)
	files, err := filepath.Glob(filepath.Join(specdir.Of(t), revision, "examples", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the specification has no examples")
	}
	for _, file := range files {
		definition := filepath.Base(filepath.Dir(file))
		name := definition + "/" + filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			err, unknown := problem(s.CheckIn(definition, data)), s.UnknownIn(definition, data)
			if err != nil {
				t.Error(err)
			}
			var want []string
			exception, ok := exampleExceptions[name]
			if ok {
				want = []string{exception.unknown}
			}
			if !slices.Equal(unknown, want) {
				t.Errorf("Unknown = %q, want %q %s", unknown, want, exception.reason)
			}
		})
	}
	t.Logf("%d examples", len(files))
	for name := range exampleExceptions {
		if !slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(filepath.ToSlash(f), name) }) {
			t.Errorf("exception %q matches no example", name)
		}
	}
}
