package naming_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/yosida95/uritemplate/v3"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

func TestResultsKeepTheirBytes(t *testing.T) {
	b := names(t, naming.Rules{Backend: "x"}).Backend("x")
	for _, c := range []struct{ method, in, want string }{
		{
			mcp.MethodCallTool, ` { "n" : 1.0e2, "content":[ {"uri":"a:1", "type":"resource_link","uri2":"a:1"},{"type":"text","text":"a:1","uri":"a:1"} ] }`,
			` { "n" : 1.0e2, "content":[ {"uri":"mcp:x:a:1", "type":"resource_link","uri2":"a:1"},{"type":"text","text":"a:1","uri":"a:1"} ] }`,
		},
		{
			mcp.MethodCallTool, `{"content":[{"type":"resource","resource":{"uri":"ui:\/\/a","text":"\u0041"}}],"structuredContent":{"uri":"a:1","content":[{"type":"resource_link","uri":"a:1"}]}}`,
			`{"content":[{"type":"resource","resource":{"uri":"ui://x/a","text":"\u0041"}}],"structuredContent":{"uri":"a:1","content":[{"type":"resource_link","uri":"a:1"}]}}`,
		},
		{mcp.MethodCallTool, `{"resultType":"task","taskId":"7","ttlMs":null}`, `{"resultType":"task","taskId":"x:7","ttlMs":null}`},
		{
			mcp.MethodCallTool, `{"task":{"taskId":"7"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"8"},"taskId":"9"}}`,
			`{"task":{"taskId":"x:7"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"x:8"},"taskId":"9"}}`,
		},
		{mcp.MethodTaskResult, `{"content":[{"type":"resource_link","uri":"a:1"}],"taskId":"7"}`, `{"content":[{"type":"resource_link","uri":"mcp:x:a:1"}],"taskId":"7"}`},
		{
			mcp.MethodGetTask, `{"taskId":"7","result":{"content":[{"type":"resource_link","uri":"a:1"}]},"inputRequests":{"q":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"resource_link","uri":"a:1"}]}]},{"content":{"type":"resource_link","uri":"a:2"}}]}},"r":{"method":"elicitation/create","params":{"messages":1}}}}`,
			`{"taskId":"x:7","result":{"content":[{"type":"resource_link","uri":"mcp:x:a:1"}]},"inputRequests":{"q":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"resource_link","uri":"mcp:x:a:1"}]}]},{"content":{"type":"resource_link","uri":"mcp:x:a:2"}}]}},"r":{"method":"elicitation/create","params":{"messages":1}}}}`,
		},
		{mcp.MethodListTasks, `{"tasks":[{"taskId":"7"}]}`, `{"tasks":[{"taskId":"x:7"}]}`},
		{
			mcp.MethodReadResource, `{"contents":[{"uri":"skill://a/SKILL.md","text":"uri"},{"uri":null},{"uri":"a:\ud83d\ude42"}]}`,
			`{"contents":[{"uri":"skill://x/a/SKILL.md","text":"uri"},{"uri":null},{"uri":"mcp:x:a:🙂"}]}`,
		},
		{mcp.MethodReadDirectory, `{"resources":[{"uri":"skill://a/b","name":"b"}]}`, `{"resources":[{"uri":"skill://x/a/b","name":"b"}]}`},
		{
			mcp.MethodGetSkill, `{"skill":{"uri":"skill://a/SKILL.md","frontmatter":{"uri":"a:1"},"resources":[{"uri":"skill://a/b"}]}}`,
			`{"skill":{"uri":"skill://x/a/SKILL.md","frontmatter":{"uri":"a:1"},"resources":[{"uri":"skill://x/a/b"}]}}`,
		},
		{mcp.MethodListSkills, `{"skills":[{"uri":"skill://a/SKILL.md","resources":"dynamic"}]}`, `{"skills":[{"uri":"skill://x/a/SKILL.md","resources":"dynamic"}]}`},
		{
			mcp.MethodGetPrompt, `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:1"}}}]}`,
			`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"mcp:x:a:1"}}}]}`,
		},
		{mcp.MethodListTools, `{"tools":[{"name":"t"}],"nextCursor":"t"}`, `{"tools":[{"name":"x__t"}],"nextCursor":"t"}`},
		{mcp.MethodListPrompts, `{"prompts":[{"name":"t","arguments":[{"name":"t"}]}]}`, `{"prompts":[{"name":"x__t","arguments":[{"name":"t"}]}]}`},
		{mcp.MethodListTemplates, `{"resourceTemplates":[{"uriTemplate":"a:{b}","name":"n"}]}`, `{"resourceTemplates":[{"uriTemplate":"mcp:x:a:{b}","name":"n"}]}`},
		{mcp.MethodComplete, `{"completion":{"values":["a:1"]}}`, `{"completion":{"values":["a:1"]}}`},
		{"vendor/method", `{"uri":"a:1"}`, `{"uri":"a:1"}`},
		{mcp.MethodCallTool, ``, ``},
		{mcp.MethodCallTool, `[]`, `[]`},
	} {
		if got := string(b.Result(c.method, []byte(c.in))); got != c.want {
			t.Errorf("%s: %s\nbecomes %s\nwant    %s", c.method, c.in, got, c.want)
		}
	}
}

