package schemas

import (
	"slices"
	"strings"
	"testing"
)

const anyRevision = "2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28"

// TestUnknown lists values with the revisions that know all of their members.
// In the others, the given path is unknown.
func TestUnknown(t *testing.T) {
	const (
		since0326 = "2025-03-26 2025-06-18 2025-11-25 2026-07-28"
		since0618 = "2025-06-18 2025-11-25 2026-07-28"
		since1125 = "2025-11-25 2026-07-28"
		only1125  = "2025-11-25"
		only0728  = "2026-07-28"
	)
	tests := []struct{ definition, value, path, known string }{
		{"Implementation", `{"name":"a","version":"1","title":"A"}`, "/title", since0618},
		{"Implementation", `{"name":"a","version":"1","icons":[]}`, "/icons", since1125},
		{"Tool", `{"name":"a","inputSchema":{"type":"object"},"title":"A"}`, "/title", since0618},
		{"Tool", `{"name":"a","inputSchema":{"type":"object"},"annotations":{"title":"A"}}`, "/annotations", since0326},
		{"Tool", `{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`, "/execution", only1125},
		{"Tool", `{"name":"a","inputSchema":{"type":"object"},"_meta":{"k":{"x":1}}}`, "/_meta", since0618},
		{"Tool", `{"name":"a","inputSchema":{"type":"object","$defs":{},"title":"A","properties":{"p":{"const":1}}}}`, "", anyRevision},
		{"Tool", `{"name":"a","inputSchema":{"type":"object"},"nope":1}`, "/nope", ""},
		{"Prompt", `{"name":"a","arguments":[{"name":"x"},{"name":"y","title":"Y"}]}`, "/arguments/1/title", since0618},
		{"ClientCapabilities", `{"experimental":{"a":{"b":{"c":1}}},"sampling":{}}`, "", anyRevision},
		{"ClientCapabilities", `{"elicitation":{}}`, "/elicitation", since0618},
		{"ClientCapabilities", `{"sampling":{"tools":{}}}`, "", anyRevision}, // an open object before 2025-11-25
		{"ClientCapabilities", `{"sampling":{"nope":{}}}`, "/sampling/nope", "2024-11-05 2025-03-26 2025-06-18"},
		{"ClientCapabilities", `{"roots":{"nope":true}}`, "/roots/nope", only0728}, // declares no properties
		{"ClientCapabilities", `{"tasks":{"list":{}}}`, "/tasks", only1125},
		{"ServerCapabilities", `{"completions":{}}`, "/completions", since0326},
		{"ServerCapabilities", `{"extensions":{"a/b":{"c":{}}}}`, "/extensions", only0728},
		{"EmptyResult", `{"_meta":{"a":1}}`, "", anyRevision},
		{"EmptyResult", `{"resultType":"complete"}`, "/resultType", only0728},
		{
			"CallToolResult", `{"content":[{"type":"text","text":"t","annotations":{"lastModified":"x"}}]}`,
			"/content/0/annotations/lastModified", since0618,
		},
		{"CallToolResult", `{"content":[],"structuredContent":{"a":{"b":1}}}`, "/structuredContent", since0618},
		{"EmbeddedResource", `{"type":"resource","resource":{"uri":"a:b","text":"t","_meta":{}}}`, "/resource/_meta", since0618},
		{"JSONRPCRequest", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"b":1}}}`, "", anyRevision},
		{"JSONRPCRequest", `{"jsonrpc":"2.0","id":1,"method":"m","extra":1}`, "/extra", ""},
		{"JSONRPCNotification", `{"jsonrpc":"2.0","method":"m","params":{"a":1}}`, "", anyRevision},
		{"LoggingMessageNotification", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"a":{"b":1}},"_meta":{"k":1}}}`, "", anyRevision},
		{
			"LoggingMessageNotification", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1,"a-b":1}}`,
			`/params/a-b`, "",
		},
		{
			"ProgressNotification", `{"method":"notifications/progress","jsonrpc":"2.0","params":{"progress":1,"progressToken":1,"message":"m"}}`,
			"/params/message", since0326,
		},
	}
	for _, revision := range Revisions() {
		s := open(t, revision)
		for _, tt := range tests {
			var want []string
			if !strings.Contains(tt.known, revision) {
				want = []string{tt.path}
			}
			got := s.UnknownIn(tt.definition, []byte(tt.value))
			if !slices.Equal(got, want) {
				t.Errorf("%s: UnknownIn(%q, %s) = %q, want %q", revision, tt.definition, tt.value, got, want)
			}
		}
	}
}

func TestUnknownOfSpecificRevisions(t *testing.T) {
	tests := []struct{ revision, definition, value, want string }{
		{
			"2026-07-28", "RequestParams", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
			"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1","nope":1},
			"io.modelcontextprotocol/clientCapabilities":{"tasks":{}},"example.com/x":{"y":1}}}`,
			`/_meta/io.modelcontextprotocol~1clientCapabilities/tasks /_meta/io.modelcontextprotocol~1clientInfo/nope`,
		},
		{
			"2026-07-28", "InputRequiredResult", `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create",
			"params":{"message":"m","requestedSchema":{"type":"object","properties":{"p":{"type":"string","pattern":"x"}}},"task":{}}}}}`,
			"/inputRequests/a/params/task",
		},
		{"2026-07-28", "MissingRequiredClientCapabilityError", `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"m",
			"data":{"requiredCapabilities":{},"free":1}}}`, ""},
		{"2026-07-28", "CreateMessageRequest", `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage",
			"params":{"maxTokens":1,"messages":[],"metadata":{"a":{"b":1}}}}`, "/id /jsonrpc"}, // embedded only
		{"2024-11-05", "CreateMessageRequest", `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage",
			"params":{"maxTokens":1,"messages":[],"metadata":{"a":{"b":1}}}}`, ""},
		{"2025-06-18", "ElicitRequest", `{"method":"elicitation/create","params":{"message":"m","requestedSchema":
			{"type":"object","$schema":"x","properties":{"p":{"type":"string","default":"d"}}}}}`, "/params/requestedSchema/$schema"},
		{"2025-11-25", "GetTaskPayloadResult", `{"content":[],"anything":{"a":1}}`, ""},
		{"2025-11-25", "CancelTaskRequest", `{"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{"taskId":"t","_meta":{}}}`, ""},
		{"2025-11-25", "GetTaskResult", `{"taskId":"t","status":"working","createdAt":"","lastUpdatedAt":"","ttl":null,"_meta":{},"nope":1}`, "/nope"},
		{"2025-11-25", "ContentBlock", `{"type":"text","text":"t","uri":"a:b"}`, "/uri"},
		{"2025-11-25", "ContentBlock", `{"type":"nope","foo":1}`, ""}, // no branch is valid
		{"2025-11-25", "ContentBlock", `{`, "(root)"},
		{"2025-11-25", "NoSuchThing", `{}`, "(root)"},
	}
	for _, tt := range tests {
		all := open(t, tt.revision).UnknownIn(tt.definition, []byte(tt.value))
		got := strings.Join(all, " ")
		if slices.Equal(all, []string{""}) {
			got = "(root)"
		}
		if got != tt.want {
			t.Errorf("%s: UnknownIn(%q, %s) = %q, want %q", tt.revision, tt.definition, tt.value, got, tt.want)
		}
	}
}
