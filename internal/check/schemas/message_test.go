package schemas

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const olderText = `{"jsonrpc":"2.0","id":1,"result":{"content":[%s]}}`

// What a message breaks is said once, at the deepest place.
func TestViolations(t *testing.T) {
	server, client := Message{FromServer: true}, Message{}
	called := Message{FromServer: true, Answers: "tools/call"}
	for _, tt := range []struct {
		revision string
		m        Message
		json     string
		want     string // pointer and text of each violation
	}{
		{"2025-06-18", called, fmt.Sprintf(olderText, `{"type":"text","text":"a"}`), ``},
		{"2025-06-18", called, fmt.Sprintf(olderText, `{"type":"text","text":1}`), `"/result/content/0/text" must be a string, not a number`},
		{"2025-06-18", called, fmt.Sprintf(olderText, `{"type":"video"}`), `"/result/content/0/type" must be "text", "image", "audio", "resource_link" or "resource", not "video"`},
		{"2025-06-18", called, fmt.Sprintf(olderText, `{"text":"a"}`), `"/result/content/0" lacks the member "type"`},
		{"2025-06-18", called, fmt.Sprintf(olderText, `{"type":1,"text":"a"}`), `"/result/content/0/type" must be a string, not a number`},
		{"2025-06-18", called, fmt.Sprintf(olderText, `"a"`), `"/result/content/0" must be an object, not a string`},
		{
			"2025-06-18", called, fmt.Sprintf(olderText, `{"type":"image","data":"!","mimeType":"a/b"},{"type":"resource","resource":{"uri":"a:b"}}`),
			`"/result/content/0/data" must be base64, not "!"; "/result/content/1/resource" lacks the member "blob" or "text"`,
		},
		{
			"2025-06-18", called, fmt.Sprintf(olderText, `{"type":"text","text":"a","annotations":{"priority":2,"audience":["x"]}}`),
			`"/result/content/0/annotations/audience/0" must be "assistant" or "user", not "x"; "/result/content/0/annotations/priority" must be at most 1, not 2`,
		},
		{"2025-06-18", called, `{"jsonrpc":"2.0","id":1,"result":{"content":[]},"x/y":1}`, ``},
		{"2025-06-18", called, `{"jsonrpc":"1.0","id":1,"result":{}}`, `"/jsonrpc" must be "2.0", not "1.0"; "/result" lacks the member "content"`},
		{"2025-06-18", called, `{"jsonrpc":"2.0","id":1,"result":1}`, `"/result" must be an object, not a number`},
		{"2025-06-18", server, `{"jsonrpc":"2.0","id":1,"result":{"anything":1}}`, ``},
		{"2025-06-18", server, `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, `"" has both "result" and "error"`},
		{"2025-06-18", server, `{"jsonrpc":"2.0","id":1,"error":{"code":"1"}}`, `"/error" lacks the member "message"; "/error/code" must be an integer, not a string`},
		{"2025-06-18", server, `{"jsonrpc":"2.0"}`, `"" has none of "method", "result" and "error"`},
		{"2025-06-18", server, `3`, `"" must be an object, not a number`},
		{"2025-06-18", server, `{"a":{"b":1,"b":2}}`, `"/a/b" is not valid JSON: duplicate object member name "b" within "/a"`},
		{"2025-06-18", server, `[{"jsonrpc":"2.0","method":"m"}]`, `"" is a batch, which the revision does not have`},
		{"2025-03-26", server, `[{"jsonrpc":"2.0","method":"m"},{"jsonrpc":"2.0","method":1},[]]`, `"/1/method" must be a string, not a number; "/2" must be an object, not an array`},
		{"2025-03-26", server, `[]`, `"" is a batch without messages`},
		// A method that is an extension's, or the other side's, is judged as a request.
		{"2025-06-18", client, `{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"a":1}}`, ``},
		{"2025-06-18", client, `{"jsonrpc":"2.0","id":1,"method":"x/y","params":[1]}`, `"/params" must be an object, not an array`},
		{"2026-07-28", client, `{"jsonrpc":"2.0","id":1,"method":"x/y","params":{}}`, `"/params" lacks the member "_meta"`},
		{"2026-07-28", client, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"" lacks the member "params"`},
		{
			"2026-07-28", client, `{"jsonrpc":"2.0","id":1.5,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}`,
			`"/id" must be an integer or a string, not a number; "/params/_meta" lacks the member "io.modelcontextprotocol/protocolVersion"`,
		},
		{"2026-07-28", server, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, ``},
		// The type of a result says what else it must have.
		{"2026-07-28", called, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`, `"/result" lacks the member "content"`},
		{"2026-07-28", called, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, `"/result" lacks the member "resultType"`},
		{"2026-07-28", called, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t"}}`, ``},
		{
			"2026-07-28", called, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":1,"requestedSchema":{"type":"object","properties":{}}}}}}}`,
			`"/result/inputRequests/k/params/message" must be a string, not a number`,
		},
		{
			"2026-07-28", called, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"object"},"b":{"type":"string","format":"colour"}}}}}}}}`,
			`"/result/inputRequests/k/params/requestedSchema/properties/a/type" must be "string", "integer", "number", "boolean" or "array", not "object"; "/result/inputRequests/k/params/requestedSchema/properties/b/format" must be "date", "date-time", "email" or "uri", not "colour"`,
		},
		{
			"2026-07-28", called, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"nope"}}}}`,
			`"/result/inputRequests/k/method" must be "sampling/createMessage", "roots/list" or "elicitation/create", not "nope"`,
		},
		{"2026-07-28", client, requestWith(`"inputResponses":{"k":{"action":"perhaps"}}`), `"/params/inputResponses/k/action" must be "accept", "cancel" or "decline", not "perhaps"`},
		{"2026-07-28", client, requestWith(`"inputResponses":{"k":{"action":"accept","content":{"n":1.5,"all":["a"]}}}`), ``},
		{"2026-07-28", server, `{"jsonrpc":"2.0","error":{"code":-32022,"message":"m","data":{"supported":[]}}}`, `"/error/data" lacks the member "requested"`},
		{
			"2025-11-25",
			Message{FromServer: true, Answers: "tools/call", AsTask: true},
			`{"jsonrpc":"2.0","id":1,"result":{"task":{}}}`,
			`"/result/task" lacks the member "createdAt"; "/result/task" lacks the member "lastUpdatedAt"; "/result/task" lacks the member "status"; "/result/task" lacks the member "taskId"; "/result/task" lacks the member "ttl"`,
		},
		{"2025-11-25", Message{Answers: "sampling/createMessage"}, `{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","model":"m","content":[{"type":"text"}]}}`, `"/result/content/0" lacks the member "text"`},
	} {
		tt.m.JSON = []byte(tt.json)
		var got []string
		for _, v := range open(t, tt.revision).Check(tt.m) {
			got = append(got, v.String())
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s: %s:\n%s\nwant\n%s", tt.revision, tt.json, strings.Join(got, "; "), tt.want)
		}
	}
}

