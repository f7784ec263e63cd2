package stream_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/jsonrpc"
)

type deaf struct{}

func (deaf) Notification(*jsonrpc.Message) {}

func (deaf) Request(context.Context, *jsonrpc.Message) (any, *jsonrpc.Error) { return nil, nil }

// A call to a server that has stopped reading ends with its context, though
// its request could not be written.
func TestServerStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, toServer := io.Pipe() // nobody reads it
		fromServer, toClient := io.Pipe()
		link := stream.Dial(stream.Lines(fromServer, toServer, 1<<20, func() error {
			_ = toClient.Close() // closing a pipe does not fail
			return toServer.Close()
		}), deaf{}, 1<<20, nil)
		late := errors.New("too late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, late)
		defer cancel()
		start := time.Now()
		_, err := link.RoundTrip(ctx, &jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(1), Method: "ping"})
		if err == nil {
			t.Error("the call returned an answer")
		}
		if d := time.Since(start); d > 70*time.Second {
			t.Errorf("the call took %v", d)
		}
		if err := link.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A line that does not end is refused when it is too long, not at its end.
func TestEndlessLine(t *testing.T) {
	r, w := io.Pipe()
	l := stream.Lines(r, io.Discard, 1000, r.Close)
	ended := make(chan struct{})
	go func() { // ends when r is closed
		defer close(ended)
		for {
			if _, err := io.WriteString(w, strings.Repeat("x", 4096)); err != nil {
				return
			}
		}
	}()
	var long *stream.TooLongError
	if _, err := l.Read(); !errors.As(err, &long) {
		t.Errorf("Read: %v", err)
	}
	_ = l.Close()
	if _, err := l.Read(); err == nil {
		t.Error("the rest of the line was read as a message")
	}
	<-ended
}
