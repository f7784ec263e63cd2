package spec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func plainServer(o *server.Options) *server.Server {
	if o == nil {
		o = &server.Options{}
	}
	o.Logger = mcptest.Quiet()
	return server.New(mcp.Implementation{Name: "spec", Version: "1"}, o)
}

// Spec: 2026-07-28 basic#requests.
// A request whose ID is neither a string nor an integer is refused, and a valid
// ID comes back exactly as it was sent.
func TestSpec2026IDs(t *testing.T) {
	w := rawly(t, everything(), nil)
	for _, id := range []string{`1`, `0`, `-7`, `9007199254740993`, `123456789012345678901234567890`, `""`, `"1"`, `"ä \" \\"`} {
		if a, _ := w.call(id, mcp.MethodDiscover, ""); a.Result == nil {
			t.Errorf("id %s: %s", id, a.raw)
		}
	}
	for _, id := range []string{`null`, `1.5`, `1e2`, `true`, `[]`, `{}`} {
		w.send(frame2026(id, mcp.MethodDiscover, ""))
		if m := w.next(); m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidRequest {
			t.Errorf("id %s: %s; want an invalid request", id, m.raw)
		}
	}
	w.alive()
}

// Spec: 2026-07-28 basic#requests.
// A request with the ID of another in flight is refused.
func TestSpec2026IDInUse(t *testing.T) {
	w := rawly(t, everything(), nil)
	w.send(frame2026(`7`, mcp.MethodListen, `"notifications":{}`))
	if m := w.next(); m.Method != mcp.NoteAcknowledged {
		t.Fatalf("got %s, want an acknowledgement", m.raw)
	}
	w.refused(`7`, frame2026(`7`, mcp.MethodDiscover, ""), jsonrpc.CodeInvalidRequest, "already being served")
	w.alive()
}

// Spec: 2026-07-28 basic#error-responses.
// A frame whose ID cannot be read is answered without an id member: the schema
// of this revision does not allow null there.
func TestSpec2026ErrorsWithoutID(t *testing.T) {
	for name, h := range map[string]mcp.Handler{
		"both eras": everything(),
		"stateless": plainServer(&server.Options{Revisions: only2026}),
	} {
		t.Run(name, func(t *testing.T) {
			w := rawly(t, h, nil)
			for _, tt := range []struct {
				frame string
				code  int64
			}{
				{`{"jsonrpc":"2.0","id":1,`, jsonrpc.CodeParseError},
				{`not JSON`, jsonrpc.CodeParseError},
				{`"text"`, jsonrpc.CodeInvalidRequest},
				{`[]`, jsonrpc.CodeInvalidRequest},
				{`[` + frame2026(`1`, mcp.MethodDiscover, "") + `]`, jsonrpc.CodeInvalidRequest},
				{`{"jsonrpc":"2.0","id":null,"method":"server/discover"}`, jsonrpc.CodeInvalidRequest},
			} {
				w.send(tt.frame)
				m := w.next()
				if m.Error == nil || m.Error.Code != tt.code || strings.Contains(m.raw, `"id"`) {
					t.Errorf("%s\nwas answered by %s; want code %d and no id", tt.frame, m.raw, tt.code)
				}
			}
			w.alive()
		})
	}
}

// Spec: 2026-07-28 basic#notifications.
// No notification is answered, whatever is wrong with it.
func TestSpec2026NotificationsAreNotAnswered(t *testing.T) {
	w := rawly(t, everything(), nil)
	for _, n := range []string{
		`{"jsonrpc":"2.0","method":"notifications/unheard-of"}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"list",` + metaWith(`{}`, "") + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
	} {
		w.send(n)
	}
	if a, before := w.call(`1`, mcp.MethodDiscover, ""); a.Result == nil || len(before) > 0 {
		t.Errorf("notifications were answered by %v", before)
	}
}

