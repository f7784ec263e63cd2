package observe_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

func requestOfAStatelessServer(t *testing.T, o observers) {
	_, p := statelessOf(t, o)
	p.say(`{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}`)
}

func progressOfNoCall(t *testing.T, o observers) {
	_, p := sessionOf(t, o)
	p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99,"progress":1}}`)
}

func changeForNobody(t *testing.T, o observers) {
	_, p := statelessOf(t, o)
	p.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":99}}}`)
}

func notificationWithoutTaker(t *testing.T, o observers) {
	_, p := sessionOf(t, o)
	p.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
}

func cancelledCall(t *testing.T, o observers) {
	c, p := sessionOf(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends when the call has come
		p.hear("tools/call")
		cancel()
	}()
	if _, err := c.CallTool(ctx, "t", nil); err == nil {
		t.Error("the call has an answer")
	}
}

// progressForASlowListener: the second waits for the listener when the third
// comes.
func progressForASlowListener(t *testing.T, o observers) {
	c, p := sessionOf(t, o)
	release := make(chan struct{})
	called := make(chan error, 1)
	go func() { // ends with the call
		_, err := c.CallTool(t.Context(), "t", nil, client.WithProgress(func(*mcp.ProgressParams) { <-release }))
		called <- err
	}()
	p.hear("tools/call")
	for i := range 3 {
		p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, i+1)
		synctest.Wait()
	}
	close(release)
	p.say(`{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`)
	if err := <-called; err != nil {
		t.Error(err)
	}
}