func TestNotesAndQuestions(t *testing.T) {
	b := names(t, naming.Rules{Backend: "x"}).Backend("x")
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	same("updated", string(b.Note(mcp.NoteResourceUpdated, []byte(`{"uri":"a:1"}`))), `{"uri":"mcp:x:a:1"}`)
	same("task", string(b.Note(mcp.NoteTask, []byte(`{"taskId":"1","status":"working"}`))), `{"taskId":"x:1","status":"working"}`)
	same("status", string(b.Note(mcp.NoteTaskStatus, []byte(`{"taskId":"1"}`))), `{"taskId":"x:1"}`)
	same("log", string(b.Note(mcp.NoteMessage, []byte(`{"data":{"uri":"a:1"}}`))), `{"data":{"uri":"a:1"}}`)
	related := `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"x:1"}}}`
	same("elicitation", string(b.Question(mcp.MethodElicit, []byte(strings.Replace(related, "x:", "", 1)))), related)
	same("answer", string(b.Answer([]byte(related))), strings.Replace(related, "x:", "", 1))
	same("sampling", string(b.Question(mcp.MethodSample, []byte(`{"messages":[{"content":{"type":"resource","resource":{"uri":"a:1"}}}]}`))),
		`{"messages":[{"content":{"type":"resource","resource":{"uri":"mcp:x:a:1"}}}]}`)
	same("change", b.Change(mcp.Change{Kind: mcp.ResourceUpdated, URI: "a:1"}).URI, "mcp:x:a:1")
	same("change", b.Change(mcp.Change{Kind: mcp.TaskChanged, URI: "1"}).URI, "x:1")
	var absent *mcp.ResourceNotFoundError
	if !errors.As(b.Failure(&mcp.ResourceNotFoundError{URI: "a:1"}), &absent) || absent.URI != "mcp:x:a:1" {
		t.Errorf("absent: %v", absent)
	}
	var failed *jsonrpc.Error
	if !errors.As(b.Failure(&jsonrpc.Error{Code: 1, Data: []byte(`{"uri":"a:1","x":"a:1"}`)}), &failed) || string(failed.Data) != `{"uri":"mcp:x:a:1","x":"a:1"}` {
		t.Errorf("error: %v", failed)
	}
}

