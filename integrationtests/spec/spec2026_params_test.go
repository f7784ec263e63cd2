package spec_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// Spec: 2026-07-28 server/tools#error-handling (1).
// Spec: 2026-07-28 server/prompts#error-handling.
// Spec: 2026-07-28 server/utilities/completion#error-handling.
// Spec: 2026-07-28 server/utilities/pagination#error-handling.
// Params that a method cannot accept are invalid params, and the message names
// the member, for each member of each method and each wrong type; the
// connection stays open.
func TestSpec2026InvalidParams(t *testing.T) {
	w := rawly(t, everything(), nil)
	const ref, arg = `"ref":{"type":"ref/prompt","name":"p"}`, `"argument":{"name":"x","value":""}`
	wrong := map[string][]string{
		"string":  {`5`, `true`, `[]`, `{}`},
		"object":  {`5`, `true`, `[]`, `"x"`},
		"boolean": {`5`, `"true"`, `[]`, `{}`},
		"array":   {`5`, `true`, `{}`, `"x"`},
	}
	for _, tt := range []struct{ method, before, member, kind, after, text string }{
		{mcp.MethodListTools, ``, `cursor`, "string", ``, "cursor"},
		{mcp.MethodListPrompts, ``, `cursor`, "string", ``, "cursor"},
		{mcp.MethodListResources, ``, `cursor`, "string", ``, "cursor"},
		{mcp.MethodListTemplates, ``, `cursor`, "string", ``, "cursor"},
		{mcp.MethodCallTool, ``, `name`, "string", ``, "name"},
		{mcp.MethodCallTool, `"name":"list",`, `arguments`, "object", ``, "arguments"},
		{mcp.MethodCallTool, `"name":"list",`, `inputResponses`, "object", ``, "inputResponses"},
		{mcp.MethodCallTool, `"name":"list",`, `requestState`, "string", ``, "requestState"},
		{mcp.MethodReadResource, ``, `uri`, "string", ``, "uri"},
		{mcp.MethodReadResource, `"uri":"test://a",`, `inputResponses`, "object", ``, "inputResponses"},
		{mcp.MethodReadResource, `"uri":"test://a",`, `requestState`, "string", ``, "requestState"},
		{mcp.MethodGetPrompt, ``, `name`, "string", ``, "name"},
		{mcp.MethodGetPrompt, `"name":"p",`, `arguments`, "object", ``, "arguments"},
		{mcp.MethodGetPrompt, `"name":"p","arguments":{`, `x`, "string", `}`, "arguments.x"},
		{mcp.MethodGetPrompt, `"name":"p","arguments":{"x":"y"},`, `requestState`, "string", ``, "requestState"},
		{mcp.MethodComplete, arg + `,`, `ref`, "object", ``, "ref"},
		{mcp.MethodComplete, arg + `,"ref":{"name":"p",`, `type`, "string", `}`, "ref.type"},
		{mcp.MethodComplete, arg + `,"ref":{"type":"ref/prompt",`, `name`, "string", `}`, "ref.name"},
		{mcp.MethodComplete, arg + `,"ref":{"type":"ref/resource",`, `uri`, "string", `}`, "ref.uri"},
		{mcp.MethodComplete, ref + `,`, `argument`, "object", ``, "argument"},
		{mcp.MethodComplete, ref + `,"argument":{"value":"",`, `name`, "string", `}`, "argument.name"},
		{mcp.MethodComplete, ref + `,"argument":{"name":"x",`, `value`, "string", `}`, "argument.value"},
		{mcp.MethodComplete, ref + `,` + arg + `,`, `context`, "object", ``, "context"},
		{mcp.MethodComplete, ref + `,` + arg + `,"context":{`, `arguments`, "object", `}`, "context.arguments"},
		{mcp.MethodComplete, ref + `,` + arg + `,"context":{"arguments":{`, `y`, "string", `}}`, "context.arguments.y"},
		{mcp.MethodListen, ``, `notifications`, "object", ``, "notifications"},
		{mcp.MethodListen, `"notifications":{`, `toolsListChanged`, "boolean", `}`, "toolsListChanged"},
		{mcp.MethodListen, `"notifications":{`, `promptsListChanged`, "boolean", `}`, "promptsListChanged"},
		{mcp.MethodListen, `"notifications":{`, `resourcesListChanged`, "boolean", `}`, "resourcesListChanged"},
		{mcp.MethodListen, `"notifications":{`, `resourceSubscriptions`, "array", `}`, "resourceSubscriptions"},
		{mcp.MethodListen, `"notifications":{"resourceSubscriptions":[{"a":`, `b`, "string", `}]}`, "resourceSubscriptions"},
	} {
		for _, value := range wrong[tt.kind] {
			members := tt.before + `"` + tt.member + `":` + value + tt.after
			if strings.Contains(tt.before, `[{"a":`) {
				members = `"notifications":{"resourceSubscriptions":[` + value + `]}`
			}
			w.refused(`1`, frame2026(`1`, tt.method, members), jsonrpc.CodeInvalidParams, tt.text)
		}
	}
	w.alive()
}

