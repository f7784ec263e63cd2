package era

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// A member that is added to a type of the protocol goes out in every revision
// without further code: what revisions lack is cleared, and nothing is copied
// member by member. These tests fill every member of every type, shape the values
// for every revision, and check which members arrive.

// lacking says which members only some revisions have. All others must arrive in
// every revision.
var lacking = map[string]func(*revision.Facts) bool{
	"Annotations.lastModified":         func(f *revision.Facts) bool { return f.LastModified },
	"AudioContent":                     func(f *revision.Facts) bool { return f.Audio },
	"CallToolResult.structuredContent": func(f *revision.Facts) bool { return f.StructuredContent },
	"CacheFields.cacheScope":           isStateless,
	"CacheFields.ttlMs":                isStateless,
	"ClientCapabilities.elicitation":   func(f *revision.Facts) bool { return f.Elicitation },
	"ClientCapabilities.extensions":    func(f *revision.Facts) bool { return f.Extensions },
	"CreateMessageParams._meta":        isSession,
	"CreateMessageParams.toolChoice":   func(f *revision.Facts) bool { return f.SamplingTools },
	"CreateMessageParams.tools":        func(f *revision.Facts) bool { return f.SamplingTools },
	"ElicitParams._meta":               isSession,
	"ElicitParams.elicitationId":       func(f *revision.Facts) bool { return f.ElicitationID },
	"ElicitParams.mode":                func(f *revision.Facts) bool { return f.ElicitURL },
	"ElicitResult._meta":               isSession,
	"ElicitationCapability.form":       func(f *revision.Facts) bool { return f.ElicitURL },
	"ElicitationCapability.url":        func(f *revision.Facts) bool { return f.ElicitURL },
	"Implementation.description":       func(f *revision.Facts) bool { return f.ImplementationDetails },
	"Implementation.icons":             func(f *revision.Facts) bool { return f.Icons },
	"Implementation.title":             func(f *revision.Facts) bool { return f.Titles },
	"Implementation.websiteUrl":        func(f *revision.Facts) bool { return f.ImplementationDetails },
	"ListRootsResult._meta":            isSession,
	"ProgressParams.message":           func(f *revision.Facts) bool { return f.ProgressMessage },
	"Prompt.icons":                     func(f *revision.Facts) bool { return f.Icons },
	"Prompt.title":                     func(f *revision.Facts) bool { return f.Titles },
	"PromptArgument.title":             func(f *revision.Facts) bool { return f.Titles },
	"Resource.icons":                   func(f *revision.Facts) bool { return f.Icons },
	"Resource.title":                   func(f *revision.Facts) bool { return f.Titles },
	"ResourceLink":                     func(f *revision.Facts) bool { return f.ResourceLinks },
	"ResourceLink.icons":               func(f *revision.Facts) bool { return f.Icons },
	"ResourceTemplate.icons":           func(f *revision.Facts) bool { return f.Icons },
	"ResourceTemplate.title":           func(f *revision.Facts) bool { return f.Titles },
	"ResultFields.resultType":          isStateless,
	"RootsCapability.listChanged":      func(f *revision.Facts) bool { return f.RootsListChanged },
	"SamplingCapability.context":       func(f *revision.Facts) bool { return f.SamplingTools },
	"SamplingCapability.tools":         func(f *revision.Facts) bool { return f.SamplingTools },
	"ServerCapabilities.completions":   func(f *revision.Facts) bool { return f.Completions },
	"ClientCapabilities.tasks":         func(f *revision.Facts) bool { return f.Tasks },
	"ServerCapabilities.tasks":         func(f *revision.Facts) bool { return f.Tasks },
	"Task.pollIntervalMs":              isStateless, // sessions name it differently
	"Task.ttlMs":                       isStateless, // likewise
	"TaskState.error":                  isStateless,
	"TaskState.inputRequests":          isStateless,
	"TaskState.result":                 isStateless,
	"ServerCapabilities.extensions":    func(f *revision.Facts) bool { return f.Extensions },
	"Tool.execution":                   func(f *revision.Facts) bool { return f.Tasks },
	"Tool.annotations":                 func(f *revision.Facts) bool { return f.ToolAnnotations },
	"Tool.icons":                       func(f *revision.Facts) bool { return f.Icons },
	"Tool.outputSchema":                func(f *revision.Facts) bool { return f.StructuredContent },
	"Tool.title":                       func(f *revision.Facts) bool { return f.Titles },

	// _meta of the parts of a message; that of the message itself is in every revision.
	"Prompt._meta":           hasMeta,
	"Resource._meta":         hasMeta,
	"ResourceContents._meta": hasMeta,
	"ResourceTemplate._meta": hasMeta,
	"Root._meta":             hasMeta,
	"SamplingMessage._meta":  func(f *revision.Facts) bool { return f.SamplingTools },
	"Tool._meta":             hasMeta,
	"TextContent._meta":      hasMeta,
	"ImageContent._meta":     hasMeta,
	"AudioContent._meta":     hasMeta,
	"EmbeddedResource._meta": hasMeta,
}

