package parley_test

import (
	"cmp"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// needed are what has an example of its own in each public package, as Go names examples;
// "package" is that of the package itself. They are what a program begins with, and what
// is not understood from its signature.
var needed = map[string]string{
	"apps":       "App_Check OfTool ResourceUI_Policy",
	"auth":       "package AnyOf Guard Guard_Require NewIntrospection NewJWT",
	"auth/oauth": "ClientCredentials Client_Transport Loopback NewFileStore Paste Secret",
	"card":       "package Lint",
	"client": "Call Client_CallTool Client_GetPrompt Client_HoldSkill Client_Listen Client_ReadApp Client_ReadResource Client_StartTask " +
		"Client_Tools Client_Use Connect NewCache Options",
	"client/host":           "package ApproveFunc Host_Servers Options ParseConfig",
	"client/host/anthropic": "Message_Calls Tools",
	"client/host/openai":    "package Calls ChatMessage_Calls ChatTools Tools",
	"client/otelmcp":        "Middleware",
	"jsonrpc":               "package Decoder_Decode Errorf ParseID",
	"mcp":                   "Contents DecodeContent Handler ParseRevision ToolError",
	"mcptest":               "Caller NewCall Recorder Site Skip Transport",
	"mcptest/check":         "Server",
	"server": "AddPrompt AddTemplate AddTool AddTool_errors Call_Ask Call_Progress Call_StartJob Call_StartTask Elicit ElicitURL Handle Once " +
		"Options_visible Resumable Roots SampleText Server_AddApp Server_AddRawPrompt Server_AddRawTool Server_AddResource Server_AddSkills " +
		"Server_Close Server_CompleteTemplate Server_OnSession Server_ResourceUpdated Server_Use SessionState Step TryAddTool " +
		"TryAddTool_misspeltTag Visit_Require",
	"server/otelmcp":       "Middleware",
	"server/taskstore":     "package Store",
	"transport/frames":     "package InProcess",
	"transport/httpserver": "Serve ServeOn",
	"transport/sse":        "package",
	"transport/stdio":      "Command ServeOn",
	"transport/streamable": "package",
}

// TestExamplesAreTheUsers checks that users could have written the examples: those
// of the documentation stand in external test packages and are run, and neither
// they nor the programs below examples/ import anything internal. None that is needed may
// be missing.
func TestExamplesAreTheUsers(t *testing.T) {
	there := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipNoExamples(path, d.Name())
		}
		if filepath.Ext(path) == ".go" {
			for _, name := range checkExamples(t, path) {
				there[filepath.ToSlash(filepath.Dir(path))+" "+name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, names := range needed {
		for name := range strings.FieldsSeq(names) {
			if !there[folder+" "+name] {
				t.Errorf("%s has no example of %s", folder, strings.ReplaceAll(name, "_", "."))
			}
		}
	}
}

// skipNoExamples skips folders that users of the module see nothing of. Those of
// examples/ count, also where they are modules of their own.
func skipNoExamples(path, name string) error {
	hidden := slices.ContainsFunc(private, func(p string) bool { return covers(p, path) && p != "examples" })
	if hidden || name == "internal" || name == "testdata" || path != "." && strings.HasPrefix(name, ".") {
		return filepath.SkipDir
	}
	return nil
}

// checkExamples checks one file, and returns what it has examples of.
func checkExamples(t *testing.T, path string) []string {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	examples := doc.Examples(file)
	if len(examples) == 0 && !covers("examples", filepath.ToSlash(path)) {
		return nil
	}
	for _, name := range imports(file) {
		if isInternal(name) {
			t.Errorf("%s imports %s, which users cannot", path, name)
		}
	}
	var of []string
	for _, e := range examples {
		of = append(of, cmp.Or(e.Name, "package"))
		if e.Output == "" && !e.EmptyOutput {
			t.Errorf("%s: Example%s has no output, so that it is not run", path, e.Name)
		}
		if !strings.HasSuffix(file.Name.Name, "_test") {
			t.Errorf("%s: Example%s belongs in package %s_test: users see it from outside", path, e.Name, file.Name.Name)
		}
	}
	return of
}

func imports(file *ast.File) []string {
	var names []string
	for _, spec := range file.Imports {
		names = append(names, strings.Trim(spec.Path.Value, `"`))
	}
	return names
}
