package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// badParts are members that must not be sent, with the words of their errors.
var badParts = []struct {
	name string
	icon *mcp.Icon
	note *mcp.Annotations
	meta mcp.Meta
	want string
}{
	{name: "scheme", icon: &mcp.Icon{Src: "javascript:alert(1)"}, want: "icons[0]: src"},
	{name: "file", icon: &mcp.Icon{Src: "file:///etc/passwd"}, want: "icons[0]: src"},
	{name: "sizes", icon: &mcp.Icon{Src: "https://example.com/a.png", Sizes: []string{"big"}}, want: `size "big"`},
	{name: "theme", icon: &mcp.Icon{Src: "https://example.com/a.png", Theme: "pink"}, want: `theme "pink"`},
	{name: "audience", note: &mcp.Annotations{Audience: []mcp.Role{"martian"}}, want: `audience "martian"`},
	{name: "priority", note: &mcp.Annotations{Priority: new(7.5)}, want: "priority 7.5"},
	{name: "lastModified", note: &mcp.Annotations{LastModified: "yesterday"}, want: `lastModified "yesterday"`},
	{name: "key", meta: mcp.Meta{"bad key !": nil}, want: `"bad key !" is not valid`},
	{name: "reserved key", meta: mcp.Meta{"io.modelcontextprotocol/foo": nil}, want: "reserved"},
}

func icons(icon *mcp.Icon) []mcp.Icon {
	if icon == nil {
		return nil
	}
	return []mcp.Icon{*icon}
}

// Spec: 2026-07-28 basic#icons.
// Spec: 2026-07-28 server/resources#annotations.
// Spec: 2026-07-28 basic#meta.
func TestDescriptionsThatMustNotBeSent(t *testing.T) {
	refused := func(t *testing.T, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	for _, c := range badParts {
		t.Run(c.name, func(t *testing.T) {
			s, _ := newServer(Options{})
			if c.note == nil {
				tool := mcp.Tool{Name: "t", InputSchema: object, Icons: icons(c.icon), Meta: c.meta}
				refused(t, s.TryAddRawTool(tool, rawNothing), `tool "t": `)
				refused(t, s.TryAddRawTool(tool, rawNothing), c.want)
				prompt := mcp.Prompt{Name: "p", Icons: icons(c.icon), Meta: c.meta}
				refused(t, s.TryAddRawPrompt(prompt, promptNothing), `prompt "p": `)
				refused(t, s.TryAddRawPrompt(prompt, promptNothing), c.want)
			}
			resource := mcp.Resource{URI: "test://a", Name: "r", Icons: icons(c.icon), Annotations: c.note, Meta: c.meta}
			refused(t, s.TryAddResource(resource, readNothing), `resource "test://a": `)
			refused(t, s.TryAddResource(resource, readNothing), c.want)
			template := mcp.ResourceTemplate{URITemplate: "test://{a}", Name: "r", Icons: icons(c.icon), Annotations: c.note, Meta: c.meta}
			refused(t, addTemplate(s, template), `template "test://{a}": `)
			refused(t, addTemplate(s, template), c.want)
			if got := serve(t, s, mcp.MethodListTools, ""); !strings.Contains(got, "not found") {
				t.Errorf("a tool that was refused is listed: %s", got)
			}
		})
	}
	s, _ := newServer(Options{})
	refused(t, s.TryAddResource(mcp.Resource{URI: "test://a", Name: "r", MIMEType: "text"}, readNothing), `mimeType "text"`)
	refused(t, addTemplate(s, mcp.ResourceTemplate{URITemplate: "test://{a}", Name: "r", MIMEType: "text"}), `mimeType "text"`)
	refused(t, s.TryAddResource(mcp.Resource{URI: "test://ä", Name: "r"}, readNothing), `percent-encoded, as "%C3%A4"`)
}

func rawNothing(context.Context, *Call, json.RawMessage) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{}, nil
}

