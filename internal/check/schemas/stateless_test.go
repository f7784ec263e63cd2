package schemas

import (
	"strings"
	"testing"
)

// meta is what every request of 2026-07-28 carries.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func TestStateless(t *testing.T) {
	script := `
> {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META}}
< {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}
> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"n",META}}
< {"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","requestState":"x","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}}}
> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"n","requestState":"x","inputResponses":{"a":{"action":"accept","content":{}}},META}}
< {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"structuredContent":[1]}}
> {"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},META}}
< {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
< {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
< {"jsonrpc":"2.0","id":"l","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
> {"jsonrpc":"2.0","id":3,"method":"tools/list","params":{META}}
< {"jsonrpc":"2.0","id":3,"error":{"code":-32022,"message":"m","data":{"supported":["2026-07-28"],"requested":"1900-01-01"}}}
< {"jsonrpc":"2.0","error":{"code":-32020,"message":"m"}}

> {"jsonrpc":"2.0","id":10,"method":"tools/list","params":{}}
! ListToolsRequest
! _meta
< {"jsonrpc":"2.0","id":10,"result":{"tools":[],"ttlMs":0,"cacheScope":"public"}}
! resultType
> {"jsonrpc":"2.0","id":11,"method":"tools/list"}
! params
< {"jsonrpc":"2.0","id":11,"result":{"resultType":"input_required","requestState":"x"}}
! resultType "input_required" must not answer method "tools/list"
> {"jsonrpc":"2.0","id":12,"method":"prompts/get","params":{"name":"n",META}}
< {"jsonrpc":"2.0","id":12,"result":{"resultType":"input_required"}}
! needs "inputRequests" or "requestState"
> {"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"name":"n",META}}
< {"jsonrpc":"2.0","id":13,"result":{"resultType":"task","content":[]}}
! resultType "task" of the answer to "tools/call" is none of
> {"jsonrpc":"2.0","id":14,"method":"tools/call","params":{"name":"n",META}}
< {"jsonrpc":"2.0","id":14,"error":{"code":-32021,"message":"m","data":{}}}
! MissingRequiredClientCapabilityError
> {"jsonrpc":"2.0","id":15,"method":"tools/call","params":{"name":"n",META}}
< {"jsonrpc":"2.0","id":15,"error":{"code":-32042,"message":"m"}}
! error code -32042 must not be used
> {"jsonrpc":"2.0","id":19,"method":"resources/read","params":{"uri":"a:b",META}}
< {"jsonrpc":"2.0","id":19,"error":{"code":-32002,"message":"m"}}
! error code -32002 must not be used
> {"jsonrpc":"2.0","id":16,"method":"tools/call","params":{"name":"n",META}}
< {"jsonrpc":"2.0","id":16,"result":{"resultType":"complete","content":[],"ttlMs":1}}
! "/result/ttlMs" is unknown to "CallToolResult"
< {"jsonrpc":"2.0","id":17,"method":"roots/list","params":{}}
! the server sends no requests
> {"jsonrpc":"2.0","id":18,"method":"ping","params":{META}}
! method "ping" is not in revision 2026-07-28 for the client→server direction
> {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}
! is not in revision`
	r := NewRecorder(open(t, "2026-07-28"))
	run(t, r, strings.ReplaceAll(script, "META", meta))
}

func TestAllow(t *testing.T) {
	r := NewRecorder(open(t, "2026-07-28"))
	r.Allow("tasks/get", "notifications/custom")
	r.AllowResultTypes("task")
	run(t, r, strings.ReplaceAll(`
> {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t",META}}
< {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","any":{"thing":1}}}
> {"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"t"}}
! RequestParams
< {"jsonrpc":"2.0","id":2,"result":{"any":1}}
! resultType
> {"jsonrpc":"2.0","id":3,"method":"tasks/get","extra":1}
! RequestParams
! "/extra" is unknown
< {"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"m"}}
< {"jsonrpc":"2.0","method":"notifications/custom","params":{"a":1}}
< {"jsonrpc":"2.0","method":"notifications/custom","extra":1}
! "/extra" is unknown
< {"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{}}
! the server sends no requests
> {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"n",META}}
< {"jsonrpc":"2.0","id":5,"result":{"resultType":"task","taskId":"t"}}
`, "META", meta))

	r = NewRecorder(open(t, "2025-06-18"))
	r.Allow("custom/method")
	run(t, r, `
< {"jsonrpc":"2.0","id":1,"method":"custom/method","params":{"a":1}}
> {"jsonrpc":"2.0","id":1,"result":{"b":1}}
> {"jsonrpc":"2.0","method":"custom/method"}`)
}
