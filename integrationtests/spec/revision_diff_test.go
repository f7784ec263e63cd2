package spec_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// The changelogs as tests: one for each entry that changes the wire, in the
// order of the pages. What an entry adds exists in its revision and after, and
// not before (or the other way round for removals).

// text joins the frames of one side.
func text(r *mcptest.Recorder, fromClient bool) string {
	var b strings.Builder
	for _, f := range r.Frames() {
		if f.FromClient == fromClient {
			b.Write(f.JSON)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestChangelogs(t *testing.T) {
	lines := []struct {
		changelog  string // revision, section, number
		change     string
		fromClient bool
		text       string // what is on the wire
		from, to   mcp.Revision
	}{
		{"2025-03-26 major 4", "tool annotations", false, `"readOnlyHint":true`, mcp.Revision20250326, mcp.Revision20260728},
		{"2025-03-26 other", "progress has a message", false, `"message":"half"`, mcp.Revision20250326, mcp.Revision20260728},
		{"2025-03-26 other", "audio content", false, `"type":"audio"`, mcp.Revision20250326, mcp.Revision20260728},
		{"2025-03-26 other", "completions capability", false, `"completions":{}`, mcp.Revision20250326, mcp.Revision20260728},
		{"2025-06-18 major 2", "structured tool output", false, `"structuredContent":{"a":1}`, mcp.Revision20250618, mcp.Revision20260728},
		{"2025-06-18 major 2", "output schemas", false, `"outputSchema":`, mcp.Revision20250618, mcp.Revision20260728},
		{"2025-06-18 major 6", "elicitation is declared", true, `"elicitation":{`, mcp.Revision20250618, mcp.Revision20260728},
		{"2025-06-18 major 6", "elicitation", false, `"method":"elicitation/create"`, mcp.Revision20250618, mcp.Revision20260728},
		{"2025-06-18 major 7", "resource links", false, `"type":"resource_link"`, mcp.Revision20250618, mcp.Revision20260728},
		{"2025-06-18 other 1", "_meta on more types", false, `"com.example/k":1`, mcp.Revision20241105, mcp.Revision20260728}, // results always had it
		{"2025-06-18 other 1", "lastModified", false, `"lastModified":`, mcp.Revision20250618, mcp.Revision20260728},
		{"2025-06-18 other 2", "completion knows other arguments", true, `"context":{"arguments":`, mcp.Revision20250618, mcp.Revision20260728},
		{"2025-06-18 other 3", "titles", false, `"title":"All"`, mcp.Revision20250618, mcp.Revision20260728},
		{"2025-11-25 major 2", "icons", false, `"icons":[`, mcp.Revision20251125, mcp.Revision20260728},
		{"2025-11-25 major 5", "titled choices", false, `"oneOf":[{"const":"r","title":"Red"}`, mcp.Revision20251125, mcp.Revision20260728},
		{"2025-11-25 major 6", "URL elicitation", false, `"mode":"url"`, mcp.Revision20251125, mcp.Revision20260728},
		{"2025-11-25 major 7", "sampling with tools", true, `"sampling":{"tools":{}`, mcp.Revision20251125, mcp.Revision20260728},
		{"2025-11-25 minor 2", "implementations have a description", true, `"description":"d"`, mcp.Revision20251125, mcp.Revision20260728},
		{"2025-11-25 minor 9", "defaults in forms", false, `"default":"Ann"`, mcp.Revision20251125, mcp.Revision20260728},
		{"2026-07-28 major 2", "initialize is gone", true, `"method":"initialize"`, mcp.Revision20241105, mcp.Revision20251125},
		{"2026-07-28 major 2", "requests carry the revision", true, `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 major 2", "results name the server", false, `"io.modelcontextprotocol/serverInfo":{"name":"everything"`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 major 3", "server/discover", true, `"method":"server/discover"`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 major 4", "resources/subscribe is gone", true, `"method":"resources/subscribe"`, mcp.Revision20241105, mcp.Revision20251125},
		{"2026-07-28 major 4", "subscriptions/listen", true, `"method":"subscriptions/listen"`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 major 4", "subscriptions are acknowledged", false, `"method":"notifications/subscriptions/acknowledged"`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 major 4", "notifications are tagged", false, `"io.modelcontextprotocol/subscriptionId":`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 major 5", "ping is gone", true, `"method":"ping"`, mcp.Revision20241105, mcp.Revision20251125},
		{"2026-07-28 major 5", "logging/setLevel is gone", true, `"method":"logging/setLevel"`, mcp.Revision20241105, mcp.Revision20251125},
		{"2026-07-28 major 5", "requests carry the log level", true, `"io.modelcontextprotocol/logLevel":"debug"`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 major 5", "roots/list_changed is gone", true, `"method":"notifications/roots/list_changed"`, mcp.Revision20241105, mcp.Revision20251125},
		{"2026-07-28 major 7", "the server sends no requests", false, `,"method":"roots/list"`, mcp.Revision20241105, mcp.Revision20251125},
		{"2026-07-28 major 7", "multi round-trip requests", false, `"resultType":"input_required"`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 major 7", "retries carry answers", true, `"inputResponses":{`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 major 8", "results have a type", false, `"resultType":"complete"`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 minor 1", "extensions of the server", false, `"extensions":{"com.example/x":{"a":1}}`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 minor 1", "extensions of the client", true, `"extensions":{"com.example/x":{}`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 minor 2", "trace context passes in every revision", true, `"traceparent":"00-`, mcp.Revision20241105, mcp.Revision20260728},
		{"2026-07-28 minor 5", "caching hints", false, `"cacheScope":"private"`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 minor 6", "resource not found was -32002", false, `"code":-32002`, mcp.Revision20241105, mcp.Revision20251125},
		{"2026-07-28 minor 10", "structured content of any type", false, `"structuredContent":[1,2]`, mcp.Revision20260728, mcp.Revision20260728},
		{"2026-07-28 minor 11", "elicitationId was in one revision", false, `"elicitationId":`, mcp.Revision20251125, mcp.Revision20251125},
		{"2026-07-28 minor 11", "elicitation/complete was in one revision", false, `"method":"notifications/elicitation/complete"`, mcp.Revision20251125, mcp.Revision20251125},
	}
	modes := mcptest.AllModes()
	said := map[mcptest.Mode]*mcptest.Recorder{}
	for _, m := range modes {
		said[m] = conversation(t, m)
	}
	for _, l := range lines {
		t.Run(l.changelog+" "+l.change, func(t *testing.T) {
			for _, m := range modes {
				in := within(m.Revision, l.from, l.to)
				if has := strings.Contains(text(said[m], l.fromClient), l.text); has != in {
					t.Errorf("%s: %s travels: %v, want %v", m, l.text, has, in)
				}
			}
		})
	}
}

// within reports whether a revision is one of those from one to another.
func within(r, from, to mcp.Revision) bool {
	all := mcp.Revisions()
	i := slices.Index(all, r)
	return slices.Index(all, from) <= i && i <= slices.Index(all, to)
}

// Spec: 2025-03-26 changelog: major 3, and 2025-06-18 changelog: major 1.
func TestChangelogBatches(t *testing.T) {
	for _, r := range mcp.Revisions()[:4] {
		got := script(t, r, `[{"jsonrpc":"2.0","id":5,"method":"ping"}]`)
		if accepted := strings.Contains(got, `[{"jsonrpc":"2.0","id":5,"result":{}}]`); accepted != (r == mcp.Revision20250326) {
			t.Errorf("%s: %s", r, got)
		}
	}
}

// Spec: 2025-11-25 changelog: minor 5. The older revisions leave it open, and
// a model can act on a result better than its host on an error.
func TestChangelogInvalidInputIsAToolError(t *testing.T) {
	for _, r := range mcp.Revisions() {
		c := mcptest.Connect(t, adder(), mcptest.Mode{Revision: r, Transport: mcptest.Memory}, nil)
		res, err := c.CallTool(t.Context(), "add", map[string]any{"a": 1})
		if err != nil || !res.IsError {
			t.Errorf("%s: %+v, %v", r, res, err)
		}
	}
}

// Spec: 2026-07-28 changelog: minor 3.
func TestChangelogDeterministicOrder(t *testing.T) {
	c := mcptest.Connect(t, everything(), mcptest.Mode{Revision: mcp.Revision20260728, Transport: mcptest.Memory}, &client.Options{NoCache: true})
	var first string
	for range 5 {
		tools, err := client.Collect(c.Tools(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		var names strings.Builder
		for _, tool := range tools {
			names.WriteString(tool.Name + " ")
		}
		if first == "" {
			first = names.String()
		}
		if names.String() != first {
			t.Errorf("order changed from %s to %s", first, names.String())
		}
	}
}

// script sends one more line in a session of the revision and returns the
// server's response.
func script(t *testing.T, r mcp.Revision, line string) string {
	t.Helper()
	var answers []string
	got := make(chan struct{})
	var once sync.Once
	transport := &mcptest.Transport{Handler: adder(), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	raw := mcptest.Raw(t, transport, func(frame []byte) {
		answers = append(answers, string(frame))
		if len(answers) == 2 {
			once.Do(func() { close(got) })
		}
	})
	raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, r))
	raw(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	raw(line)
	<-got
	return answers[1]
}
