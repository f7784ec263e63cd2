package stream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// sleeps are handlers that take as long as their name says.
var sleeps = methods{
	"150µs": func(context.Context, *mcp.Exchange) (any, error) { wait(150 * time.Microsecond); return nil, nil },
	"1ms":   func(context.Context, *mcp.Exchange) (any, error) { wait(time.Millisecond); return nil, nil },
	"100ms": func(context.Context, *mcp.Exchange) (any, error) { wait(100 * time.Millisecond); return nil, nil },
}

// patience is how long a request can hold up the ones after it.
const patience = 5 * time.Millisecond

func TestPingWhileARequestIsServed(t *testing.T) {
	onWire(t, sleeps, func(t *testing.T, w *wire) {
		w.say(t, request(1, "100ms"))
		w.say(t, request(2, "ping"))
		wait(patience)
		want(t, "after 5 ms", w.took(), answer(2))
		w.say(t, request(3, "ping"))
		want(t, "then", w.took(), answer(3))
		wait(95 * time.Millisecond)
		want(t, "after 100 ms", w.took(), answer(1))
	})
}

func TestSlowRequestsAreServedSideBySide(t *testing.T) {
	for method, most := range map[string]time.Duration{"1ms": 3 * time.Millisecond, "100ms": 105 * time.Millisecond} {
		onWire(t, sleeps, func(t *testing.T, w *wire) {
			const n = 50
			for i := range n {
				w.say(t, request(i, method))
			}
			wait(most)
			if got := strings.Count(strings.Join(w.took(), ""), "\n"); got != n {
				t.Errorf("%d of %d requests of %s were answered after %v", got, n, method, most)
			}
		})
	}
}