// Spec: 2026-07-28 basic/transports/stdio#sending-messages.
// A client that sends responses, which it must not, gets no answer to them.
func TestSpec2026ResponsesAreIgnored(t *testing.T) {
	w := rawly(t, everything(), nil)
	w.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	w.send(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`)
	if a, before := w.call(`1`, mcp.MethodDiscover, ""); a.Result == nil || len(before) > 0 {
		t.Errorf("responses were answered by %v", before)
	}
}

// Spec: 2026-07-28 basic/transports/stdio.
// Whatever a handler puts into a message, the message stays on one line.
func TestSpec2026OneLine(t *testing.T) {
	s := plainServer(&server.Options{Instructions: "one\ntwo\r\nthree\u2028"})
	s.HandleMethod("x/raw", func(context.Context, *server.Call, json.RawMessage) (any, error) {
		return json.RawMessage("{\n  \"a\": \"b\"\n}"), nil
	})
	w := rawly(t, s, nil)
	if a, _ := w.call(`1`, mcp.MethodDiscover, ""); !strings.Contains(a.raw, `one\ntwo`) {
		t.Errorf("got %s", a.raw)
	}
	if a, _ := w.call(`2`, "x/raw", ""); !strings.Contains(a.raw, `"a":"b"`) {
		t.Errorf("got %s", a.raw)
	}
}

// Spec: 2026-07-28 basic#result-responses.
// Every result, of every method, has the type "complete" and names its server,
// including those of custom methods and of handlers that return raw JSON.
func TestSpec2026ResultsAreStamped(t *testing.T) {
	s := everything()
	s.HandleMethod("x/nil", func(context.Context, *server.Call, json.RawMessage) (any, error) { return nil, nil })
	s.HandleMethod("x/map", func(context.Context, *server.Call, json.RawMessage) (any, error) {
		return map[string]any{"a": 1, "_meta": map[string]any{"com.example/k": 1}}, nil
	})
	w := rawly(t, s, nil)
	for _, tt := range []struct{ method, members, also string }{
		{mcp.MethodDiscover, ``, `"supportedVersions"`},
		{mcp.MethodListTools, ``, `"tools"`},
		{mcp.MethodListPrompts, ``, `"prompts"`},
		{mcp.MethodListResources, ``, `"resources"`},
		{mcp.MethodListTemplates, ``, `"resourceTemplates"`},
		{mcp.MethodReadResource, `"uri":"test://a"`, `"contents"`},
		{mcp.MethodCallTool, `"name":"all"`, `"content"`},
		{mcp.MethodCallTool, `"name":"fail"`, `"isError":true`},
		{mcp.MethodGetPrompt, `"name":"p","arguments":{"x":"y"}`, `"messages"`},
		{mcp.MethodComplete, `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"x","value":""}`, `"completion"`},
		{"x/nil", ``, ``},
		{"x/map", ``, `"com.example/k":1`},
	} {
		a, _ := w.call(`1`, tt.method, tt.members)
		var r struct {
			Type string `json:"resultType"`
			Meta struct {
				Info struct{ Name, Version string } `json:"io.modelcontextprotocol/serverInfo"`
			} `json:"_meta"`
		}
		if err := json.Unmarshal(a.Result, &r); err != nil {
			t.Errorf("%s: %v in %s", tt.method, err, a.raw)
			continue
		}
		if r.Type != "complete" || r.Meta.Info.Name != "everything" || r.Meta.Info.Version != "1" || !strings.Contains(a.raw, tt.also) {
			t.Errorf("%s: type %q from %q, want complete from everything, with %s: %s", tt.method, r.Type, r.Meta.Info.Name, tt.also, a.raw)
		}
	}
}

// Spec: 2026-07-28 server/utilities/caching#cacheable-results.
// The results of these methods have both caching hints even if none were
// configured, and those of others have none.
func TestSpec2026CachingHints(t *testing.T) {
	w := rawly(t, everything(), nil)
	hints := []byte(`"ttlMs":0,"cacheScope":"private"`)
	for method, members := range map[string]string{
		mcp.MethodDiscover: ``, mcp.MethodListTools: ``, mcp.MethodListPrompts: ``, mcp.MethodListResources: ``,
		mcp.MethodListTemplates: ``, mcp.MethodReadResource: `"uri":"test://a"`,
	} {
		if a, _ := w.call(`1`, method, members); !bytes.Contains(a.Result, hints) {
			t.Errorf("%s: %s has no %s", method, a.raw, hints)
		}
	}
	for method, members := range map[string]string{
		mcp.MethodCallTool: `"name":"list"`, mcp.MethodGetPrompt: `"name":"p","arguments":{"x":"y"}`,
	} {
		if a, _ := w.call(`1`, method, members); bytes.Contains(a.Result, []byte("ttlMs")) || bytes.Contains(a.Result, []byte("cacheScope")) {
			t.Errorf("%s is not cacheable, but says %s", method, a.raw)
		}
	}
}

// mayBeSession reports whether a request without a version could belong to a
// session that was not opened: nothing in it is of the stateless era.
func mayBeSession(method, params string) bool {
	return method != mcp.MethodDiscover && method != mcp.MethodListen && !strings.Contains(params, "io.modelcontextprotocol/")
}

// Spec: 2026-07-28 basic#meta.
// A request that lacks a required field of _meta, or has one of a wrong type,
// is invalid params; it is refused whatever its method, and the message names
// what is wrong.
func TestSpec2026RequestMeta(t *testing.T) {
	const (
		version = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
		caps    = `"io.modelcontextprotocol/clientCapabilities":{}`
	)
	bad := []struct{ name, params, text string }{
		{"no params", ``, "protocolVersion"},
		{"null params", `,"params":null`, "protocolVersion"},
		{"params an array", `,"params":[]`, "params"},
		{"params a string", `,"params":"x"`, "params"},
		{"no _meta", `,"params":{}`, "protocolVersion"},
		{"_meta null", `,"params":{"_meta":null}`, "_meta"},
		{"_meta a number", `,"params":{"_meta":5}`, "_meta"},
		{"_meta an array", `,"params":{"_meta":[]}`, "_meta"},
		{"_meta empty", `,"params":{"_meta":{}}`, "protocolVersion"},
		{"no version", `,"params":{"_meta":{` + caps + `}}`, "protocolVersion"},
		{"version null", `,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":null,` + caps + `}}`, "protocolVersion"},
		{"version a number", `,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":20260728,` + caps + `}}`, "protocolVersion"},
		{"no capabilities", `,"params":{"_meta":{` + version + `}}`, "clientCapabilities"},
		{"capabilities null", `,"params":{"_meta":{` + version + `,"io.modelcontextprotocol/clientCapabilities":null}}`, "clientCapabilities"},
		{"capabilities an array", `,"params":{"_meta":{` + version + `,"io.modelcontextprotocol/clientCapabilities":[]}}`, "clientCapabilities"},
		{"a capability of a wrong type", `,"params":{"_meta":{` + version + `,"io.modelcontextprotocol/clientCapabilities":{"elicitation":true}}}`, "elicitation"},
		{"info without name", `,"params":{"_meta":{` + version + `,` + caps + `,"io.modelcontextprotocol/clientInfo":{}}}`, "must have a name"},
		{"info without version", `,"params":{"_meta":{` + version + `,` + caps + `,"io.modelcontextprotocol/clientInfo":{"name":"n"}}}`, "must have a version"},
		{"info a string", `,"params":{"_meta":{` + version + `,` + caps + `,"io.modelcontextprotocol/clientInfo":"me"}}`, "clientInfo"},
		{"level unknown", `,"params":{"_meta":{` + version + `,` + caps + `,"io.modelcontextprotocol/logLevel":"loud"}}`, `"loud"`},
		{"level empty", `,"params":{"_meta":{` + version + `,` + caps + `,"io.modelcontextprotocol/logLevel":""}}`, "log level"},
		{"level a number", `,"params":{"_meta":{` + version + `,` + caps + `,"io.modelcontextprotocol/logLevel":3}}`, "logLevel"},
		{"token null", `,"params":{"_meta":{` + version + `,` + caps + `,"progressToken":null}}`, "progressToken"},
		{"token a fraction", `,"params":{"_meta":{` + version + `,` + caps + `,"progressToken":1.5}}`, "progressToken"},
		{"token an object", `,"params":{"_meta":{` + version + `,` + caps + `,"progressToken":{}}}`, "progressToken"},
	}
	for name, h := range map[string]mcp.Handler{"both eras": everything(), "stateless": plainServer(&server.Options{Revisions: only2026})} {
		t.Run(name, func(t *testing.T) {
			w := rawly(t, h, nil)
			for _, method := range []string{mcp.MethodDiscover, mcp.MethodListTools, mcp.MethodCallTool, mcp.MethodListen, "x/unknown"} {
				for _, tt := range bad {
					code := int64(jsonrpc.CodeInvalidParams)
					if name == "both eras" && tt.text == "protocolVersion" && mayBeSession(method, tt.params) {
						code = jsonrpc.CodeInvalidRequest
					}
					w.refused(`5`, `{"jsonrpc":"2.0","id":5,"method":"`+method+`"`+tt.params+`}`, code, tt.text)
				}
			}
			w.alive()
		})
	}
}

