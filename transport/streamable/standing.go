package streamable

import (
	"context"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
)

// standing is the Out of messages that belong to no request. A client may listen for
// them on several streams; each message goes out on one, the newest.
//
// Spec: 2025-11-25 basic/transports#multiple-connections.
type standing struct {
	session *session
	first   *stream // keeps the messages while nobody listens

	mu        sync.Mutex
	listening []listener // the newest last
}

// listener is a response that carries a standing stream.
type listener struct {
	*stream
	response *httpserve.Response
}

var _ era.Out = (*standing)(nil)

// Message implements era.Out.
func (o *standing) Message(_ context.Context, frame []byte) error {
	o.mu.Lock()
	listening := slices.Clone(o.listening)
	o.mu.Unlock()
	for _, l := range slices.Backward(listening) {
		if sent, err := l.sendLive(frame); sent {
			return err
		}
	}
	return o.first.send(frame)
}

// Answer implements era.Out; there are no answers.
func (o *standing) Answer(context.Context, []byte, *era.Failure) error { return nil }

// listen lets resp carry a standing stream: the first if it is free, with what was
// kept for the client, or else a new one.
func (o *standing) listen(resp *httpserve.Response) (*stream, <-chan struct{}, error) {
	if left, free, err := o.first.listen(resp); free {
		return o.first, left, err
	}
	st := &stream{session: o.session, standing: true}
	st.mu.Lock()
	st.nameLocked()
	st.mu.Unlock()
	left, err := st.resume(resp, 0)
	return st, left, err
}

// drop ends all streams.
func (o *standing) drop() {
	o.mu.Lock()
	listening := slices.Clone(o.listening)
	o.mu.Unlock()
	for _, l := range listening {
		l.drop()
	}
	o.first.drop()
}

// add registers a response that carries a standing stream, until remove.
func (o *standing) add(st *stream, resp *httpserve.Response) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.listening = append(o.listening, listener{st, resp})
	st.ended.Store(false)
}

func (o *standing) remove(st *stream, resp *httpserve.Response) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.listening = slices.DeleteFunc(o.listening, func(l listener) bool { return l == listener{st, resp} })
	// A client may come back for a stream, as long as it is remembered.
	st.ended.Store(!slices.ContainsFunc(o.listening, func(l listener) bool { return l.stream == st }))
}