func TestParams(t *testing.T) {
	n := names(t, naming.Rules{Backend: "x", RenameTools: map[string]string{"t": "other"}})
	for _, c := range []struct {
		method, in, want string
		kind             mcp.FeatureKind
	}{
		{mcp.MethodCallTool, `{ "arguments":{"name":"other", "n":1.00},"name":"other" }`, `{ "arguments":{"name":"other", "n":1.00},"name":"t" }`, mcp.ToolFeature},
		{mcp.MethodCallTool, `{"name":"x__\u0061"}`, `{"name":"a"}`, mcp.ToolFeature},
		{mcp.MethodGetPrompt, `{"name":"x__p","arguments":{}}`, `{"name":"p","arguments":{}}`, mcp.PromptFeature},
		{mcp.MethodReadResource, `{"uri":"mcp:x:file:///a"}`, `{"uri":"file:///a"}`, mcp.ResourceFeature},
		{mcp.MethodSubscribe, `{"uri":"ui://x/a"}`, `{"uri":"ui://a"}`, mcp.ResourceFeature},
		{mcp.MethodComplete, `{"ref":{"type":"ref/prompt","name":"x__p","uri":"u"},"argument":{"name":"x__p"}}`, `{"ref":{"type":"ref/prompt","name":"p","uri":"u"},"argument":{"name":"x__p"}}`, mcp.PromptFeature},
		{mcp.MethodComplete, `{"ref":{"type":"ref/resource","uri":"mcp:x:a:{b}"}}`, `{"ref":{"type":"ref/resource","uri":"a:{b}"}}`, mcp.TemplateFeature},
		{mcp.MethodGetTask, `{"taskId":"x:1","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"x:2"}}}`, `{"taskId":"1","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"2"}}}`, mcp.TaskFeature},
		{mcp.MethodListTools, `{"cursor":"x"}`, `{"cursor":"x"}`, 0},
	} {
		kind, shown := naming.Subject(c.method, []byte(c.in))
		if kind != c.kind {
			t.Errorf("%s is about a feature of kind %d, want %d", c.in, kind, c.kind)
		}
		_, own, _ := n.Own(kind, shown)
		if got := string(n.Backend("x").Params(c.method, []byte(c.in), own)); got != c.want {
			t.Errorf("%s\nbecomes %s\nwant    %s", c.in, got, c.want)
		}
	}
	for _, doc := range []string{`{"ref":{"type":"ref/other","name":"x__p"}}`, `{"ref":1}`, `{}`} {
		if kind, shown := naming.Subject(mcp.MethodComplete, []byte(doc)); kind != 0 || shown != "" {
			t.Errorf("%s is about %d %q", doc, kind, shown)
		}
	}
}

func TestEntries(t *testing.T) {
	title, description := "T", "D\n"
	b := names(t, naming.Rules{
		Backend:           "x",
		OverrideTools:     map[string]naming.Override{"t": {Title: &title, Description: &description, Annotations: []byte(`{"readOnlyHint":true,"v":1.0}`)}},
		OverridePrompts:   map[string]naming.Override{"p": {Title: &title, Description: &description}},
		OverrideResources: map[string]naming.Override{"a:1": {Title: &title, Annotations: []byte(`{"priority":1}`)}, "a:{b}": {Description: &description}},
	}).Backend("x")
	for _, c := range []struct{ method, in, want string }{
		{mcp.MethodListTools, `{"name":"t","annotations":{"title":"a","readOnlyHint":false},"v":1.0}`, `{"name":"x__t","annotations":{"title":"a","readOnlyHint":true,"v":1.0},"v":1.0,"title":"T","description":"D\n"}`},
		{
			mcp.MethodListTools, `{"name":"u","_meta":{"ui":{"resourceUri":"ui://u","v":1},"ui/resourceUri":"ui://u","openai/outputTemplate":"ui://u","uri":"ui://u"}}`,
			`{"name":"x__u","_meta":{"ui":{"resourceUri":"ui://x/u","v":1},"ui/resourceUri":"ui://x/u","openai/outputTemplate":"ui://x/u","uri":"ui://u"}}`,
		},
		{mcp.MethodListTools, `{"name":"u","_meta":{"ui":{"resourceUri":"https://u"},"ui/resourceUri":1}}`, `{"name":"x__u","_meta":{"ui":{"resourceUri":"https://u"},"ui/resourceUri":1}}`},
		{mcp.MethodListPrompts, `{"name":"p","description":"a","v":1.0}`, `{"name":"x__p","description":"D\n","v":1.0,"title":"T"}`},
		{mcp.MethodListPrompts, `{"name":"t"}`, `{"name":"x__t"}`},
		{mcp.MethodListResources, `{"uri":"a:1","name":"t","annotations":{"priority":0,"audience":["user"]}}`, `{"uri":"mcp:x:a:1","name":"t","annotations":{"priority":1,"audience":["user"]},"title":"T"}`},
		{mcp.MethodListResources, `{"uri":"a:2","name":"t"}`, `{"uri":"mcp:x:a:2","name":"t"}`},
		{mcp.MethodListTemplates, `{"uriTemplate":"a:{b}","name":"p"}`, `{"uriTemplate":"mcp:x:a:{b}","name":"p","description":"D\n"}`},
		{mcp.MethodListSkills, `{"uri":"a:1","name":"t"}`, `{"uri":"mcp:x:a:1","name":"t"}`},
	} {
		got, err := b.Entry(c.method, []byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s\nbecomes %s (%v)\nwant    %s", c.in, got, err, c.want)
		}
	}
}

