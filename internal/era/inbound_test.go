package era

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// client is a transport that runs its functions synchronously, with one call, ID 1,
// and one subscription, ID 2.
type client struct {
	silent bool // requests are not answered here
	happen []string
}

func (c *client) note(format string, args ...any) {
	c.happen = append(c.happen, fmt.Sprintf(format, args...))
}

func (c *client) Notification(_ context.Context, m *jsonrpc.Message) {
	c.note("notified of %s", m.Method)
}

func (c *client) Request(_ context.Context, m *jsonrpc.Message) (any, *jsonrpc.Error) {
	if m.Method == "" {
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "nothing has no name")
	}
	return map[string]string{"to": m.Method}, nil
}

func (c *client) Resolve(m *jsonrpc.Message) bool {
	if m.ID != jsonrpc.IntID(1) {
		return false
	}
	c.note("answer to 1")
	return true
}

func (c *client) Fail(id jsonrpc.ID, _ error) bool {
	if id != jsonrpc.IntID(1) {
		return false
	}
	c.note("call 1 failed")
	return true
}

func (c *client) EndListen(id jsonrpc.ID) bool {
	if id != jsonrpc.IntID(2) {
		return false
	}
	c.note("subscription 2 ended")
	return true
}

func (c *client) Late(jsonrpc.ID) bool { return false }

func (c *client) Undelivered(err error) { c.note("undelivered: %v", err) }

func (c *client) complain(message string, args ...any) {
	if message == "message of the server ignored" {
		c.note("ignored %s%s", args[1], args[3])
		return
	}
	c.note("%s %v", message, args)
}

func (c *client) Answers() bool { return !c.silent }

func (*client) Context() context.Context { return context.Background() }

// take returns what happens to a frame.
func (c *client) take(t *testing.T, frame string) string {
	t.Helper()
	in := Inbound{
		Receiver: c,
		Complain: c.complain,
		Reply:    func(frame []byte) error { c.note("said %s", frame); return nil },
		Go:       func(f func()) bool { f(); return true },
		Refuse:   func(f func()) bool { f(); return true },
	}
	in.Take([]byte(frame), c)
	return strings.Join(c.happen, "; ")
}

func TestInbound(t *testing.T) {
	const said = `said {"jsonrpc":"2.0","id":7,`
	tests := []struct{ name, frame, want string }{
		{"an answer", `{"jsonrpc":"2.0","id":1,"result":{}}`, "answer to 1"},
		{"an ID as a string", `{"jsonrpc":"2.0","id":"1","result":{}}`, `answer to 1; the server answers with the ID as a string, which was sent as a number [id "1"]`},
		{"an ID as a string of another number", `{"jsonrpc":"2.0","id":"01","result":{}}`, `ignored "01"`},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":3,"result":{}}`, "ignored 3"},
		{"a malformed answer", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, "call 1 failed"},
		{"no JSON", `{`, "ignored "},
		{"a notification", `{"jsonrpc":"2.0","method":"n/x"}`, "notified of n/x"},
		{"a malformed notification", `{"jsonrpc":"2.0","method":"n/x","params":1}`, `ignored "n/x"`},
		{"a request", `{"jsonrpc":"2.0","id":7,"method":"q"}`, said + `"result":{"to":"q"}}`},
		{"a malformed request", `{"jsonrpc":"2.0","id":7,"method":"q","params":1}`, said + `"error":{"code":-32602,"message":"params must be a JSON object"}}`},
		{"the end of a subscription", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, "subscription 2 ended; notified of notifications/cancelled"},
		{"the end of a request that is over", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, "notified of notifications/cancelled"},
		{
			"a batch", `[{"jsonrpc":"2.0","id":7,"method":"q"},{"jsonrpc":"2.0","method":"n/x"},{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":8,"method":"q"},5]`,
			`notified of n/x; answer to 1; said [{"jsonrpc":"2.0","id":7,"result":{"to":"q"}},{"jsonrpc":"2.0","id":8,"result":{"to":"q"}}]; ignored `,
		},
		{"a batch that is none", `[`, "ignored "},
		{"an empty batch", `[]`, "ignored "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := new(client).take(t, tt.frame); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Where servers must not ask, nothing is answered, not even a part of a batch.
func TestInboundMustNotAnswer(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":7,"method":"q"}`
	for _, frame := range []string{request, "[" + request + "]"} {
		if got := (&client{silent: true}).take(t, frame); got != "ignored q7" {
			t.Errorf("%s: %s", frame, got)
		}
	}
}

// A request under an ID that is in use is refused, and so is one too many. The
// rest of a batch is answered all the same.
func TestInboundRefuses(t *testing.T) {
	c := new(client)
	var waiting []func()
	in := Inbound{
		Receiver: c,
		Complain: c.complain,
		Reply:    func(frame []byte) error { c.note("said %s", frame); return nil },
		Go:       func(f func()) bool { waiting = append(waiting, f); return true },
		Refuse:   func(func()) bool { return false }, // there is no room
	}
	in.Take([]byte(`[{"jsonrpc":"2.0","id":7,"method":"a"},{"jsonrpc":"2.0","id":7,"method":"b"}]`), c)
	waiting[0]()
	in.Refuse = func(f func()) bool { f(); return true }
	waiting = nil
	for i := range maxAsked + 1 {
		in.Take(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"q"}`, i), c)
	}
	if len(waiting) != maxAsked {
		t.Errorf("%d requests are answered at a time, want %d", len(waiting), maxAsked)
	}
	want := []string{
		"ignored b7",
		`said [{"jsonrpc":"2.0","id":7,"result":{"to":"a"}}]`,
		`said {"jsonrpc":"2.0","id":256,"error":{"code":-32603,"message":"too many requests at a time: the limit is 256"}}`,
	}
	if got := strings.Join(c.happen, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

var _ mcp.Receiver = (*client)(nil)
