package schemas

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// run feeds a script to a Recorder. A line is a frame, led by ">" if the
// client sends it and by "<" if the server does. A line "! text" after a frame
// demands that the frame's error contains the text; a frame without one must
// be good.
func run(t *testing.T, r *Recorder, script string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for i := 0; i < len(lines); {
		line := lines[i]
		err := r.Frame(line[0] == '>', []byte(strings.TrimSpace(line[1:])))
		i++
		if i == len(lines) || lines[i][0] != '!' {
			expect(t, err, "", line)
			continue
		}
		for ; i < len(lines) && lines[i][0] == '!'; i++ {
			expect(t, err, strings.TrimSpace(lines[i][1:]), line)
		}
	}
}

// handshake opens a session of any revision that has sessions.
func handshake(revision string) string {
	return fmt.Sprintf(`
> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%[1]q,"capabilities":{"roots":{"listChanged":true},"sampling":{}},"clientInfo":{"name":"c","version":"1"}}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":%[1]q,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}}
> {"jsonrpc":"2.0","method":"notifications/initialized"}
`, revision)
}

// session is a good conversation in every revision that has sessions. Both
// sides use the id 1, and the answers arrive out of order.
const session = `
> {"jsonrpc":"2.0","id":1,"method":"tools/list"}
> {"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"add","arguments":{"a":{"b":1}},"_meta":{"progressToken":7}}}
< {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}}
< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":0.5,"total":1}}
> {"jsonrpc":"2.0","id":1,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"ho"},"stopReason":"endTurn"}}
< {"jsonrpc":"2.0","id":"1","result":{"content":[{"type":"text","text":"3"}],"isError":false,"_meta":{"k":1}}}
< {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"add","description":"d","inputSchema":{"type":"object","additionalProperties":false}}],"nextCursor":"c"}}
< {"jsonrpc":"2.0","id":2,"method":"roots/list"}
> {"jsonrpc":"2.0","id":2,"result":{"roots":[{"uri":"file:///r","name":"r"}]}}
> {"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"debug"}}
< {"jsonrpc":"2.0","id":3,"result":{}}
< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"l","data":{"free":[1]}}}
> {"jsonrpc":"2.0","id":4,"method":"resources/subscribe","params":{"uri":"file:///r"}}
< {"jsonrpc":"2.0","id":4,"error":{"code":-32002,"message":"not found","data":{"uri":"file:///r"}}}
< {"jsonrpc":"2.0","id":5,"method":"ping"}
> {"jsonrpc":"2.0","id":5,"result":{}}
> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9,"reason":"late"}}
`

// mistakes are frames that are wrong in every revision with sessions.
const mistakes = `
< {"jsonrpc":"2.0","id":77,"result":{}}
! id 77 is unknown
> {"jsonrpc":"2.0","id":50,"method":"ping"}
> {"jsonrpc":"2.0","id":50,"method":"tools/list"}
! request id 50 is in flight already, for method "ping"
< {"jsonrpc":"2.0","id":50,"result":{}}
! tools
< {"jsonrpc":"2.0","id":50,"result":{"tools":[]}}
! answered already
> {"jsonrpc":"2.0","id":51,"method":"ping"}
< {"jsonrpc":"2.0","id":"51","result":{}}
! id "51" is unknown
> {"jsonrpc":"2.0","id":51,"result":{}}
! id 51 is unknown
< {"jsonrpc":"2.0","id":51,"result":{"surprise":1}}
! "/result/surprise" is unknown to "EmptyResult"
< {"jsonrpc":"2.0","id":60,"method":"tools/list"}
! method "tools/list" is not in revision
! for the server→client direction
> {"jsonrpc":"2.0","id":60,"method":"roots/list"}
! method "roots/list" is not in revision
! for the client→server direction
> {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}
! for the client→server direction
> {"jsonrpc":"2.0","id":61,"method":"server/discover","params":{}}
! method "server/discover" is not in revision
> {"jsonrpc":"2.0","id":62,"method":"tools/call","params":{"arguments":{}}}
! CallToolRequest
! name
< {"jsonrpc":"2.0","id":62,"result":{"content":[{"type":"video"}]}}
! CallToolResult
> {"jsonrpc":"2.0","id":63,"method":"tools/call","params":{"name":"n","surprise":1},"extra":1}
! "/params/surprise" is unknown to "CallToolRequest"
! "/extra" is unknown
< {"jsonrpc":"2.0","id":63,"error":{"code":1,"message":"m","surprise":1}}
! "/error/surprise" is unknown
> {"jsonrpc":"2.0","id":64,"method":"ping"}
< {"jsonrpc":"2.0","id":64,"result":{},"error":{"code":1,"message":"m"}}
! has both
< {"jsonrpc":"2.0","id":64,"error":{"code":1.5,"message":"m"}}
! code
> {"jsonrpc":"2.0","id":null,"method":"ping"}
! JSONRPCRequest
> {"id":65,"method":"ping"}
! JSONRPCRequest
> {"jsonrpc":"2.0","id":66}
! has none of
> {"jsonrpc":"2.0","id":67,"method":"ping","method":"ping"}
! duplicate
> 1
! must be an object
> []
! batch
`

