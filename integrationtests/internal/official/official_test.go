package official

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// specDir returns the specification directory and skips the test without one.
func specDir(t testing.TB) string {
	t.Helper()
	dir, ok := Find()
	if !ok {
		t.Skip("the specification is not available; set " + dirEnv + " to its directory")
	}
	return dir
}

func open(t testing.TB, revision string) *Schema {
	t.Helper()
	s, err := Open(specDir(t), revision)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	spec := filepath.Join(root, "shared", "spec")
	inner := filepath.Join(root, "repo", "internal", "deep")
	for _, dir := range []string{spec, inner} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "repo", "go.mod"), []byte("module m\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(dirEnv, "")
	t.Chdir(inner)
	if got, ok := Find(); !ok || !sameFile(t, got, spec) {
		t.Errorf("Find() = %q, %v; want %q", got, ok, spec)
	}
	other := t.TempDir()
	t.Setenv(dirEnv, other)
	if got, ok := Find(); !ok || got != other {
		t.Errorf("Find() with %s set = %q, %v; want %q", dirEnv, got, ok, other)
	}
	t.Setenv(dirEnv, filepath.Join(other, "absent"))
	if got, ok := Find(); ok {
		t.Errorf("Find() with %s naming no directory = %q, true; want false", dirEnv, got)
	}
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"notjson":   `{`,
		"nodefs":    `{}`,
		"badref":    `{"$defs": {"A": {"$ref": "#/$defs/B"}}}`,
		"badunion":  `{"$defs": {"ClientRequest": {"anyOf": [{"$ref": "#/$defs/A"}]}, "A": {}}}`,
		"duplicate": `{"$defs": {}, "$defs": {}}`,
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "schema.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Open(%q) = %v; want an error that names it", name, err)
		}
	}
	if _, err := Open(dir, "absent"); err == nil || !strings.Contains(err.Error(), `"absent"`) {
		t.Errorf("Open(%q) = %v; want an error that names it", "absent", err)
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
		{"CallToolResult", `{"content":[]} x`, "decoding"},
		{"CallToolResult", "{\"content\":[],\"_meta\":{\"k\":\"\xff\"}}", "UTF-8"},
		{"NoSuchThing", `{}`, `"NoSuchThing"`},
		{"Root", `{"uri":"file:///a"}`, ""},
		{"Root", `{"uri":"not a uri"}`, "uri"},
		{"ResourceTemplate", `{"name":"t","uriTemplate":"file:///{path}"}`, ""},
		{"ResourceTemplate", `{"name":"t","uriTemplate":"file:///{path"}`, "uri-template"},
		{"ImageContent", `{"type":"image","mimeType":"image/png","data":"AAAA"}`, ""},
		{"ImageContent", `{"type":"image","mimeType":"image/png","data":"A"}`, "byte"},
		{"RequestId", `9007199254740993`, ""},
		{"RequestId", `1.5`, "RequestId"},
		{"RequestId", `null`, "RequestId"},
	}
	for _, tt := range tests {
		expect(t, s.Check(tt.definition, []byte(tt.value)), tt.want, tt.definition+" "+tt.value)
	}
}

// TestFormats makes sure that formats are checked whatever the draft.
func TestFormats(t *testing.T) {
	for _, revision := range Revisions() {
		err := open(t, revision).Check("Root", []byte(`{"uri":"no uri"}`))
		expect(t, err, "uri", revision)
	}
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
		"$.id",
		"requests are embedded in results here, so their schema has no id",
	},
	"ReadResourceResultResponse/read-resource-result-response.json": {
		"$.result.contents",
		"lacking ttlMs and cacheScope it is valid only as an InputRequiredResult, by accident",
	},
}

// TestExamples runs the examples that accompany the schema of 2026-07-28.
func TestExamples(t *testing.T) {
	const revision = "2026-07-28"
	s := open(t, revision)
	files, err := filepath.Glob(filepath.Join(specDir(t), revision, "examples", "*", "*.json"))
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
			err, unknown := s.Check(definition, data), s.Unknown(definition, data)
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