// The client's answer is read at once, by a different goroutine than the one
// that waits for it.
func TestQuestionOfARequest(t *testing.T) {
	h := methods{"ask": func(ctx context.Context, x *mcp.Exchange) (any, error) {
		answers, err := x.Back.Input(ctx, mcp.InputRequest{Key: "k", Method: mcp.MethodRoots})
		if err != nil {
			return nil, err
		}
		return map[string]json.RawMessage{"got": answers[0]}, nil
	}}
	onWire(t, h, func(t *testing.T, w *wire) {
		start := time.Now()
		w.say(t, request(1, "ask"))
		asked := w.took()
		if len(asked) != 1 || !strings.Contains(asked[0], `"roots/list"`) {
			t.Fatalf("the server wrote %q, want a question", asked)
		}
		var question struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(asked[0]), &question); err != nil {
			t.Fatal(err)
		}
		w.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`, question.ID))
		want(t, "after the answer", w.took(), `{"jsonrpc":"2.0","id":1,"result":{"got":{"roots":[]}}}`+"\n")
		if d := time.Since(start); d != 0 {
			t.Errorf("it took %v, want no time", d)
		}
	})
}

func TestAnswersGoOutTogether(t *testing.T) {
	for name, tt := range map[string]struct{ lines, writes []string }{
		"requests": {
			[]string{request(1, "ping"), request(2, "ping"), request(3, "ping"), ""},
			[]string{answer(1) + answer(2) + answer(3)},
		},
		"blank lines follow": {
			[]string{request(1, "ping"), request(2, "ping"), "", " \r", ""},
			[]string{answer(1) + answer(2)},
		},
		"a notification follows": {
			[]string{request(1, "ping"), request(2, "ping"), `{"jsonrpc":"2.0","method":"notifications/x"}`, ""},
			[]string{answer(1) + answer(2)},
		},
		"half a request follows": {
			[]string{request(1, "ping"), request(2, "ping"), `{"jsonrpc":`},
			[]string{answer(1) + answer(2)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			onWire(t, sleeps, func(t *testing.T, w *wire) {
				if _, err := io.WriteString(w, strings.Join(tt.lines, "\n")); err != nil {
					t.Fatal(err)
				}
				want(t, name, w.took(), tt.writes...)
			})
		})
	}
}

// A refusal goes out after the answer that was kept back before it. Two
// goroutines write them, so it may or may not be in the same write.
func TestRefusalFollowsKeptAnswer(t *testing.T) {
	refusal := `{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"method must be a non-empty string"}}` + "\n"
	onWire(t, sleeps, func(t *testing.T, w *wire) {
		lines := []string{request(1, "ping"), `{"jsonrpc":"2.0","id":2,"method":5}`, request(3, "ping"), ""}
		if _, err := io.WriteString(w, strings.Join(lines, "\n")); err != nil {
			t.Fatal(err)
		}
		want(t, "in all", []string{strings.Join(w.took(), "")}, answer(1)+refusal+answer(3))
	})
}

// Answers do not wait long for others.
func TestAnswersGoOutBeforeLong(t *testing.T) {
	onWire(t, sleeps, func(t *testing.T, w *wire) {
		var lines []string
		for range 10 {
			lines = append(lines, request(1, "150µs"))
		}
		w.say(t, lines...)
		wait(1050 * time.Microsecond)
		want(t, "after 1.05 ms", w.took(), strings.Repeat(answer(1), 7))
		wait(450 * time.Microsecond)
		want(t, "after 1.5 ms", w.took(), strings.Repeat(answer(1), 3))
	})
}

// An answer does not wait for the request after it.
func TestAnswerBeforeASlowRequest(t *testing.T) {
	onWire(t, sleeps, func(t *testing.T, w *wire) {
		w.say(t, request(1, "ping"), request(2, "100ms"), request(3, "ping"))
		wait(patience)
		want(t, "after 5 ms", w.took(), answer(1), answer(3))
		wait(95 * time.Millisecond)
		want(t, "after 100 ms", w.took(), answer(2))
	})
}

// Nor does it wait for notifications, of which only a bounded number is read
// ahead of being served.
func TestAnswerBeforeNotifications(t *testing.T) {
	var over chan struct{}
	h := methods{"notifications/x": func(context.Context, *mcp.Exchange) (any, error) { <-over; return nil, nil }}
	onWire(t, h, func(t *testing.T, w *wire) {
		over = make(chan struct{})
		lines := []string{request(1, "ping")}
		for range 300 {
			lines = append(lines, `{"jsonrpc":"2.0","method":"notifications/x"}`)
		}
		w.say(t, append(lines, request(2, "ping"))...)
		want(t, "meanwhile", w.took(), answer(1))
		close(over)
		want(t, "then", w.took(), answer(2))
	})
}

// Answers that are kept back go out before the connection ends.
func TestAnswersOfAServerThatEnds(t *testing.T) {
	h := methods{}
	onWire(t, h, func(t *testing.T, w *wire) {
		h["stop"] = func(ctx context.Context, _ *mcp.Exchange) (any, error) {
			w.stop()
			<-ctx.Done()
			return nil, nil
		}
		w.say(t, request(1, "ping"), request(2, "stop"), request(3, "ping"))
		if got := strings.Join(w.took(), ""); !strings.HasPrefix(got, answer(1)+answer(2)) {
			t.Errorf("the server wrote %q", got)
		}
	})
}

// The server keeps reading from a client that does not read: it may want to send
// everything first.
func TestClientThatDoesNotRead(t *testing.T) {
	for name, first := range map[string][]string{
		"one answer":   {request(1, "ping")},
		"kept answers": {request(1, "ping"), request(2, "ping"), `{"jsonrpc":"2.0","method":"notifications/x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			served := make(chan struct{})
			h := methods{"late": func(context.Context, *mcp.Exchange) (any, error) { close(served); return nil, nil }}
			onWire(t, h, func(t *testing.T, w *wire) {
				w.stuck = make(chan struct{})
				w.say(t, first...)
				wait(patience)
				w.say(t, request(3, "late"))
				<-served
				close(w.stuck)
				if got := strings.Join(w.took(), ""); !strings.HasSuffix(got, answer(3)) {
					t.Errorf("the server wrote %q", got)
				}
			})
		})
	}
}

// A handler that ends its goroutine does not end the connection.
func TestHandlerThatEndsItsGoroutine(t *testing.T) {
	h := methods{"exit": func(context.Context, *mcp.Exchange) (any, error) { runtime.Goexit(); return nil, nil }}
	onWire(t, h, func(t *testing.T, w *wire) {
		w.say(t, request(1, "ping"), request(2, "exit"), request(3, "ping"))
		want(t, "after it", w.took(), answer(1), answer(3))
		w.say(t, request(2, "ping"))
		want(t, "its ID again", w.took(), answer(2))
	})
}