func TestSessions(t *testing.T) {
	for _, revision := range Revisions()[:4] {
		t.Run(revision, func(t *testing.T) {
			r := NewRecorder(open(t, revision))
			script := handshake(revision) + session
			run(t, r, script)
			if got, want := r.Frames(), strings.Count(script, `"jsonrpc"`); got != want {
				t.Errorf("Frames() = %d, want %d", got, want)
			}
			if got := r.Pending(); len(got) != 0 {
				t.Errorf("Pending() = %q, want none", got)
			}
			run(t, r, mistakes)
		})
	}
}

func TestRevisionDifferences(t *testing.T) {
	tests := []struct{ revision, script string }{
		{"2024-11-05", `
> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1","title":"C"}}}
! "/params/clientInfo/title" is unknown to "InitializeRequest" of revision 2024-11-05
> [{"jsonrpc":"2.0","id":2,"method":"ping"}]
! is a batch, which the revision does not have
< {"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}
! id
< {"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}
! method "elicitation/create" is not in revision 2024-11-05 for the server→client direction`},
		{"2025-03-26", `
> [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]
< [{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"title":"T"}]}},{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}]
! "/result/tools/0/title" is unknown to "ListToolsResult" of revision 2025-03-26
> [{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"result":{}}]
! "/1" is no request or notification
! id 4 is unknown
> [{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}]
! must not be part of a batch
> [{"jsonrpc":"2.0","id":6,"method":"ping"},{"jsonrpc":"2.0","id":6,"method":"ping"}]
! in flight
> []
! is a batch without messages`},
		{"2025-06-18", `
< {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"p":{"type":"string"}}}}}
> {"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"p":"x"}}}
< {"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}}
! "/params/mode" is unknown
> {"jsonrpc":"2.0","id":2,"result":{"action":"perhaps"}}
! ElicitResult
> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"n"}}
< {"jsonrpc":"2.0","id":3,"result":{"content":[],"structuredContent":{"a":1},"resultType":"complete"}}
! "/result/resultType" is unknown`},
		{"2025-11-25", `
> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","task":{"ttl":60}}}
< {"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t","status":"working","createdAt":"x","lastUpdatedAt":"x","ttl":null}}}
> {"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"t"}}
< {"jsonrpc":"2.0","id":2,"result":{"taskId":"t","status":"completed","createdAt":"x","lastUpdatedAt":"x","ttl":null,"_meta":{}}}
> {"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":"t"}}
< {"jsonrpc":"2.0","id":3,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}
> {"jsonrpc":"2.0","id":4,"method":"tasks/result","params":{"taskId":"t"}}
< {"jsonrpc":"2.0","id":4,"result":{"messages":[]}}
! CallToolResult
> {"jsonrpc":"2.0","id":5,"method":"tasks/result","params":{"taskId":"elsewhere"}}
< {"jsonrpc":"2.0","id":5,"result":{"messages":[]}}
> {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"n"}}
< {"jsonrpc":"2.0","id":6,"result":{"task":{"taskId":"t","status":"working","createdAt":"x","lastUpdatedAt":"x","ttl":null}}}
! CallToolResult
> {"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"n","task":{}}}
< {"jsonrpc":"2.0","id":8,"result":{"content":[]}}
> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"n"}}
< {"jsonrpc":"2.0","id":7,"error":{"code":-32042,"message":"m","data":{}}}
! URLElicitationRequiredError
< {"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}
< {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e","_meta":{}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.revision, func(t *testing.T) {
			run(t, NewRecorder(open(t, tt.revision)), tt.script)
		})
	}
}

func TestLineBreak(t *testing.T) {
	r := NewRecorder(open(t, "2025-06-18"))
	for _, frame := range []string{
		"{\"jsonrpc\":\"2.0\",\n\"id\":1,\"method\":\"ping\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\r",
	} {
		expect(t, r.Frame(true, []byte(frame)), "line break", frame)
	}
	// Bad requests are remembered, so their responses are not unexpected.
	run(t, r, `< {"jsonrpc":"2.0","id":1,"result":{}}`)
	if got, want := r.Pending(), []string{"ping", "ping"}; !slices.Equal(got, want) {
		t.Errorf("Pending() = %q, want %q", got, want)
	}
}

func TestConcurrency(t *testing.T) {
	const n = 50
	r := NewRecorder(open(t, "2025-06-18"))
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			call := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i)
			fromClient := i%2 == 0
			expect(t, r.Frame(fromClient, []byte(call)), "", call)
			expect(t, r.Frame(!fromClient, []byte(answer)), "", answer)
		})
	}
	wg.Wait()
	if got := r.Frames(); got != 2*n {
		t.Errorf("Frames() = %d, want %d", got, 2*n)
	}
}