// Spec: 2026-07-28 server/tools#error-handling (1).
// A missing required member, or the name of something unknown, is invalid
// params, and the message names it.
func TestSpec2026MissingAndUnknown(t *testing.T) {
	w := rawly(t, everything(), nil)
	for _, tt := range []struct{ method, members, text string }{
		{mcp.MethodCallTool, ``, `"name"`},
		{mcp.MethodCallTool, `"arguments":{}`, `"name"`},
		{mcp.MethodCallTool, `"name":"nope"`, `"nope"`},
		{mcp.MethodCallTool, `"name":"LIST"`, `"LIST"`},
		{mcp.MethodCallTool, `"name":"list","Name":"all"`, `"Name"`},
		{mcp.MethodCallTool, `"name":"list","arguments":null`, `arguments`},
		{mcp.MethodCallTool, `"name":"list","requestState":"forged"`, `requestState`},
		{mcp.MethodCallTool, `"name":"list","requestState":""`, `requestState`},
		{mcp.MethodReadResource, ``, `"uri"`},
		{mcp.MethodReadResource, `"uri":"no scheme"`, `"no scheme"`},
		{mcp.MethodReadResource, `"uri":"test://none"`, `not found`},
		{mcp.MethodReadResource, `"uri":"test://t/none"`, `not found`},
		{mcp.MethodGetPrompt, ``, `"name"`},
		{mcp.MethodGetPrompt, `"name":"nope"`, `"nope"`},
		{mcp.MethodGetPrompt, `"name":"p"`, `"x"`},
		{mcp.MethodGetPrompt, `"name":"p","arguments":{"x":"1","z":"2"}`, `"z"`},
		{mcp.MethodComplete, ``, `"ref"`},
		{mcp.MethodComplete, `"argument":{"name":"x","value":""}`, `"ref"`},
		{mcp.MethodComplete, `"ref":{"type":"ref/prompt","name":"p"}`, `"argument"`},
		{mcp.MethodComplete, `"ref":{"type":"ref/resource","uri":"test://a"}`, `"argument"`},
		{mcp.MethodComplete, `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"x"}`, `"argument"`},
		{mcp.MethodComplete, `"ref":{"type":"ref/tool","name":"p"},"argument":{"name":"x","value":""}`, `"ref/tool"`},
		{mcp.MethodComplete, `"ref":{"type":"ref/prompt","name":"nope"},"argument":{"name":"x","value":""}`, `"nope"`},
		{mcp.MethodComplete, `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"nope","value":""}`, `"nope"`},
		{mcp.MethodComplete, `"ref":{"type":"ref/resource","uri":"test://nope"},"argument":{"name":"x","value":""}`, `"test://nope"`},
		{mcp.MethodListTools, `"cursor":""`, `cursor`},
		{mcp.MethodListTools, `"cursor":"made up"`, `"made up"`},
		{mcp.MethodListPrompts, `"cursor":"AQEB"`, `cursor`},
		{mcp.MethodListen, ``, `"notifications"`},
		{mcp.MethodListen, `"notifications":null`, `"notifications"`},
		{mcp.MethodListen, `"notifications":{},"Notifications":{"toolsListChanged":true}`, `"Notifications"`},
	} {
		w.refused(`1`, frame2026(`1`, tt.method, tt.members), jsonrpc.CodeInvalidParams, tt.text)
	}
	w.alive()
}

// Spec: 2026-07-28 server/resources#error-handling.
// A resource that does not exist is an error that names its URI, not an empty
// list of contents.
func TestSpec2026ResourceNotFound(t *testing.T) {
	s := plainServer(nil)
	s.AddResource(mcp.Resource{URI: "x:empty", Name: "empty"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return server.Contents(), nil
	})
	s.AddResource(mcp.Resource{URI: "x:gone", Name: "gone"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{}, nil
	})
	s.AddResource(mcp.Resource{URI: "x:broken", Name: "broken"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return nil, context.DeadlineExceeded
	})
	w := rawly(t, s, nil)
	for _, uri := range []string{"x:gone", "x:never"} {
		a, _ := w.call(`1`, mcp.MethodReadResource, `"uri":"`+uri+`"`)
		if a.Error == nil || a.Error.Code != jsonrpc.CodeInvalidParams || string(a.Error.Data) != `{"uri":"`+uri+`"}` {
			t.Errorf("%s: %s", uri, a.raw)
		}
	}
	if a, _ := w.call(`1`, mcp.MethodReadResource, `"uri":"x:empty"`); !strings.Contains(a.raw, `"contents":[]`) {
		t.Errorf("a resource that exists and is empty: %s", a.raw)
	}
	w.refused(`1`, frame2026(`1`, mcp.MethodReadResource, `"uri":"x:broken"`), jsonrpc.CodeInternalError, "internal error")
}

