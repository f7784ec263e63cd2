package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/mcp"
)

// A list that changes all the time is fetched, and told of, a few times a second at most,
// and what was said last is known in the end.
func TestListsThatChangeAllTheTime(t *testing.T) {
	for rate, seconds := range map[int]float64{10: 3, 10_000: 0.5} {
		t.Run(fmt.Sprint(rate, " a second"), func(t *testing.T) {
			cells(t, backend.Options{}, func(t *testing.T, s *stage) { changing(t, s, rate, seconds) })
		})
	}
}

func changing(t *testing.T, s *stage, rate int, seconds float64) {
	var fetched, version atomic.Int64
	over := make(chan struct{})
	change := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	s.via = newVillain(t, s.back, func(m *heard, send func(string)) bool {
		switch {
		case m.Method == mcp.MethodListTools:
			fetched.Add(1)
			send(answer(m, fmt.Sprintf(`{"resultType":"complete","tools":[%s],"ttlMs":3600000,"cacheScope":"private"}`, tool(fmt.Sprint("v", version.Load())))))
			return true
		case m.Method == mcp.MethodListen:
			meta := `"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(m.ID) + `}`
			send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + meta + `,"notifications":{"toolsListChanged":true}}}`)
			change = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + meta + `}}`
		case m.Method != mcp.MethodCallTool || stateless(s.back):
			return false
		}
		for range int(float64(rate) * seconds) {
			version.Add(1)
			send(change)
			pass(time.Second / time.Duration(rate))
		}
		close(over)
		return m.Method != mcp.MethodCallTool
	})
	var told atomic.Int64
	sub, err := s.c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(context.Context, client.Event) {
		told.Add(1)
		s.lists(t)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	go func() { _ = s.call(t, "bad__v0") }() // makes the connection; ends with the test
	pass(time.Second)
	s.answers(t)
	<-over
	pass(3 * time.Second)
	if n := told.Load(); n < 1 || n > 6 {
		t.Errorf("the client was told %d times in %g seconds", n, seconds)
	}
	if n := fetched.Load(); n > 12 {
		t.Errorf("the list was fetched %d times in %g seconds", n, seconds)
	}
	if names, _, _ := s.lists(t); !strings.Contains(names, fmt.Sprintf("bad__v%d ", version.Load())) {
		t.Errorf("in the end the list is %q, want version %d", names, version.Load())
	}
}

// A server that talks all the time fills neither the log nor the memory, and its calls are
// answered as well as those of others.
func TestTalksAllTheTime(t *testing.T) {
	cells(t, backend.Options{}, func(t *testing.T, s *stage) {
		const messages, calls = 60, 2
		long := strings.Repeat("x", 5000)
		s.via = newVillain(t, s.back, func(m *heard, send func(string)) bool {
			if m.Method != mcp.MethodCallTool {
				return false
			}
			for i := range messages {
				send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"emergency","data":"` + long + `"}}`)
				send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":%d,"message":"%s"}}`, i+100, i, long))
				send(`{"jsonrpc":"2.0","method":"notifications/com.example/news","params":{"n":"` + long + `"}}`)
				send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://none"}}`)
				if len(m.Params.Meta.Token) > 0 {
					send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, m.Params.Meta.Token, i))
				}
			}
			return false
		})
		answered := make(chan error, calls)
		for range calls { // so that nobody knows which one is meant
			go func() { answered <- s.call(t, "bad__write") }() // ends with the call
		}
		s.answers(t)
		for range calls {
			if err := <-answered; err != nil {
				t.Errorf("a call fails: %v", err)
			}
		}
		if n, size := s.logged.records.Load(), s.logged.bytes.Load(); n > 60 || size > 200_000 {
			t.Errorf("%d records of %d bytes are logged", n, size)
		}
	})
}
