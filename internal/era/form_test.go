package era

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// A result that a handler returns as JSON is shaped like any other, and keeps its
// unknown members and every digit of its numbers.
func TestRawResults(t *testing.T) {
	const call = `{"com.example/x":[1.0,1e400],"content":[{"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"text","text":"\u0061","new":12345678901234567890}],` +
		`"structuredContent":[1.0],"resultType":"complete","_meta":{"com.example/k":1.50}}`
	for _, tt := range []struct {
		name, method, revision, result, want string
	}{
		{
			"a call, first revision", mcp.MethodCallTool, "2024-11-05", call,
			`{"com.example/x":[1.0,1e400],"content":[{"type":"text","text":"[audio, audio/wav, 1 bytes: this revision of the protocol has no audio content]"},` +
				`{"type":"text","text":"\u0061","new":12345678901234567890}],"_meta":{"com.example/k":1.50},"isError":false}`,
		},
		{
			"a call, stateless", mcp.MethodCallTool, "2026-07-28", call,
			`{"com.example/x":[1.0,1e400],"content":[{"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"text","text":"\u0061","new":12345678901234567890}],` +
				`"structuredContent":[1.0],"resultType":"complete","_meta":{"com.example/k":1.50,"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}}}`,
		},
		{
			"a list, first revision", mcp.MethodListTools, "2024-11-05",
			`{"tools":[{"name":"t","title":"T","inputSchema":{"type":"object","maximum":1.00},"x":1.0}],"ttlMs":5,"cacheScope":"public","more":true}`,
			`{"tools":[{"name":"t","inputSchema":{"type":"object","maximum":1.00},"x":1.0,"description":"T"}],"more":true}`,
		},
		{
			"a type of an extension", mcp.MethodCallTool, "2026-07-28", `{"resultType":"com.example/later","at":7.0}`,
			`{"resultType":"com.example/later","at":7.0,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}}}`,
		},
		{"a custom method in a session", "com.example/m", "2025-11-25", `{"a":1.0,"resultType":"x"}`, `{"a":1.0,"resultType":"x"}`},
		{
			"a custom method, stateless", "com.example/m", "2026-07-28", `{"a":1.0}`,
			`{"a":1.0,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := mcp.ParseRevision(tt.revision)
			f := form{facts: revision.Of(r), by: new(naming).brief(&mcp.Implementation{Name: "n", Version: "1"})}
			shaped, err := f.result(tt.method, json.RawMessage(tt.result))
			if err != nil {
				t.Fatal(err)
			}
			got, err := wire.Append(nil, shaped)
			if err != nil {
				t.Fatal(err)
			}
			if !sameMembers(t, string(got), tt.want) {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// sameMembers compares documents regardless of the order of their members.
func sameMembers(t *testing.T, a, b string) bool {
	t.Helper()
	x, errA := wire.Canonical([]byte(a))
	y, errB := wire.Canonical([]byte(b))
	return errA == nil && errB == nil && string(x) == string(y) || a == b
}

// A result that does not fit its method fails instead of going out.
func TestRawResultsAreChecked(t *testing.T) {
	f := form{facts: revision.Of(mcp.Revision20251125)}
	for _, result := range []string{`{"content":1}`, `[]`, `{"content":[{}]}`, `{"content":[],"content":[]}`} {
		if got, err := f.result(mcp.MethodCallTool, json.RawMessage(result)); err == nil {
			t.Errorf("%s went out as %s", result, got)
		}
	}
}

// Two parsers that disagree on which member counts are a smuggling hole, so no
// handler gets to see such params, in either era.
func TestCaseVariants(t *testing.T) {
	for _, params := range []string{`{"name":"a","Name":"b"}`, `{"Name":"b"}`, `{"name":"a","ARGUMENTS":{}}`, `{"name":"a","RequestState":"x"}`} {
		m := decode(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`)
		_, err := descriptorOf(m, revision.Default(nil, true))
		if err == nil || !strings.Contains(err.Error(), "differs only in case") {
			t.Errorf("%s: %v", params, err)
		}
	}
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","other":1,"Other":2}}`,
		`{"jsonrpc":"2.0","id":1,"method":"com.example/custom","params":{"Name":"b"}}`,
	} {
		if _, err := descriptorOf(decode(t, frame), revision.Default(nil, true)); err != nil {
			t.Errorf("%s: %v", frame, err)
		}
	}
}

// Results that are JSON already, such as those of middleware or of another server,
// get the cache hints that they must have, and wrong ones are corrected.
//
// Spec: 2026-07-28 server/utilities/caching#cacheable-results.
func TestCacheHintsOfRawResults(t *testing.T) {
	results := map[string]string{
		mcp.MethodListTools: `"tools":[]`, mcp.MethodListPrompts: `"prompts":[]`, mcp.MethodListResources: `"resources":[]`,
		mcp.MethodListTemplates: `"resourceTemplates":[]`, mcp.MethodReadResource: `"contents":[]`,
	}
	hints := []struct{ has, ttl, scope string }{
		{``, `0`, `"private"`},
		{`,"ttlMs":-5`, `0`, `"private"`},
		{`,"ttlMs":null,"cacheScope":null`, `0`, `"private"`},
		{`,"ttlMs":5,"cacheScope":"everybody"`, `5`, `"private"`},
		{`,"cacheScope":"public"`, `0`, `"public"`},
		{`,"ttlMs":5,"cacheScope":"public"`, `5`, `"public"`},
	}
	f := form{facts: revision.Of(mcp.Revision20260728), by: new(naming).brief(&mcp.Implementation{Name: "s", Version: "1"})}
	for method, members := range results {
		for _, hint := range hints {
			raw := json.RawMessage("{" + members + hint.has + "}")
			var decoded map[string]any
			if err := wire.Unmarshal(raw, &decoded); err != nil {
				t.Fatal(err)
			}
			for _, result := range []any{raw, decoded} {
				got, err := f.result(method, result)
				doc, _ := got.(json.RawMessage)
				if ttl, scope := string(wire.Find(doc, "ttlMs")), string(wire.Find(doc, "cacheScope")); err != nil || ttl != hint.ttl || scope != hint.scope {
					t.Errorf("%s: %s became %s, %v; want ttlMs %s and cacheScope %s", method, raw, doc, err, hint.ttl, hint.scope)
				}
			}
		}
		if got, err := f.result(method, json.RawMessage("{"+members+`,"ttlMs":"5"}`)); err == nil {
			t.Errorf("%s: a ttlMs that is no number became %s", method, got)
		}
	}
}
