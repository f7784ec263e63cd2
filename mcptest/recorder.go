package mcptest

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Recorder keeps what clients and servers send to each other, in an order that
// both could have observed: a request comes before its response. The zero value
// is ready; its methods may be called concurrently.
type Recorder struct {
	mu     sync.Mutex
	frames []Frame
}

// Frame is one unit of transmission: a message, or in 2025-03-26 a batch of
// them.
type Frame struct {
	Mode       Mode
	FromClient bool
	// JSON is the frame exactly as sent. Over HTTP it is the body of a request
	// or response, or the data of one event of a stream.
	JSON []byte
}

// Messages returns the messages of the frame: one, or those of a batch. Invalid
// ones are left out.
func (f Frame) Messages() []*jsonrpc.Message {
	d := jsonrpc.Decoder{MaxBytes: maxFrame}
	entries := []jsonrpc.Entry{{}}
	if jsonrpc.IsBatch(f.JSON) {
		entries, _ = d.DecodeBatch(f.JSON)
	} else {
		entries[0].Message, entries[0].Err = d.Decode(f.JSON)
	}
	var messages []*jsonrpc.Message
	for _, e := range entries {
		if e.Err == nil {
			messages = append(messages, e.Message)
		}
	}
	return messages
}

// Connect is the function Connect, and records what is sent. It replaces a Tap
// in opts.
func (r *Recorder) Connect(t testing.TB, h mcp.Handler, m Mode, opts *client.Options) *client.Client {
	t.Helper()
	o := client.Options{}
	if opts != nil {
		o = *opts
	}
	o.Tap = r.Tap(m)
	return Connect(t, h, m, &o)
}

// Tap returns a tap that records the frames of a connection, for the options of
// a client or a server.
func (r *Recorder) Tap(m Mode) mcp.Tap {
	return func(e mcp.TapEvent) {
		if e.Frame == nil || e.Dropped != 0 {
			return
		}
		fromClient := (e.Side == mcp.ClientSide) == (e.Direction == mcp.Sent)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.frames = append(r.frames, Frame{m, fromClient, bytes.Clone(e.Frame)})
	}
}

// Frames returns what was recorded so far. Everything that a client sent and
// received is included once its Close, or the test's cleanup, has returned.
func (r *Recorder) Frames() []Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.frames)
}

// FromClient returns the messages that clients sent, in all modes.
func (r *Recorder) FromClient() []*jsonrpc.Message { return r.messages(true) }

// FromServer returns the messages that servers sent, in all modes.
func (r *Recorder) FromServer() []*jsonrpc.Message { return r.messages(false) }

func (r *Recorder) messages(fromClient bool) []*jsonrpc.Message {
	var messages []*jsonrpc.Message
	for _, f := range r.Frames() {
		if f.FromClient == fromClient {
			messages = append(messages, f.Messages()...)
		}
	}
	return messages
}
