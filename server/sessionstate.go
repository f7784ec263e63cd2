package server

import (
	"context"
	"errors"
	"sync"

	"github.com/parley-mcp/parley/mcp"
)

// SessionState is what a server remembers of each session: a value of type T, made when
// it is asked for, and freed when the session has ended and its last request has returned. The
// zero value is ready to use. Its method may be called concurrently; it must not be copied.
//
//	var carts server.SessionState[cart]
//	…
//	c, err := carts.Of(ctx, call.Session())
//
// Whoever serves the same session elsewhere does not have the state, and clients of
// 2026-07-28 have no session. A server for both keeps what has to last where a name for it
// can be passed as an argument, or by principal.
//
// Spec: 2026-07-28 basic#statelessness.
type SessionState[T any] struct {
	// New, if set, makes the value of a session; without it, it is the zero value. After an
	// error, the next one who asks tries again. ctx is that of whoever asks.
	New func(ctx context.Context, session *mcp.Session) (*T, error)
	// End, if set, is called with the value of a session that has ended, if it was made.
	End func(value *T)

	mu   sync.Mutex
	held map[*mcp.Session]*held[T]
}

// held is the value of one session.
type held[T any] struct {
	making chan struct{} // holds one token while nobody makes the value
	value  *T            // nil until it is made; changed by who has the token, as is over
	over   bool
}

// ErrNoSession says that there is no session to remember anything of, or none any more.
var ErrNoSession = errors.New("there is no session: revision 2026-07-28 has none, tasks have none, and this one may have ended; " +
	"let the client pass what you need as an argument, or keep it by principal")

// Of returns the value of a session. All who ask for the same session get the same one,
// and may do so at the same time, so T needs a lock of its own where it changes.
// The error is ErrNoSession if session is nil or has ended, the error of New, or the cause of ctx.
func (s *SessionState[T]) Of(ctx context.Context, session *mcp.Session) (*T, error) {
	h := s.hold(session)
	if h == nil {
		return nil, ErrNoSession
	}
	select {
	case <-h.making:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { h.making <- struct{}{} }()
	switch {
	case h.over:
		return nil, ErrNoSession
	case h.value != nil:
		return h.value, nil
	}
	made, err := s.make(ctx, session)
	if err != nil {
		return nil, err
	}
	h.value = made
	return made, nil
}

func (s *SessionState[T]) make(ctx context.Context, session *mcp.Session) (*T, error) {
	if s.New == nil {
		return new(T), nil
	}
	v, err := s.New(ctx, session)
	if err == nil && v == nil {
		err = errors.New("SessionState.New returned neither a value nor an error")
	}
	return v, err
}

// hold returns the place of a session's value, or nil if there is no session.
func (s *SessionState[T]) hold(session *mcp.Session) *held[T] {
	if session == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.held[session]; h != nil {
		return h
	}
	if !session.OnEnd(func() { s.free(session) }) {
		return nil
	}
	if s.held == nil {
		s.held = map[*mcp.Session]*held[T]{}
	}
	h := &held[T]{making: make(chan struct{}, 1)}
	h.making <- struct{}{}
	s.held[session] = h
	return h
}

func (s *SessionState[T]) free(session *mcp.Session) {
	s.mu.Lock()
	h := s.held[session]
	delete(s.held, session)
	s.mu.Unlock()
	<-h.making // who does not belong to a request may still be making it
	value := h.value
	h.value, h.over = nil, true
	h.making <- struct{}{}
	if value != nil && s.End != nil {
		s.End(value)
	}
}
