package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// chatty is a server whose calls say a lot.
func chatty() mcp.Handler {
	return serving(func(ctx context.Context, x *mcp.Exchange) (any, error) {
		for i := range 3 {
			for _, note := range []struct{ method, params string }{
				{mcp.NoteProgress, `{"progress":%d.0,"com.example/x":1.0}`},
				{mcp.NoteMessage, `{"level":"info","data":{"n":%d.0},"com.example/x":1.0}`},
				{"notifications/com.example/news", `{"n":%d.0,"_meta":{"com.example/k":1.0}}`},
			} {
				if err := x.Back.Notify(ctx, note.method, raw(note.params, i)); err != nil {
					return nil, err
				}
			}
		}
		return raw(`{"content":[]}`), nil
	})
}

// One call can take its notifications as they were sent, in order and before it
// returns, with the unknown members and the text of numbers. They then go
// nowhere else.
func TestNotificationsOfACall(t *testing.T) {
	overHops(t, func(t *testing.T, h hop) {
		c := connect(t, chatty(), h, &client.Options{
			LogLevel: mcp.LevelInfo,
			Log:      func(_ context.Context, p *mcp.LogParams) { t.Errorf("Options.Log got %v", p.Data) },
			Notification: func(_ context.Context, method string, _ json.RawMessage) {
				t.Errorf("Options.Notification got %s", method)
			},
		})
		var got []string
		_, err := c.CallTool(as(t.Context(), "Ann"), "x", nil, client.WithProgress(nil),
			client.WithNotifications(func(ctx context.Context, method string, params json.RawMessage) {
				if userOf(ctx) != "Ann" || client.OriginOf(ctx).Request == nil {
					t.Errorf("%s came with the context of %s", method, userOf(ctx))
				}
				got = append(got, method+" "+string(params))
			}))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 9 {
			t.Fatalf("got %d notifications: %s", len(got), strings.Join(got, "\n"))
		}
		for i := range 3 {
			for j, want := range []string{
				fmt.Sprintf(`notifications/progress {"progress":%d.0,"com.example/x":1.0,"progressToken":1}`, i),
				fmt.Sprintf(`notifications/message {"level":"info","data":{"n":%d.0},"com.example/x":1.0}`, i),
				fmt.Sprintf(`notifications/com.example/news {"n":%d.0,"_meta":{"com.example/k":1.0}}`, i),
			} {
				if got[3*i+j] != want {
					t.Errorf("notification %d is %s; want %s", 3*i+j, got[3*i+j], want)
				}
			}
		}
	})
}

// Notifications that no call takes go to Options: log messages in their raw form to
// Notification if Log is nil. Progress that nobody asked for is not sent.
func TestNotificationsOfNoCall(t *testing.T) {
	overHops(t, func(t *testing.T, h hop) {
		got := make(chan string, 20)
		c := connect(t, chatty(), h, &client.Options{
			LogLevel:     mcp.LevelInfo,
			Notification: func(_ context.Context, method string, params json.RawMessage) { got <- method + " " + string(params) },
		})
		if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			for _, want := range []string{
				fmt.Sprintf(`notifications/message {"level":"info","data":{"n":%d.0},"com.example/x":1.0}`, i),
				fmt.Sprintf(`notifications/com.example/news {"n":%d.0,"_meta":{"com.example/k":1.0}}`, i),
			} {
				if note := within(t, want, got); note != want {
					t.Errorf("got %s; want %s", note, want)
				}
			}
		}
	})
}

// Notifications that a client has not asked for are not passed on to it, without an error.
func TestNotificationsThatNobodyWants(t *testing.T) {
	overHops(t, func(t *testing.T, h hop) {
		got := make(chan string, 20)
		c := connect(t, chatty(), h, &client.Options{
			Notification: func(_ context.Context, method string, _ json.RawMessage) { got <- method },
		})
		if !h.stateless() {
			if err := c.SetLogLevel(t.Context(), mcp.LevelError); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if note := within(t, "a notification", got); note != "notifications/com.example/news" {
				t.Errorf("got %s", note)
			}
		}
	})
}
