package era

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

func TestChangeFrame(t *testing.T) {
	meta := json.RawMessage(`{"a/b":1}`)
	for _, tt := range []struct {
		change mcp.Change
		meta   json.RawMessage
		params string
	}{
		{mcp.Change{Kind: mcp.ToolsChanged}, nil, ""},
		{mcp.Change{Kind: mcp.PromptsChanged}, meta, `{"_meta":{"a/b":1}}`},
		{mcp.Change{Kind: mcp.ResourcesChanged}, nil, ""},
		{mcp.Change{Kind: mcp.ResourceUpdated, URI: "a://\"b"}, nil, `{"uri":"a://\"b"}`},
		{mcp.Change{Kind: mcp.ResourceUpdated, URI: "a://b"}, meta, `{"_meta":{"a/b":1},"uri":"a://b"}`},
	} {
		m := &jsonrpc.Message{Kind: jsonrpc.Notification, Method: changeMethods[tt.change.Kind]}
		if tt.params != "" {
			m.Params = json.RawMessage(tt.params)
		}
		want, err := jsonrpc.Append(nil, m)
		if got := changeFrame(tt.change, tt.meta); err != nil || string(got) != string(want) {
			t.Errorf("%+v: got %s, want %s (%v)", tt.change, got, want, err)
		}
	}
}

// However many changes are queued, each is queued once, in the order in which they
// came; the first one wakes the sender.
func TestChangesWaitOnce(t *testing.T) {
	for _, n := range []int{1, 2, 15, 16, 17, 18, 100} {
		woken := 0
		q := changes{wake: func() { woken++ }}
		for range 2 { // a change that was taken may come again
			for range 3 {
				for i := range n {
					q.add(mcp.Change{Kind: mcp.ResourceUpdated, URI: strconv.Itoa(i)})
				}
			}
			taken := q.take()
			if len(taken) != n {
				t.Fatalf("of %d changes %d wait", n, len(taken))
			}
			for i, c := range taken {
				if c.URI != strconv.Itoa(i) {
					t.Errorf("change %d of %d is %s", i, n, c.URI)
				}
			}
		}
		if woken != 2 || len(q.take()) > 0 {
			t.Errorf("%d changes, twice: woken %d times", n, woken)
		}
	}
}