func isStateless(f *revision.Facts) bool { return f.Stateless }

func isSession(f *revision.Facts) bool { return !f.Stateless }

func hasMeta(f *revision.Facts) bool { return f.MetaOnTypes }

// elsewhere names the types that are not shaped for a revision, and says what
// happens to them instead.
var elsewhere = map[string]string{
	"CallToolParams":      "params of clients go out as the caller made them",
	"CompleteParams":      "params of clients go out as the caller made them",
	"CompleteArgument":    "a part of CompleteParams",
	"CompletionContext":   "a part of CompleteParams, left out by the client where the revision lacks it",
	"Reference":           "a part of CompleteParams",
	"GetPromptParams":     "params of clients go out as the caller made them",
	"ListParams":          "params of clients go out as the caller made them",
	"ReadResourceParams":  "params of clients go out as the caller made them",
	"TaskParams":          "params of clients go out as the caller made them",
	"UpdateTaskParams":    "params of clients go out as the caller made them",
	"GetSkillParams":      "params of clients go out as the caller made them",
	"ReadDirectoryParams": "params of clients go out as the caller made them",
	"SkillsCapability":    "the settings of an extension, which are raw JSON in ServerCapabilities",
	"SetLevelParams":      "params of clients go out as the caller made them",
	"SubscribeParams":     "params of clients go out as the caller made them",
	"ListenParams":        "params of clients go out as the caller made them",
	"InitializeParams":    "made of Implementation and ClientCapabilities, which are shaped",
	"InitializeResult":    "made of Implementation and ServerCapabilities, which are shaped",
	"DiscoverResult":      "made of ServerCapabilities, which are shaped",
	"InputRequest":        "holds ElicitParams and CreateMessageParams, which are shaped",
	"InputRequiredResult": "made by the stateless front, the only one that has it",
	"Trace":               "is read out of _meta",
}

func TestEveryMemberTravels(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range mcp.Revisions() {
		t.Run(r.String(), func(t *testing.T) {
			f := revision.Of(r)
			for _, v := range vocabulary() {
				walk := &traveller{t: t, facts: f, seen: seen}
				walk.value("", reflect.ValueOf(v).Elem(), decoded(t, shapedFor(t, v, f)))
			}
		})
	}
	for _, name := range typesOf(t, "../../mcp") {
		if !seen[name] && elsewhere[name] == "" {
			t.Errorf("mcp.%s has JSON members and is neither sent here nor named in elsewhere", name)
		}
	}
}

// vocabulary returns a filled value of every type that is shaped.
func vocabulary() []any {
	all := []any{filled[mcp.Implementation](), filled[mcp.ServerCapabilities](), filled[mcp.ClientCapabilities]()}
	for _, m := range mcp.Methods() {
		if result := m.NewResult(); result != nil && !m.Connection {
			all = append(all, fill(result))
		}
		if params := m.NewParams(); params != nil && m.FromServer {
			all = append(all, fill(params))
		}
	}
	return append(all, filled[mcp.CancelledParams]())
}

