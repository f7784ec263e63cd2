package server_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

type counter struct{ n atomic.Int64 }

// visits is a server that counts the calls of each session, and what becomes of sessions.
type visits struct {
	srv           *server.Server
	state         server.SessionState[counter]
	begun         chan struct{} // a call of wait has begun
	opened, ended atomic.Int64
	made, freed   atomic.Int64
	early         atomic.Bool // a session ended before its last request
}

func newVisits() *visits {
	v := &visits{begun: make(chan struct{}, 1)}
	v.srv = server.New(mcp.Implementation{Name: "visits", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	v.state.New = func(context.Context, *mcp.Session) (*counter, error) {
		v.made.Add(1)
		return new(counter), nil
	}
	v.state.End = func(*counter) { v.freed.Add(1) }
	v.srv.OnSession(func(_ context.Context, s *mcp.Session) {
		v.opened.Add(1)
		s.OnEnd(func() { v.ended.Add(1) })
	})
	server.AddTool(v.srv, mcp.Tool{Name: "count"}, func(ctx context.Context, call *server.Call, _ struct{}) (int64, error) {
		c, err := v.state.Of(ctx, call.Session())
		if err != nil {
			return 0, err
		}
		return c.n.Add(1), nil
	})
	server.AddTool(v.srv, mcp.Tool{Name: "wait"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		v.begun <- struct{}{}
		<-ctx.Done()
		_, err := v.state.Of(context.WithoutCancel(ctx), call.Session())
		v.early.Store(err != nil || v.ended.Load() > 0)
		return "", context.Cause(ctx)
	})
	return v
}

// A session has state from its first request until its last one has returned, in every
// revision that has sessions, on every transport; two clients share nothing.
func TestSessionState(t *testing.T) {
	for _, m := range mcptest.Modes() {
		t.Run(m.String(), func(t *testing.T) {
			v, hasSessions := newVisits(), m.Revision != mcp.Revision20260728
			t.Run("clients", func(t *testing.T) {
				for range 2 {
					c := mcptest.Connect(t, v.srv, m, nil)
					for want := int64(1); want <= 3; want++ {
						got, err := client.Call[int64](t.Context(), c, "count", struct{}{})
						switch {
						case hasSessions && (err != nil || got != want):
							t.Errorf("call %d gave %d, %v", want, got, err)
						case !hasSessions && (err == nil || !strings.Contains(err.Error(), server.ErrNoSession.Error())):
							t.Errorf("call %d gave %d, %v, want ErrNoSession", want, got, err)
						}
					}
				}
			})
			want := int64(0)
			if hasSessions {
				want = 2
			}
			for what, got := range map[string]int64{"opened": v.opened.Load(), "ended": v.ended.Load(), "made": v.made.Load(), "freed": v.freed.Load()} {
				if got != want {
					t.Errorf("%s: %d, want %d", what, got, want)
				}
			}
		})
	}
}

// A request that is still being served when its session ends can use the state.
func TestSessionEndsAfterItsRequests(t *testing.T) {
	for _, m := range mcptest.Modes() {
		if m.Revision == mcp.Revision20260728 {
			continue // has no sessions
		}
		t.Run(m.String(), func(t *testing.T) {
			v := newVisits()
			var calling sync.WaitGroup
			t.Run("client", func(t *testing.T) {
				c := mcptest.Connect(t, v.srv, m, nil)
				calling.Go(func() { // ends with the client
					_, _ = client.Call[string](context.Background(), c, "wait", struct{}{})
				})
				<-v.begun
			})
			calling.Wait()
			if v.early.Load() {
				t.Error("the session ended before its request")
			}
			if v.ended.Load() != 1 || v.freed.Load() != 1 {
				t.Errorf("%d sessions ended, %d values freed; want 1 and 1", v.ended.Load(), v.freed.Load())
			}
		})
	}
}

func newSession() (*mcp.Session, func()) {
	return mcp.NewSession(mcp.Peer{Revision: mcp.Revision20251125, Principal: "ann"})
}

// A value that could not be made is made by the next one who asks.
func TestSessionStateIsMadeAgain(t *testing.T) {
	fail := errors.New("no database")
	state := server.SessionState[counter]{New: func(_ context.Context, s *mcp.Session) (*counter, error) {
		if s.Peer().Principal != "ann" {
			t.Errorf("the session is that of %q", s.Peer().Principal)
		}
		return new(counter), fail
	}}
	session, end := newSession()
	defer end()
	if _, err := state.Of(t.Context(), session); !errors.Is(err, fail) {
		t.Errorf("the error is %v", err)
	}
	state.New = func(context.Context, *mcp.Session) (*counter, error) { return nil, nil }
	if _, err := state.Of(t.Context(), session); err == nil || !strings.Contains(err.Error(), "neither a value nor an error") {
		t.Errorf("the error is %v", err)
	}
	state.New = nil
	first, err := state.Of(t.Context(), session)
	second, again := state.Of(t.Context(), session)
	if first == nil || first != second || err != nil || again != nil {
		t.Errorf("the values are %p, %v and %p, %v", first, err, second, again)
	}
}

// Many who ask at once get one value, and who waits for it can give up.
func TestSessionStateIsMadeOnce(t *testing.T) {
	made, release := 0, make(chan struct{})
	state := server.SessionState[counter]{New: func(context.Context, *mcp.Session) (*counter, error) {
		made++
		<-release
		return new(counter), nil
	}}
	session, end := newSession()
	defer end()
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			c, err := state.Of(t.Context(), session)
			if err != nil {
				t.Error(err)
				return
			}
			c.n.Add(1)
		})
	}
	close(release)
	asking.Wait()
	if c, err := state.Of(t.Context(), session); err != nil || c.n.Load() != 8 || made != 1 {
		t.Errorf("%d values were made, and the last has %d uses, %v", made, c.n.Load(), err)
	}
}

