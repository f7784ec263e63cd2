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
	object := json.RawMessage(`{"type":"object"}`)
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
