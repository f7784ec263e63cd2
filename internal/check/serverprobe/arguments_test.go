package serverprobe_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/sample"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
)

// What the user gives as examples is sent, all of it, as it is.
func TestExamplesAreUsed(t *testing.T) {
	examples, err := sample.ReadExamples("e.yaml", []byte(`
tools:
  add_numbers: [{a: 9007199254740993, b: 1}, {a: 2, b: 40}]
  write_note: [{text: never}]
prompts:
  greet: [{name: Ann}, {name: Bob}]
templates:
  "test://{id}/x": [{id: "a b"}]
resources: ["test://given"]
`))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sent strings.Builder
		judge(t, "2025-11-25", "stdio", nil, serverprobe.Options{Examples: examples, Heard: func(m *peer.Message) {
			mu.Lock()
			defer mu.Unlock()
			if m.Sent {
				sent.WriteString(string(m.Raw) + "\n")
			}
		}})
		mu.Lock()
		defer mu.Unlock()
		for _, want := range []string{
			`"arguments":{"a":9007199254740993,"b":1}`, `"arguments":{"a":2,"b":40}`, `"arguments":{"name":"Ann"}`, `"arguments":{"name":"Bob"}`,
			`"uri":"test://given"`, `"uri":"test://a%20b/x"`,
		} {
			if !strings.Contains(sent.String(), want) {
				t.Errorf("%s was not sent:\n%s", want, sent.String())
			}
		}
		if strings.Contains(sent.String(), "never") {
			t.Error("a tool was called that was not allowed")
		}
	})
}