// Spec: 2026-07-28 server/tools#error-handling (2).
// Arguments that do not satisfy a tool's schema yield a result with isError
// that says what is wrong, not an error of the protocol.
func TestSpec2026BadArguments(t *testing.T) {
	s := plainServer(nil)
	server.AddTool(s, mcp.Tool{Name: "t"}, func(_ context.Context, _ *server.Call, in struct {
		N int `json:"n" minimum:"1"`
	},
	) (string, error) {
		return "ran", nil
	})
	w := rawly(t, s, nil)
	for args, text := range map[string]string{`{}`: "n", `{"n":"1"}`: "n", `{"n":0}`: "1", `{"n":1.5}`: "n", `{"n":1,"m":2}`: "m"} {
		a, _ := w.call(`1`, mcp.MethodCallTool, `"name":"t","arguments":`+args)
		var r struct {
			IsError bool                    `json:"isError"`
			Content []struct{ Text string } `json:"content"`
		}
		if err := json.Unmarshal(a.Result, &r); err != nil || !r.IsError || len(r.Content) != 1 || !strings.Contains(r.Content[0].Text, text) {
			t.Errorf("%s: %s; want a tool error that names %q", args, a.raw, text)
		}
	}
}

// Spec: 2026-07-28 server/tools#capabilities.
// Spec: 2026-07-28 server/utilities/completion#capabilities.
// A server declares what it has; a method of an undeclared capability does not
// exist.
func TestSpec2026Undeclared(t *testing.T) {
	w := rawly(t, plainServer(nil), nil)
	if a, _ := w.call(`1`, mcp.MethodDiscover, ""); !strings.Contains(a.raw, `"capabilities":{}`) {
		t.Errorf("an empty server declares something: %s", a.raw)
	}
	for _, method := range []string{
		mcp.MethodListTools, mcp.MethodCallTool, mcp.MethodListResources, mcp.MethodListTemplates, mcp.MethodReadResource,
		mcp.MethodListPrompts, mcp.MethodGetPrompt, mcp.MethodComplete,
	} {
		w.refused(`1`, frame2026(`1`, method, ""), jsonrpc.CodeMethodNotFound, method)
	}
	w = rawly(t, everything(), nil)
	a, _ := w.call(`1`, mcp.MethodDiscover, "")
	for _, want := range []string{
		`"tools":{"listChanged":true}`, `"resources":{"subscribe":true,"listChanged":true}`, `"prompts":{"listChanged":true}`,
		`"completions":{}`, `"logging":{}`, `"extensions":{"com.example/x":{"a":1}}`, `"instructions":"use it"`,
	} {
		if !strings.Contains(a.raw, want) {
			t.Errorf("discover has no %s: %s", want, a.raw)
		}
	}
}

// Spec: 2026-07-28 server/utilities/pagination#implementation-guidelines (1).
// Pages follow each other without gaps or repetitions while the list changes,
// on any connection, and the last one has no cursor.
func TestSpec2026StableCursors(t *testing.T) {
	s := plainServer(&server.Options{PageSize: 2})
	add := func(name string) {
		server.AddTool(s, mcp.Tool{Name: name}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
	}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		add(name)
	}
	page := func(members string) (names string, next *string) {
		a, _ := rawly(t, s, nil).call(`1`, mcp.MethodListTools, members)
		var r struct {
			Tools []struct{ Name string }
			Next  *string `json:"nextCursor"`
		}
		if err := json.Unmarshal(a.Result, &r); err != nil {
			t.Fatalf("%v in %s", err, a.raw)
		}
		for _, tool := range r.Tools {
			names += tool.Name
		}
		return names, r.Next
	}
	got, next := page(``)
	s.RemoveTools("b") // the entry that the cursor follows
	for next != nil {
		var names string
		names, next = page(`"cursor":"` + *next + `"`)
		got += " " + names
	}
	if got != "ab cd e" {
		t.Errorf("pages %q, want ab cd e", got)
	}
}