func promptNothing(context.Context, *Call, map[string]string) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{}, nil
}

func readNothing(context.Context, *Call, string) (*mcp.ReadResourceResult, error) {
	return Contents(), nil
}

func addTemplate(s *Server, t mcp.ResourceTemplate) error {
	return TryAddTemplate(s, t, func(context.Context, *Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
		return Contents(), nil
	})
}

// Spec: 2026-07-28 basic#icons.
func TestIconsOfTheServer(t *testing.T) {
	for want, info := range map[string]mcp.Implementation{
		"Implementation.Icons: icons[0]: src": {Name: "s", Version: "1", Icons: []mcp.Icon{{Src: "javascript:alert(1)"}}},
		"Implementation.WebsiteURL: uri":      {Name: "s", Version: "1", WebsiteURL: "our site"},
	} {
		if got := mustPanic(t, func() { New(info, nil) }); !strings.Contains(got, want) {
			t.Errorf("got panic %q, want %q", got, want)
		}
	}
}

// Official extensions have keys with the protocol's prefix.
//
// Spec: 2026-07-28 basic#meta.
func TestKeysOfDeclaredExtensions(t *testing.T) {
	s, _ := newServer(Options{Extensions: map[string]any{"io.modelcontextprotocol/tasks": nil}})
	s.AddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`), Meta: mcp.Meta{"io.modelcontextprotocol/related-task": json.RawMessage("1")}},
		func(_ context.Context, c *Call, _ json.RawMessage) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, c.SetResultMeta("io.modelcontextprotocol/related-task", 1)
		})
	same(t, call(t, s, "t", "{}"), `{"_meta":{"io.modelcontextprotocol/related-task":1},"content":[]}`)
}

// badBlocks are blocks that must not be sent, with the words of their errors.
var badBlocks = map[string]struct {
	block mcp.Content
	want  string
}{
	"no MIME type":        {&mcp.ImageContent{Data: []byte{1}}, `mimeType ""`},
	"no MIME type of one": {&mcp.AudioContent{Data: []byte{1}, MIMEType: "loud"}, `mimeType "loud"`},
	"link":                {&mcp.ResourceLink{URI: "not a uri", Name: "a"}, `uri "not a uri" has no scheme`},
	"link beyond ASCII":   {&mcp.ResourceLink{URI: "note:ä", Name: "a"}, "percent-encoded"},
	"icon of a link":      {&mcp.ResourceLink{URI: "test://a", Name: "a", Icons: []mcp.Icon{{Src: "ftp://example.com/a"}}}, "icons[0]: src"},
	"embedded nothing":    {&mcp.EmbeddedResource{}, "resource: it is nil"},
	"embedded URI":        {&mcp.EmbeddedResource{Resource: mcp.TextResource("not a uri", "text/plain", "")}, "no scheme"},
	"embedded MIME type":  {&mcp.EmbeddedResource{Resource: mcp.TextResource("test://a", "text", "")}, `mimeType "text"`},
	"embedded emptiness":  {&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://a"}}, "neither text nor bytes"},
	"annotations":         {&mcp.TextContent{Annotations: &mcp.Annotations{Priority: new(7.5)}}, "priority 7.5"},
	"key":                 {&mcp.TextContent{Meta: mcp.Meta{"bad key !": nil}}, `"bad key !" is not valid`},
	"reserved key":        {&mcp.TextContent{Meta: mcp.Meta{"dev.mcp/a": nil}}, "reserved"},
	"tool use":            {&mcp.ToolUseContent{}, "in sampling only"},
}

const internalError = "error: internal error (-32603)"

// Spec: 2026-07-28 server/tools#tool-result.
// Spec: 2026-07-28 server/prompts#promptmessage.
func TestContentThatMustNotBeSent(t *testing.T) {
	for name, c := range badBlocks {
		t.Run(name, func(t *testing.T) {
			s, log := newServer(Options{Announce: Features{Resources: true}})
			AddTool(s, mcp.Tool{Name: "returns"}, func(context.Context, *Call, struct{}) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text("first"), c.block}}, nil
			})
			AddTool(s, mcp.Tool{Name: "adds"}, func(_ context.Context, call *Call, _ struct{}) (string, error) {
				call.AddContent(c.block)
				return "first", nil
			})
			s.AddRawPrompt(mcp.Prompt{Name: "prompts"}, func(context.Context, *Call, map[string]string) (*mcp.GetPromptResult, error) {
				return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(mcp.Text("first")), mcp.UserMessage(c.block)}}, nil
			})
			same(t, call(t, s, "returns", "{}"), internalError)
			same(t, call(t, s, "adds", "{}"), internalError)
			same(t, getPrompt(t, s, "prompts", "{}"), internalError)
			for _, want := range []string{`tool=returns error="content[1]: `, `tool=adds error="added by Call.AddContent: content[0]: `, `prompt \"prompts\": messages[1]: content: `} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log does not name the place %q:\n%s", want, log)
				}
			}
			if got := strings.ReplaceAll(log.String(), `\`, ""); strings.Count(got, strings.ReplaceAll(c.want, `\`, "")) != 3 {
				t.Errorf("the log does not say %q three times:\n%s", c.want, got)
			}
		})
	}
}

// Spec: 2026-07-28 basic#meta.
func TestMetaOfResults(t *testing.T) {
	s, log := newServer(Options{})
	meta := mcp.Meta{}
	fields := func() mcp.ResultFields { return mcp.ResultFields{Meta: meta} }
	AddTool(s, mcp.Tool{Name: "t"}, func(context.Context, *Call, struct{}) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{ResultFields: fields(), Content: mcp.Contents{mcp.Text("x")}}, nil
	})
	s.AddResource(mcp.Resource{URI: "test://r", Name: "r"}, func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{ResultFields: fields(), Contents: []*mcp.ResourceContents{}}, nil
	})
	s.AddRawPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *Call, map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{ResultFields: fields()}, nil
	})
	every := func(tool, resource, prompt string) {
		t.Helper()
		same(t, call(t, s, "t", "{}"), tool)
		same(t, read(t, s, "test://r"), resource)
		same(t, getPrompt(t, s, "p", "{}"), prompt)
	}
	for _, key := range []string{"bad key !", "io.modelcontextprotocol/foo"} {
		meta = mcp.Meta{key: json.RawMessage("1")}
		every(internalError, internalError, internalError)
		if strings.Count(log.String(), key) != 3 {
			t.Errorf("the log does not name the key %q:\n%s", key, log)
		}
	}
	// A handler that passes on what another server said is not to blame for
	// what that server says about itself.
	meta = mcp.Meta{mcp.MetaServerInfo: json.RawMessage(`{"name":"upstream"}`), "com.example/k": json.RawMessage("1")}
	every(`{"_meta":{"com.example/k":1},"content":[{"type":"text","text":"x"}]}`, `{"_meta":{"com.example/k":1},"contents":[]}`, `{"_meta":{"com.example/k":1},"messages":[]}`)
	if len(meta) != 2 {
		t.Error("the handler's own result was changed")
	}
}

// Spec: 2026-07-28 server/resources#resource-contents.
func TestResourceContentsThatMustNotBeSent(t *testing.T) {
	s, log := newServer(Options{})
	text := "t"
	for want, c := range map[string]*mcp.ResourceContents{
		"it is nil":               nil,
		"neither text nor bytes":  {},
		"both text and bytes":     {Text: &text, Blob: []byte{1}},
		"no scheme":               {URI: "not a uri", Text: &text},
		"must be percent-encoded": {URI: "test://ä", Text: &text},
		`mimeType "plain" is not`: {MIMEType: "plain", Text: &text},
		`key "a b" is not valid`:  {Text: &text, Meta: mcp.Meta{"a b": nil}},
	} {
		s.AddResource(mcp.Resource{URI: "test://r", Name: "r"}, func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) {
			return Contents(mcp.TextResource("", "", "first"), c), nil
		})
		same(t, read(t, s, "test://r"), internalError)
		if got := strings.ReplaceAll(log.String(), `\`, ""); !strings.Contains(got, "contents[1]: ") || !strings.Contains(got, want) {
			t.Errorf("the log does not say %s:\n%s", want, log)
		}
	}
}

// What a client asks for is looked up as it wrote it, because rules about who may
// read what have seen that; the answer is a URI.
//
// Spec: 2026-07-28 server/resources#custom-uri-schemes.
func TestReadAnswersWithURIs(t *testing.T) {
	s, _ := newServer(Options{})
	s.AddResource(mcp.Resource{URI: "note:%C3%A4", Name: "a"}, readText("hi"))
	AddTemplate(s, mcp.ResourceTemplate{URITemplate: "notiz:für/{+name}", Name: "f"}, func(_ context.Context, _ *Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error) {
		return Contents(mcp.TextResource(uri, "", vars["name"]), mcp.TextResource("", "", "")), nil
	})
	for uri, want := range map[string]string{
		"note:%C3%A4":            `{"contents":[{"uri":"note:%C3%A4","mimeType":"text/plain","text":"hi"}]}`,
		"note:ä":                 "error: resource not found: note:ä",
		"notiz:f%C3%BCr/%C3%A4":  `{"contents":[{"uri":"notiz:f%C3%BCr/%C3%A4","text":"ä"},{"uri":"notiz:f%C3%BCr/%C3%A4","text":""}]}`,
		"notiz:f%C3%BCr/a[1].md": `{"contents":[{"uri":"notiz:f%C3%BCr/a%5B1%5D.md","text":"a[1].md"},{"uri":"notiz:f%C3%BCr/a%5B1%5D.md","text":""}]}`,
		"notiz:für/a":            "error: resource not found: notiz:für/a",
	} {
		same(t, read(t, s, uri), want)
	}
	same(t, serve(t, s, mcp.MethodListTemplates, ""), `{"resourceTemplates":[{"uriTemplate":"notiz:für/{+name}","name":"f"}]}`)
}

// Spec: 2026-07-28 server/prompts#embedded-resources.
func TestEmbeddedResourcesHaveMIMETypes(t *testing.T) {
	s, _ := newServer(Options{Announce: Features{Resources: true}})
	shared := &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
		mcp.UserMessage(&mcp.EmbeddedResource{Resource: mcp.TextResource("test://a", "", "x")}),
		mcp.UserMessage(&mcp.EmbeddedResource{Resource: mcp.BlobResource("test://a", "", []byte{1})}),
		mcp.UserMessage(&mcp.EmbeddedResource{Resource: mcp.TextResource("test://a", "text/x-go", "x")}),
	}}
	s.AddRawPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *Call, map[string]string) (*mcp.GetPromptResult, error) { return shared, nil })
	before := toJSON(t, shared)
	same(t, getPrompt(t, s, "p", "{}"), `{"messages":[`+
		`{"role":"user","content":{"type":"resource","resource":{"uri":"test://a","mimeType":"text/plain","text":"x"}}},`+
		`{"role":"user","content":{"type":"resource","resource":{"uri":"test://a","mimeType":"application/octet-stream","blob":"AQ=="}}},`+
		`{"role":"user","content":{"type":"resource","resource":{"uri":"test://a","mimeType":"text/x-go","text":"x"}}}]}`)
	same(t, toJSON(t, shared), before)
}

// Spec: 2026-07-28 server/tools#embedded-resources.
func TestEmbeddedResourcesWithoutTheCapability(t *testing.T) {
	for _, declared := range []bool{false, true} {
		s, log := newServer(Options{Announce: Features{Resources: declared}})
		s.AddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *Call, json.RawMessage) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.Contents{&mcp.EmbeddedResource{Resource: mcp.TextResource("test://a", "", "x")}}}, nil
		})
		for range 3 {
			same(t, call(t, s, "t", "{}"), `{"content":[{"type":"resource","resource":{"uri":"test://a","text":"x"}}]}`)
		}
		warnings := map[bool]int{false: 1, true: 0}[declared]
		if got := strings.Count(log.String(), "Options.Announce.Resources"); got != warnings {
			t.Errorf("declared %v: %d warnings, want %d:\n%s", declared, got, warnings, log)
		}
	}
}

// A failed call keeps its reason, whatever its structured content is like.
//
// Spec: 2026-07-28 server/tools#output-schema.
func TestStructuredContentOfFailedCalls(t *testing.T) {
	s, log := newServer(Options{})
	var result mcp.CallToolResult
	s.AddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{"type":"object","required":["n"]}`)},
		func(context.Context, *Call, json.RawMessage) (*mcp.CallToolResult, error) { return &result, nil })
	good, bad := json.RawMessage(`{"n":1}`), json.RawMessage(`{"error":"full"}`)
	for _, c := range []struct {
		name   string
		result mcp.CallToolResult
		want   string
	}{
		{"conforms", mcp.CallToolResult{IsError: true, StructuredContent: good, Content: mcp.Contents{mcp.Text("why")}}, `{"content":[{"type":"text","text":"why"}],"structuredContent":{"n":1},"isError":true}`},
		{"does not", mcp.CallToolResult{IsError: true, StructuredContent: bad, Content: mcp.Contents{mcp.Text("why")}}, `{"content":[{"type":"text","text":"why"}],"isError":true}`},
		{"does not, and is all", mcp.CallToolResult{IsError: true, StructuredContent: bad}, `{"content":[{"type":"text","text":"{\"error\":\"full\"}"}],"isError":true}`},
		{"success", mcp.CallToolResult{StructuredContent: bad}, internalError},
	} {
		t.Run(c.name, func(t *testing.T) {
			result = c.result
			same(t, call(t, s, "t", "{}"), c.want)
		})
	}
	if got := strings.Count(log.String(), "structured content of a failed call was left out"); got != 2 {
		t.Errorf("%d warnings, want 2:\n%s", got, log)
	}
}