// Spec: 2026-07-28 basic#meta.
// Anything in _meta that is optional, unknown, or for observability only is not
// a reason to refuse a request.
func TestSpec2026TolerantMeta(t *testing.T) {
	w := rawly(t, everything(), nil)
	for _, more := range []string{
		``, `,"com.example/k":[1]`, `,"traceparent":5,"tracestate":{},"baggage":null`, `,"io.modelcontextprotocol/unheard":1`,
		`,"io.modelcontextprotocol/subscriptionId":1`,
	} {
		a, _ := w.exchange(`1`, frameWith(`1`, mcp.MethodListTools, ``, metaWith(`{"unheard":true,"extensions":{"com.example/x":{}}}`, more)))
		if a.Result == nil {
			t.Errorf("%s: %s", more, a.raw)
		}
	}
}

// Spec: 2026-07-28 basic/versioning#protocol-version-negotiation.
// A revision that the server does not implement, or was configured not to
// speak, is refused with the list of those that it speaks; the rest of the
// request is not examined, because its meaning depends on that revision.
func TestSpec2026UnsupportedVersion(t *testing.T) {
	pinned := plainServer(&server.Options{Revisions: only2026})
	for _, tt := range []struct {
		name, version, more, supported string
		h                              mcp.Handler
	}{
		{"older than all", "1900-01-01", ``, `["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`, everything()},
		{"one of sessions", "2025-11-25", ``, `["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`, everything()},
		{"empty", "", ``, `["2026-07-28"]`, pinned},
		{"a later one", "2099-01-01", `,"io.modelcontextprotocol/clientCapabilities":["new"],"io.modelcontextprotocol/clientInfo":1,"io.modelcontextprotocol/logLevel":{},"progressToken":[]`, `["2026-07-28"]`, pinned},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := rawly(t, tt.h, nil)
			for _, method := range []string{mcp.MethodDiscover, mcp.MethodListTools, "x/unknown", mcp.MethodInitialize} {
				a, _ := w.exchange(`1`, frameWith(`1`, method, ``, `"_meta":{"io.modelcontextprotocol/protocolVersion":"`+tt.version+`"`+tt.more+`}`))
				want := `{"requested":"` + tt.version + `","supported":` + tt.supported + `}`
				if a.Error == nil || a.Error.Code != mcp.CodeUnsupportedVersion || string(a.Error.Data) != want {
					t.Errorf("%s: %s; want code %d with %s", method, a.raw, mcp.CodeUnsupportedVersion, want)
				}
			}
			w.alive()
		})
	}
}

