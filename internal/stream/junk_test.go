package stream_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/stream"
)

// says writes a line a number of times, as long as the other side takes it.
func says(frames stream.Frames, line string, times int) {
	for range times {
		if frames.Write([]byte(line)) != nil {
			return
		}
	}
}

// A server that says nothing but what is no message is given up, sooner if it has never said
// anything else. One that prints something now and then is not.
func TestNoMessages(t *testing.T) {
	const note = `{"jsonrpc":"2.0","method":"notifications/x"}`
	for name, c := range map[string]struct {
		say  func(stream.Frames)
		over bool
	}{
		"a banner":                {func(f stream.Frames) { says(f, "welcome", 1000) }, false},
		"a flood":                 {func(f stream.Frames) { says(f, "y", 1001) }, true},
		"a flood of JSON":         {func(f stream.Frames) { says(f, `{"level":"info"}`, 1001) }, true},
		"long lines":              {func(f stream.Frames) { says(f, string(make([]byte, 1<<19)), 3) }, true},
		"much after a message":    {func(f stream.Frames) { says(f, note, 1); says(f, "y", 10_000) }, false},
		"a flood after a message": {func(f stream.Frames) { says(f, note, 1); says(f, "y", 10_001) }, true},
		"between messages": {func(f stream.Frames) {
			for range 3 {
				says(f, "y", 9000)
				says(f, note, 1)
			}
		}, true}, // before the first one
		"messages between": {func(f stream.Frames) {
			for range 3 {
				says(f, note, 1)
				says(f, "y", 9000)
			}
		}, false},
		"a little every minute": {func(f stream.Frames) {
			for range 5 {
				says(f, "y", 900)
				<-time.NewTimer(time.Minute).C
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := stream.Pipe()
				conn := stream.Dial(near, deaf{}, 1<<20, nil, nil)
				go c.say(far)                       // ends with the connection, if nobody reads what it writes
				<-time.NewTimer(10 * time.Minute).C // which pass when it has said all
				if err := conn.Err(); (err != nil) != c.over || c.over && !errors.Is(err, stream.ErrNoMessages) {
					t.Errorf("the connection has ended with %v", err)
				}
				_ = conn.Close()
				_ = far.Close()
			})
		})
	}
}