func requestWith(params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n",` + params + `,` + meta + `}}`
}

// Members that a revision does not have are listed apart.
func TestUnknownMembers(t *testing.T) {
	m := Message{FromServer: true, Answers: "tools/call", JSON: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"","x~/y":1}]},"more":1}`)}
	s := open(t, "2024-11-05")
	if v := s.Check(m); v != nil {
		t.Errorf("Check = %v", v)
	}
	if got, want := s.Unknown(m), []string{"/more", "/result/content/0/x~0~1y"}; !slices.Equal(got, want) {
		t.Errorf("Unknown = %q, want %q", got, want)
	}
	m.JSON = []byte(`{`)
	if got := s.Unknown(m); got != nil {
		t.Errorf("Unknown of no JSON = %q", got)
	}
}

func TestHas(t *testing.T) {
	s := open(t, "2025-06-18")
	for _, tt := range []struct {
		method     string
		fromServer bool
		want       bool
	}{
		{"tools/call", false, true},
		{"tools/call", true, false},
		{"roots/list", true, true},
		{"notifications/message", true, true},
		{"notifications/message", false, false},
		{"server/discover", false, false},
	} {
		if got := s.Has(tt.method, tt.fromServer); got != tt.want {
			t.Errorf("Has(%q, %v) = %v", tt.method, tt.fromServer, got)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	s := open(b, "2026-07-28")
	for name, text := range map[string]string{"good": `"text"`, "bad": `1`} {
		b.Run(name, func(b *testing.B) {
			m := Message{FromServer: true, Answers: "tools/call", JSON: []byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":` + text + `}]}}`)}
			for b.Loop() {
				if bad := len(s.Check(m)) > 0; bad != (name == "bad") {
					b.Fatal("wrong")
				}
			}
		})
	}
}