// Spec: 2026-07-28 basic/versioning#backward-compatibility-with-initialization-based-versions.
// A server without sessions answers initialize, and whatever else a client of
// sessions sends first, with an error; the error for initialize names its
// revisions.
func TestSpec2026NoSessions(t *testing.T) {
	w := rawly(t, plainServer(&server.Options{Revisions: only2026}), nil)
	const version = `"io.modelcontextprotocol/protocolVersion":`
	for _, params := range []string{
		`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}`,
		`{}`,
		`{` + metaWith(`{}`, "") + `,"protocolVersion":"2025-11-25"}`,
		`{"_meta":{` + version + `"2026-07-28"}}`,
		`{"_meta":{` + version + `null}}`,
		`{"_meta":{` + version + `"2025-11-25"}}`,
	} {
		w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + params + `}`)
		if m := w.next(); m.Error == nil || !strings.Contains(string(m.Error.Data), `"supported":["2026-07-28"]`) {
			t.Errorf("initialize with %s: %s; want an error that lists 2026-07-28", params, m.raw)
		}
	}
	w.refused(`2`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, jsonrpc.CodeInvalidParams, "protocolVersion")
	w.alive()
}

// Spec: 2026-07-28 changelog#major-changes (5).
// Methods that this revision has removed are unknown, and so are those that
// only clients serve.
func TestSpec2026RemovedMethods(t *testing.T) {
	w := rawly(t, everything(), nil)
	for _, method := range []string{
		mcp.MethodInitialize, mcp.MethodPing, mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe,
		mcp.MethodRoots, mcp.MethodSample, mcp.MethodElicit, "tasks/get", "x/unknown", "Tools/list", "tools/list ",
	} {
		w.refused(`1`, frame2026(`1`, method, `"uri":"test://a","level":"debug"`), jsonrpc.CodeMethodNotFound, method)
	}
	w.alive()
}