// Who gets a prompt is told what the lists say of it, if anything.
func TestDescribed(t *testing.T) {
	said := "D"
	b := names(t, naming.Rules{Backend: "x", OverridePrompts: map[string]naming.Override{"p": {Title: &said, Description: &said}, "q": {Title: &said}}}).Backend("x")
	for _, c := range []struct{ method, own, in, want string }{
		{mcp.MethodGetPrompt, "p", `{"description":"a","messages":[]}`, `{"description":"D","messages":[]}`},
		{mcp.MethodGetPrompt, "p", `{"messages":[]}`, `{"messages":[]}`},
		{mcp.MethodGetPrompt, "q", `{"description":"a"}`, `{"description":"a"}`},
		{mcp.MethodGetPrompt, "r", `{"description":"a"}`, `{"description":"a"}`},
		{mcp.MethodGetPrompt, "p", `{"description":"a","description":"b"}`, `{"description":"a","description":"b"}`},
		{mcp.MethodCallTool, "p", `{"description":"a"}`, `{"description":"a"}`},
	} {
		if got := string(b.Described(c.method, c.own, []byte(c.in))); got != c.want {
			t.Errorf("%s\nbecomes %s\nwant    %s", c.in, got, c.want)
		}
	}
}

func TestSubscriptionsAreSplit(t *testing.T) {
	n := names(t, naming.Rules{Backend: "a", Resources: naming.Selection{Exclude: []string{"no:*"}}}, naming.Rules{Backend: "b"})
	f := mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"mcp:a:u", "ui://b/u", "mcp:c:u", "mcp:a:no:u"}, TaskIDs: []string{"b:1"}}
	got := n.Filter(n.Backend("a"), f)
	if len(got.ResourceSubscriptions) != 1 || got.ResourceSubscriptions[0] != "u" || got.TaskIDs != nil || !got.ToolsListChanged {
		t.Errorf("a is asked for %+v", got)
	}
	back := n.Backend("b").Honoured(n.Filter(n.Backend("b"), f))
	if len(back.ResourceSubscriptions) != 1 || back.ResourceSubscriptions[0] != "ui://b/u" || back.TaskIDs[0] != "b:1" {
		t.Errorf("b has granted %+v", back)
	}
}

// What a client makes of a template that it was shown is what it would be shown for what
// the backend's own template makes.
func TestTemplatesExpandAlike(t *testing.T) {
	rules := backends()
	n := names(t, rules...)
	r := rand.New(rand.NewPCG(3, 4))
	parts := []string{"{a}", "{+a}", "{#a}", "{?a,b}", "{&b}", "{/a*}", "{;b}", "{.a:3}", "{b*}", "x", "/", "?q=1", "%20", "é", ":"}
	for range 5_000 {
		var own strings.Builder
		own.WriteString([]string{"ui://", "skill://", "file:///", "db://", "x"}[r.IntN(5)])
		for range r.IntN(8) {
			own.WriteString(parts[r.IntN(len(parts))])
		}
		values := uritemplate.Values{"a": uritemplate.String(text(r)), "b": uritemplate.List(text(r), text(r))}
		expand := func(text string) (string, bool) {
			tmpl, err := uritemplate.New(text)
			if err != nil {
				return "", false
			}
			out, err := tmpl.Expand(values)
			return out, err == nil
		}
		b := n.Backend(rules[r.IntN(len(rules))].Backend)
		expanded, ok := expand(own.String())
		if !ok {
			continue
		}
		shown := b.Shown(mcp.TemplateFeature, own.String())
		got, ok := expand(shown)
		if want := b.Shown(mcp.ResourceFeature, expanded); !ok || got != want {
			t.Fatalf("%q, shown as %q, expands to %q, want %q", own.String(), shown, got, want)
		}
	}
}

// A template that leaves the scheme to its values is still the backend's.
func TestSchemeFromATemplate(t *testing.T) {
	n := names(t, naming.Rules{Backend: "a"})
	if b, own, known := n.Own(mcp.ResourceFeature, "mcp:a:ui://x"); b == nil || own != "ui://x" || !known {
		t.Errorf("it is %q of %v", own, b)
	}
}