// Spec: 2026-07-28 server/tools#structured-content.
func TestStructuredContentAlsoAsText(t *testing.T) {
	s, _ := newServer(Options{})
	var result mcp.CallToolResult
	shared := func() *mcp.CallToolResult { return &result }
	s.AddRawTool(mcp.Tool{Name: "raw", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *Call, json.RawMessage) (*mcp.CallToolResult, error) { return shared(), nil })
	AddTool(s, mcp.Tool{Name: "typed"}, func(context.Context, *Call, struct{}) (*mcp.CallToolResult, error) { return shared(), nil })
	AddTool(s, mcp.Tool{Name: "more"}, func(_ context.Context, c *Call, _ struct{}) (*mcp.CallToolResult, error) {
		c.AddContent(mcp.Text("more"))
		return shared(), nil
	})
	for _, content := range []mcp.Contents{nil, {}} {
		result = mcp.CallToolResult{StructuredContent: json.RawMessage(`[1]`), Content: content}
		same(t, call(t, s, "raw", "{}"), `{"content":[{"type":"text","text":"[1]"}],"structuredContent":[1]}`)
		same(t, call(t, s, "typed", "{}"), `{"content":[{"type":"text","text":"[1]"}],"structuredContent":[1]}`)
		same(t, call(t, s, "more", "{}"), `{"content":[{"type":"text","text":"[1]"},{"type":"text","text":"more"}],"structuredContent":[1]}`)
	}
	result.Content = mcp.Contents{mcp.Text("one number")}
	same(t, call(t, s, "raw", "{}"), `{"content":[{"type":"text","text":"one number"}],"structuredContent":[1]}`)
}