// Spec: 2026-07-28 basic#error-codes.
// A handler cannot make the server send an error code that the protocol reserves,
// except with its meaning and data; an application's own codes pass. Both are the
// same in every revision, and the words arrive in any case.
func TestReservedCodes(t *testing.T) {
	tests := []struct {
		code, data      string
		session, modern int64 // what becomes of the code
	}{
		{`1`, `{}`, 1, 1},
		{`-1`, `{}`, -1, -1},
		{`-32603`, `{}`, -32603, -32603},
		{`-32100`, `{}`, -32100, -32100},
		{`-31999`, `{}`, -31999, -31999},
		{`-32000`, `{}`, -32603, -32603},
		{`-32001`, `{}`, -32603, -32603},
		{`-32002`, `{"uri":"x:y"}`, -32002, -32602},
		{`-32019`, `{}`, -32603, -32603},
		{`-32020`, `{}`, -32603, -32603},
		{`-32021`, `{}`, -32603, -32603},
		{`-32021`, `{"requiredCapabilities":{"roots":{}}}`, -32603, -32021},
		{`-32022`, `{"supported":5}`, -32603, -32603},
		{`-32022`, `{"supported":["2026-07-28"],"requested":"1"}`, -32022, -32022},
		{`-32023`, `{}`, -32603, -32603},
		{`-32042`, `{}`, -32603, -32603},
		{`-32042`, `{"elicitations":[]}`, -32603, -32603},
		{`-32042`, `{"elicitations":[{"mode":"form","message":"m","elicitationId":"1"}]}`, -32603, -32603},
		{`-32042`, `{"elicitations":[{"mode":"url","url":"https://example.com","message":"m"}]}`, -32603, -32603},
		{`-32042`, `{"elicitations":[{"mode":"url","url":"https://example.com","message":"m","elicitationId":"1"}]}`, -32042, -32603},
		{`-32099`, `{}`, -32603, -32603},
	}
	s := plainServer(nil)
	server.Handle(s, "x/fail", func(_ context.Context, _ *server.Call, p struct {
		Code int64           `json:"code"`
		Data json.RawMessage `json:"data"`
	},
	) (struct{}, error) {
		return struct{}{}, &jsonrpc.Error{Code: p.Code, Message: "from the handler", Data: p.Data}
	})
	modern := rawly(t, s, nil)
	sessions := map[string]*wire{}
	for _, capabilities := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
		sessions[capabilities] = rawly(t, s, nil)
		sessions[capabilities].exchange(`"init"`, sessInit("2025-11-25", capabilities))
	}
	for _, tt := range tests {
		members := `"code":` + tt.code + `,"data":` + tt.data
		check := func(in string, a message, want int64) {
			if a.Error == nil || a.Error.Code != want || a.Error.Message != "from the handler" || string(a.Error.Data) != tt.data {
				t.Errorf("%s: %s became %s, want code %d and the same words", in, members, a.raw, want)
			}
		}
		a, _ := modern.call(`1`, "x/fail", members)
		check("2026-07-28", a, tt.modern)
		for capabilities, w := range sessions {
			want := tt.session
			if want == mcp.CodeURLElicitation && capabilities == `{}` {
				want = jsonrpc.CodeInternalError
			}
			a, _ = w.exchange(`1`, sessRequest(`1`, "x/fail", `{`+members+`}`))
			check("2025-11-25 with "+capabilities, a, want)
		}
	}
}

