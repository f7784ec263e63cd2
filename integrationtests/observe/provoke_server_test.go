package observe_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
	"github.com/parley-mcp/parley/transport/stdio"
)

// idle is the tool of a server that is not called.
func idle(context.Context, *server.Call) {}

func malformedNotification(t *testing.T, o observers) {
	p := clientOf(t, with(idle, nil), o)
	p.initialize()
	p.say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":5}`)
}

func longLine(t *testing.T, o observers) {
	opts := o.serve()
	opts.MaxMessageBytes = 64
	long := `{"jsonrpc":"2.0","method":"notifications/x","params":{"text":"` + strings.Repeat("x", 64) + `"}}` + "\n"
	if err := stdio.ServeOn(t.Context(), with(idle, nil), strings.NewReader(long), io.Discard, &opts); err != nil {
		t.Error(err)
	}
}

func earlyNotification(t *testing.T, o observers) {
	clientOf(t, with(idle, nil), o).say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
}

func unaskedAnswer(t *testing.T, o observers) {
	p := clientOf(t, with(idle, nil), o)
	p.initialize()
	p.say(`{"jsonrpc":"2.0","id":99,"result":{}}`)
}

func progressWithoutToken(t *testing.T, o observers) {
	calling(t, o, "", nil, func(ctx context.Context, call *server.Call) { call.Progress(ctx, 1, 2, "") })
}

func progressTooSoon(t *testing.T, o observers) {
	calling(t, o, wantsProgress, nil, func(ctx context.Context, call *server.Call) {
		call.Progress(ctx, 1, 9, "")
		call.Progress(ctx, 2, 9, "")
	})
}

func progressBackwards(t *testing.T, o observers) {
	calling(t, o, wantsProgress, &server.Options{ProgressInterval: -1}, func(ctx context.Context, call *server.Call) {
		call.Progress(ctx, 2, 9, "")
		call.Progress(ctx, 1, 9, "")
	})
}

func progressWithoutForm(t *testing.T, o observers) {
	calling(t, o, wantsProgress, nil, func(ctx context.Context, call *server.Call) { call.Progress(ctx, math.NaN(), 9, "") })
}

// calling calls a tool, and returns when its answer has come.
func calling(t *testing.T, o observers, meta string, opts *server.Options, tool func(ctx context.Context, call *server.Call)) {
	t.Helper()
	p := clientOf(t, with(tool, opts), o)
	p.initialize()
	p.call(meta)
	p.hear(`"id":1`)
}

func answerToANotification(t *testing.T, o observers) {
	s := with(idle, nil)
	s.HandleNotification("notifications/x", func(ctx context.Context, call *server.Call, _ json.RawMessage) {
		if call.Notify(ctx, "notifications/y", nil) == nil {
			t.Error("a notification was answered")
		}
	})
	p := clientOf(t, s, o)
	p.initialize()
	p.say(`{"jsonrpc":"2.0","method":"notifications/x"}`)
}

func notificationAfterTheAnswer(t *testing.T, o observers) {
	kept := make(chan *server.Call, 1)
	calling(t, o, "", nil, func(_ context.Context, call *server.Call) { kept <- call })
	if (<-kept).Notify(context.Background(), "notifications/y", nil) == nil {
		t.Error("a notification went out after the answer")
	}
}

func resultOfACancelledCall(t *testing.T, o observers) {
	p := clientOf(t, with(func(ctx context.Context, _ *server.Call) { <-ctx.Done() }, nil), o)
	p.initialize()
	p.call("")
	synctest.Wait()
	p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	pass(time.Second) // until another goroutine reads
}

// subscribed returns a server that keeps changes back for long, and a client
// that watches one of its resources.
func subscribed(t *testing.T, o observers) (*server.Server, *peer) {
	t.Helper()
	s := with(idle, &server.Options{Subscriptions: true})
	p := clientOf(t, s, o)
	p.initialize()
	p.say(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x:a"}}`)
	p.hear(`"id":1`)
	return s, p
}

func changeAfterUnsubscribing(t *testing.T, o observers) {
	s, p := subscribed(t, o)
	s.ResourceUpdated("x:a")
	p.say(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"x:a"}}`)
	p.hear(`"id":2`)
	pass(time.Second) // changes are told after a window
}

func changeTwice(t *testing.T, o observers) {
	s, p := subscribed(t, o)
	s.ResourceUpdated("x:a")
	s.ResourceUpdated("x:a")
	p.hear("resources/updated")
}

func changeBeforeTheEnd(t *testing.T, o observers) {
	s, p := subscribed(t, o)
	s.ResourceUpdated("x:a")
	p.close()
}

// clientThatIsGone is noticed by the notification that cannot be written.
func clientThatIsGone(t *testing.T, o observers) {
	s := with(func(ctx context.Context, call *server.Call) {
		if call.Notify(ctx, "notifications/y", nil) == nil {
			t.Error("a notification was written")
		}
	}, nil)
	near, far := frames.Pipe()
	gone := &failing{Conn: far}
	ended := make(chan struct{})
	go func() { // ends with the connection
		defer close(ended)
		_ = frames.Serve(context.Background(), s, gone, &frames.Options{ServeOptions: o.serve()}) // how it ends is not what this is about
	}()
	p := &peer{t, near, func() { <-ended }}
	p.initialize()
	p.call("")
	synctest.Wait()
	p.close()
}

// failing cannot write notifications.
type failing struct{ frames.Conn }

func (f *failing) Write(frame []byte) error {
	if strings.Contains(string(frame), "notifications/y") {
		return errors.New("gone")
	}
	return f.Conn.Write(frame)
}
