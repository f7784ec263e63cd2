package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
)

func seed(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1.50},"_meta":{"progressToken":"t"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0061"}}`,
		`{"jsonrpc":"2.0","id":"é","result":{"a":[1,2,{"b":null}]}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x","data":{"d":1}}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},3]`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"ExampleClient","title":"Example","version":"1.0.0"}}}`,
		`{"jsonrpc":"2.0","id":"d-1","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"login":{"method":"elicitation/create","params":{"mode":"form","message":"Your user name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}},"requestState":"AEAD"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_weather","arguments":{"location":"New York"},"inputResponses":{"login":{"action":"accept","content":{"name":"octocat"}}},"requestState":"AEAD"}}`,
		`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"abc123","progress":50,"total":100,"message":"Reticulating splines..."}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"1900-01-01"}}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"Header mismatch: Mcp-Name header value 'foo' does not match body value 'bar'"}}`,
		`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}},{"jsonrpc":"2.0","method":"notifications/initialized"}]`,
		`{"jsonrpc":"2.0","id":-0,"method":"x"}`, `{"id":1,"id":1}`, "\xff", `[]`, ` `,
	} {
		f.Add([]byte(s))
	}
}

// Whatever is accepted keeps its meaning when it is encoded and decoded again,
// and an independent parser agrees that it is JSON.
func FuzzDecode(f *testing.F) {
	seed(f)
	var dec jsonrpc.Decoder
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := dec.Decode(bytes.Clone(frame))
		if err != nil {
			return
		}
		if !json.Valid(frame) {
			t.Fatalf("accepted what encoding/json refuses: %q", frame)
		}
		out, err := jsonrpc.Append(nil, m)
		if err != nil {
			t.Fatalf("Append: %v", err)
		}
		if bytes.ContainsAny(out, "\n\r") {
			t.Fatalf("a newline in %q", out)
		}
		again, err := dec.Decode(out)
		if err != nil {
			t.Fatalf("own output refused: %v: %s", err, out)
		}
		if again.Kind != m.Kind || again.ID != m.ID || again.Method != m.Method {
			t.Fatalf("changed on the way: %+v, then %+v", m, again)
		}
		twice, err := jsonrpc.Append(nil, again)
		if err != nil || !bytes.Equal(out, twice) {
			t.Fatalf("encoding is not stable: %s, then %s (%v)", out, twice, err)
		}
	})
}

func FuzzDecodeBatch(f *testing.F) {
	seed(f)
	var dec jsonrpc.Decoder
	f.Fuzz(func(t *testing.T, frame []byte) {
		entries, err := dec.DecodeBatch(frame)
		if err == nil && len(entries) == 0 {
			t.Fatal("an empty batch was accepted")
		}
		for _, e := range entries {
			if e.Message == nil {
				t.Fatal("an entry without a message")
			}
		}
	})
}