// Spec: 2026-07-28 basic#statelessness.
// No request depends on an earlier one: each is served as if it were the first
// on its connection, and equally well on another connection.
func TestSpec2026NothingIsRemembered(t *testing.T) {
	s := everything()
	full := metaWith(`{"elicitation":{},"roots":{},"sampling":{}}`, `,"io.modelcontextprotocol/logLevel":"debug","progressToken":1`)
	used := rawly(t, s, nil)
	if a, before := used.exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"talk"`, full)); a.Result == nil || len(before) != 3 {
		t.Fatalf("%d messages before %s; want two of progress and one of the log", len(before), a.raw)
	}
	fresh := rawly(t, s, nil)
	for _, members := range []string{`"name":"talk"`, `"name":"ask"`, `"name":"roots"`, `"name":"think"`} {
		first, _ := fresh.call(`2`, mcp.MethodCallTool, members)
		later, before := used.call(`2`, mcp.MethodCallTool, members)
		if first.raw != later.raw || len(before) > 0 {
			t.Errorf("%s: a fresh connection says\n%s, a used one\n%s after %v", members, first.raw, later.raw, before)
		}
	}
}

// Spec: 2026-07-28 basic#notifications.
// A notification of this era names no revision in its _meta. It still reaches
// the handler.
func TestSpec2026CustomNotificationReachesTheServer(t *testing.T) {
	came := make(chan string, 1)
	s := plainServer(nil)
	s.HandleNotification("notifications/x", func(_ context.Context, call *server.Call, params json.RawMessage) {
		came <- call.Peer().Revision.String() + string(params)
	})
	w := rawly(t, s, nil)
	w.send(`{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}}`)
	w.alive()
	if got := soon(t, came, "notification"); got != `2026-07-28{"a":1}` {
		t.Errorf("got %s", got)
	}
}

// Spec: 2026-07-28 basic#schema-dialect.
// A schema in an unsupported dialect, an invalid schema, and one that refers to
// the network are refused when the tool is added; nothing is fetched.
func TestSpec2026Schemas(t *testing.T) {
	for _, tt := range []struct{ name, schema, text string }{
		{"unknown dialect", `{"$schema":"https://example.com/dialect","type":"object"}`, "https://example.com/dialect"},
		{"reference to the network", `{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json"}}}`, "https://example.com/a.json"},
		{"not valid", `{"type":"object","properties":{"a":{"type":"strng"}}}`, ""},
		{"null", `null`, ""},
		{"boolean", `true`, ""},
		{"no object", `{"type":"array"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := plainServer(nil).TryAddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(tt.schema)}, func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
				return nil, nil
			})
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error = %v, want one that names %q", err, tt.text)
			}
		})
	}
	for _, dialect := range []string{"https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"} {
		err := plainServer(nil).TryAddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"$schema":"` + dialect + `","type":"object"}`)}, func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
			return nil, nil
		})
		if err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
	}
}