// shapedFor shapes a value as the era does before sending it.
func shapedFor(t *testing.T, v any, f *revision.Facts) []byte {
	t.Helper()
	caps := filled[mcp.ClientCapabilities]()
	var shaped any
	switch v := v.(type) {
	case *mcp.Implementation:
		shaped = shapeImplementation(*v, f)
	case *mcp.ServerCapabilities:
		shaped = shapeServerCapabilities(*v, f)
	case *mcp.ClientCapabilities:
		shaped = shapeClientCapabilities(*v, f)
	case *mcp.ElicitParams, *mcp.CreateMessageParams:
		shaped = lowerQuestion(mcp.InputRequest{Params: v}, f, caps).Params
	case *mcp.ElicitResult, *mcp.CreateMessageResult, *mcp.ListRootsResult:
		shaped = shapeAnswer(v, f)
	default:
		shaped = shapeParams(v, f)
		if isResult(v) { // the state of a task is also what a notification carries
			by := new(naming).brief(&mcp.Implementation{Name: "n", Version: "1"})
			var err error
			if shaped, err = (form{f, by, caps}).result("", v); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, err := wire.Append(nil, shaped)
	if err != nil {
		t.Fatalf("%T: %v", v, err)
	}
	return text
}

func isResult(v any) bool {
	_, ok := reflect.TypeOf(v).Elem().FieldByName("ResultFields")
	return ok
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc
}

func filled[T any]() *T {
	v := new(T)
	fill(v)
	return v
}

// fill sets every member of what v points to, each to a different value.
func fill(v any) any {
	fillValue(reflect.ValueOf(v).Elem())
	return v
}

func fillValue(v reflect.Value) {
	switch special := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*special = json.RawMessage(`{"type":"object"}`)
		return
	case *mcp.Meta:
		*special = mcp.Meta{"com.example/k": json.RawMessage("1")}
		return
	case *mcp.SkillResources:
		special.Files = []mcp.SkillResource{*filled[mcp.SkillResource]()}
		return
	case *mcp.Contents:
		*special = everyBlock()
		return
	case *mcp.OneOrMany:
		*special = mcp.OneOrMany{filled[mcp.TextContent]()}
		return
	case *mcp.Content:
		*special = filled[mcp.TextContent]()
		return
	case *mcp.ProgressToken:
		_ = special.UnmarshalJSON([]byte("7"))
		return
	case *mcp.Empty:
		return
	}
	fillKind(v)
}

func everyBlock() mcp.Contents {
	return mcp.Contents{
		filled[mcp.TextContent](), filled[mcp.ImageContent](), filled[mcp.AudioContent](), filled[mcp.ResourceLink](),
		filled[mcp.EmbeddedResource](), filled[mcp.ToolUseContent](), &mcp.ToolResultContent{
			ToolUseID: "x", Content: mcp.Contents{filled[mcp.TextContent]()}, StructuredContent: json.RawMessage(`{}`), IsError: true,
			Meta: mcp.Meta{"com.example/k": json.RawMessage("1")},
		},
	}
}

func fillKind(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if f.IsExported() && len(f.Index) == 1 && f.Tag.Get("json") != "-" {
				fillValue(v.FieldByIndex(f.Index))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillValue(v.Index(0))
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		fillValue(element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("com.example/k").Convert(v.Type().Key()), element)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	default:
		panic("no value for " + v.Type().String())
	}
}

// traveller compares a filled value with the document that went out.
type traveller struct {
	t     *testing.T
	facts *revision.Facts
	seen  map[string]bool
}

func (w *traveller) has(name string) bool {
	has, some := lacking[name]
	return !some || has(w.facts)
}

func (w *traveller) value(path string, v reflect.Value, doc any) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if files, special := v.Interface().(mcp.SkillResources); special {
		v = reflect.ValueOf(files.Files) // its array
	}
	switch v.Kind() {
	case reflect.Struct:
		w.object(path+"/"+v.Type().Name(), v, doc)
	case reflect.Slice:
		list, isList := doc.([]any)
		for i := range v.Len() {
			if !isList || i >= len(list) {
				if _, raw := v.Interface().(json.RawMessage); !raw && v.Type().Elem().Kind() != reflect.Uint8 {
					w.value(path, v.Index(i), doc) // one that stands for many
				}
				continue
			}
			w.value(path, v.Index(i), list[i])
		}
	default: // a value without members
	}
}

func (w *traveller) object(path string, v reflect.Value, doc any) {
	name := v.Type().Name()
	w.seen[name] = true
	object, ok := doc.(map[string]any)
	if !ok {
		return // has a form of its own
	}
	if kind, isBlock := object["type"]; isBlock && v.FieldByName("Type").IsValid() {
		arrived := kind == blockType(v)
		if w.has(name) != arrived {
			w.t.Errorf("%s: arrived = %t", path, arrived)
		}
		if !arrived {
			return
		}
	}
	w.members(path, v, object)
}

func blockType(v reflect.Value) string {
	text, _ := v.FieldByName("Type").Interface().(interface{ MarshalText() ([]byte, error) }).MarshalText()
	return string(text)
}

func (w *traveller) members(path string, v reflect.Value, object map[string]any) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if len(f.Index) > 1 || !f.IsExported() || tag == "-" {
			continue
		}
		if f.Anonymous {
			w.object(path+"/"+f.Name, v.FieldByIndex(f.Index), object)
			continue
		}
		value, arrived := object[tag]
		if has := w.has(v.Type().Name() + "." + tag); has != arrived && !(tag == "blob" || tag == "text") {
			w.t.Errorf("%s.%s: arrived = %t, want %t", path, tag, arrived, has)
		}
		if arrived {
			w.value(path+"."+tag, v.FieldByIndex(f.Index), value)
		}
	}
}

// typesOf returns the names of the exported structs of a package that have JSON
// members.
func typesOf(t *testing.T, dir string) []string {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s (%v)", dir, err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() && hasJSON(spec) {
				names[spec.Name.Name] = true
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(names))
}

func hasJSON(spec *ast.TypeSpec) bool {
	s, ok := spec.Type.(*ast.StructType)
	return ok && slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
		return f.Tag != nil && strings.Contains(f.Tag.Value, "json:") && !strings.Contains(f.Tag.Value, `"-"`)
	})
}
