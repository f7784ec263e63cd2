package stream_test

import (
	"bufio"
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

func (deaf) Notification(context.Context, *jsonrpc.Message) {}

func (deaf) Request(context.Context, *jsonrpc.Message) (any, *jsonrpc.Error) { return nil, nil }

// A call to a server that has stopped reading ends with its context, even though
// its request could not be written.
func TestServerStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, toServer := io.Pipe() // nobody reads it
		fromServer, toClient := io.Pipe()
		conn := stream.Dial(stream.Lines(fromServer, toServer, 1<<20, func() error {
			_ = toClient.Close() // closing a pipe does not fail
			return toServer.Close()
		}), deaf{}, 1<<20, nil, nil)
		late := errors.New("too late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, late)
		defer cancel()
		start := time.Now()
		_, err := conn.RoundTrip(ctx, &jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(1), Method: "ping"})
		if !errors.Is(err, late) || !strings.Contains(err.Error(), "does not read") {
			t.Errorf("the call ends with %v, want the reason why it was given up, and that nobody reads", err)
		}
		if err := conn.Err(); err == nil || !strings.Contains(err.Error(), "does not read") {
			t.Errorf("the connection ends with %v", err)
		}
		if d := time.Since(start); d > 70*time.Second {
			t.Errorf("the call took %v", d)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
}

// thinker answers once tell is closed.
type thinker struct {
	deaf
	tell chan struct{}
}

func (th thinker) Request(ctx context.Context, _ *jsonrpc.Message) (any, *jsonrpc.Error) {
	select {
	case <-th.tell:
	case <-ctx.Done():
	}
	return struct{}{}, nil
}

// The client keeps reading while it has a refusal to write that the server does
// not read yet.
func TestRefusalsDoNotKeepFromReading(t *testing.T) {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	th := thinker{tell: make(chan struct{})}
	conn := stream.Dial(stream.Lines(fromServer, toServer, 1<<20, func() error {
		_ = toClient.Close() // closing a pipe does not fail
		return toServer.Close()
	}), th, 1<<20, nil, nil)
	stuck := time.AfterFunc(10*time.Second, func() {
		t.Error("the client reads nothing while it refuses a question")
		_ = toClient.Close()
	})
	for range 3 {
		_, _ = io.WriteString(toClient, `{"jsonrpc":"2.0","id":"q","method":"ping"}`+"\n") // the test fails below if this does
	}
	stuck.Stop()
	close(th.tell)
	answers := bufio.NewReader(fromClient)
	refused := 0
	for range 3 {
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		refused += strings.Count(line, `"error"`)
	}
	// The last of them may be read only after the first was answered, and is not a
	// duplicate then.
	if refused == 0 || refused == 3 {
		t.Errorf("%d of three questions with one ID were refused, want 1 or 2", refused)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// A line that is too long is refused as soon as that is known, not at its end.
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
	var long *jsonrpc.TooLongError
	if _, err := l.Read(); !errors.As(err, &long) {
		t.Errorf("Read: %v", err)
	}
	_ = l.Close()
	if _, err := l.Read(); err == nil {
		t.Error("the rest of the line was read as a message")
	}
	<-ended
}

// Whoever sees a call fail because the connection ended also sees Done closed.
func TestConnectionHasEndedWhenItsCallsFail(t *testing.T) {
	for range 200 {
		near, far := stream.Pipe()
		conn := stream.Dial(near, deaf{}, 1<<20, nil, nil)
		go func() { // ends with the request
			_, _ = far.Read() // the content does not matter
			_ = far.Close()   // closing a pipe does not fail
		}()
		_, err := conn.RoundTrip(t.Context(), &jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(1), Method: "ping"})
		if err == nil {
			t.Fatal("a call without an answer succeeded")
		}
		select {
		case <-conn.Done():
		default:
			t.Fatal("the call has failed, but Done is not closed")
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