func TestSessionStateGivesUp(t *testing.T) {
	making, release := make(chan struct{}), make(chan struct{})
	state := server.SessionState[counter]{New: func(context.Context, *mcp.Session) (*counter, error) {
		close(making)
		<-release
		return new(counter), nil
	}}
	session, end := newSession()
	defer end()
	var asking sync.WaitGroup
	asking.Go(func() { _, _ = state.Of(t.Context(), session) })
	<-making
	gone, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the client has gone")
	cancel(why)
	if _, err := state.Of(gone, session); !errors.Is(err, why) {
		t.Errorf("who waits got %v", err)
	}
	close(release)
	asking.Wait()
}

// Nothing keeps the value of a session that has ended, and nothing is made for it.
func TestSessionStateIsFreed(t *testing.T) {
	var state server.SessionState[[1 << 20]byte]
	session, end := newSession()
	value, err := state.Of(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	left := weak.Make(value)
	end()
	if _, err := state.Of(t.Context(), session); !errors.Is(err, server.ErrNoSession) {
		t.Errorf("after its end, the session has state: %v", err)
	}
	if session.OnEnd(func() { t.Error("called after the end") }) {
		t.Error("a session that has ended will end")
	}
	runtime.GC()
	if left.Value() != nil {
		t.Error("the value of a session that has ended is kept")
	}
	if _, err := state.Of(t.Context(), nil); !errors.Is(err, server.ErrNoSession) {
		t.Errorf("without a session the error is %v", err)
	}
}

// What is called at the end of a session is called in reverse order, and a panic of one
// does not keep the others from being called, nor the server from going on.
func TestSessionEndSurvivesPanics(t *testing.T) {
	srv := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	var mu sync.Mutex
	var order []string
	note := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, s)
	}
	srv.OnSession(func(_ context.Context, s *mcp.Session) {
		s.OnEnd(func() { note("first added") })
		s.OnEnd(func() { note("panics"); panic("at the end") })
		s.OnEnd(func() { note("last added") })
	})
	srv.OnSession(func(context.Context, *mcp.Session) { panic("at the beginning") })
	for range 2 {
		t.Run("client", func(t *testing.T) {
			c := mcptest.Connect(t, srv, mcptest.Mode{Revision: mcp.Revision20251125}, nil)
			if err := c.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	one := "last added, panics, first added"
	if got := strings.Join(order, ", "); got != one+", "+one {
		t.Errorf("the order is %s", got)
	}
}
