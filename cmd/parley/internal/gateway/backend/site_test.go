package backend_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// site is a server at a URL, which can go away and come back, hang, and refuse to serve.
type site struct {
	*mcptest.Site

	handler *streamable.Handler
	away    atomic.Bool
	hangs   atomic.Bool
	status  atomic.Int64 // that it answers with; 0 if it serves
	dials   atomic.Int64
	posts   atomic.Int64
	called  chan struct{} // gets something for each call of the tool slow, which waits for release
	release chan struct{}
	changes atomic.Int64 // of lists, of which the backend has told
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{called: make(chan struct{}, 10), release: make(chan struct{})}
	srv := server.New(mcp.Implementation{Name: "site", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(srv, mcp.Tool{Name: "a"}, func(context.Context, *server.Call, struct{}) (string, error) { return "done", nil })
	server.AddTool(srv, mcp.Tool{Name: "slow"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		s.called <- struct{}{}
		select {
		case <-s.release:
			return "done slowly", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
	var err error
	if s.handler, err = streamable.New(srv, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1}); err != nil {
		t.Fatal(err)
	}
	s.Site = mcptest.NewSite(s)
	return s
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.posts.Add(1)
	}
	switch status := int(s.status.Load()); {
	case s.hangs.Load():
		_, _ = io.Copy(io.Discard, r.Body) // a server that has not read does not notice that its client has gone
		<-r.Context().Done()
	case status != 0:
		http.Error(w, "not now", status)
	default:
		s.handler.ServeHTTP(w, r)
	}
}

// client reaches the site as long as it is there.
func (s *site) client() *http.Client {
	dial := s.Client.Transport.(*http.Transport).DialContext
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		s.dials.Add(1)
		if s.away.Load() {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
		}
		return dial(ctx, network, addr)
	}}}
}

// goes makes the site go away, with all that it is doing.
func (s *site) goes() {
	s.away.Store(true)
	s.Cut()
}

// behind returns a backend for the site.
func (s *site) behind(r mcp.Revision, o backend.Options) *backend.Backend {
	o.Name, o.Logger, o.Share = "site", mcptest.Quiet(), bridge.SharePrincipal
	o.Changed = func(*mcp.Peer, mcp.ChangeKind) { s.changes.Add(1) }
	o.Connect = func(ctx context.Context, _ *mcp.Peer, o *client.Options) (*client.Client, error) {
		o.Revisions = []mcp.Revision{r}
		return client.Connect(ctx, &streamable.Client{URL: s.URL, HTTP: s.client(), Logger: mcptest.Quiet(), NoSSEFallback: true}, o)
	}
	return backend.New(o)
}

// atSite runs a test in a bubble, for a backend of each era.
func atSite(t *testing.T, o backend.Options, body func(t *testing.T, s *site, b *backend.Backend)) {
	t.Helper()
	for _, r := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		t.Run(r.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t)
				b := s.behind(r, o)
				if _, err := call(t, b, false); err != nil {
					t.Fatal(err)
				}
				body(t, s, b)
				_ = b.Close()
				_ = s.handler.Close(context.Background()) // it waits as long as that takes
				s.Close()
			})
		})
	}
}

// atOnce makes a call that has to fail at once, with texts.
func atOnce(t *testing.T, b *backend.Backend, texts ...string) {
	t.Helper()
	begun := time.Now()
	_, err := call(t, b, false)
	if err == nil {
		t.Error("a call does not fail")
		return
	}
	if took := time.Since(begun); took > 0 {
		t.Errorf("a call fails after %s", took)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("a call fails with %q, which does not say %q", err, text)
		}
	}
}

// back fails the test if the server does not serve, or clients were not told that it does.
func (s *site) back(t *testing.T, b *backend.Backend) {
	t.Helper()
	if _, err := call(t, b, false); err != nil {
		t.Errorf("when it is back: %v", err)
	}
	if state := b.State(); state.Status != backend.Up || state.Failures != 0 || !state.Retry.IsZero() {
		t.Errorf("when it is back, it is %+v", state)
	}
	if n := s.changes.Load(); n != 3 {
		t.Errorf("%d lists are said to have changed", n)
	}
}

// A server that is no longer at its address is left alone, for longer and longer, and calls
// fail at once, as none that it may have done.
func TestSiteIsCut(t *testing.T) {
	atSite(t, backend.Options{Timeout: 2 * time.Minute}, func(t *testing.T, s *site, b *backend.Backend) {
		s.goes()
		atOnce(t, b, `"site" is not available`, "connection refused", "it is tried again in")
		if state := b.State(); state.Status != backend.Broken || state.Failures != 1 || state.Retry.IsZero() || state.Err == nil {
			t.Errorf("it is %+v", state)
		}
		dials := s.dials.Load()
		for range 10 {
			atOnce(t, b, "connection refused")
			if _, err := call(t, b, true); err == nil {
				t.Error("a call does not fail")
			}
		}
		synctest.Wait()
		if n := s.dials.Load() - dials; n > 1 { // the end of a session was to be told
			t.Errorf("it is tried %d times at once", n)
		}
		var paused time.Duration
		for range 10 {
			paused = time.Until(b.State().Retry)
			pass(paused)
			if state := b.State(); state.Status == backend.Up {
				t.Errorf("it is %+v", state)
			}
			atOnce(t, b, "connection refused")
		}
		if paused < 30*time.Second || paused > time.Minute {
			t.Errorf("the last pause was %s", paused)
		}
		s.away.Store(false)
		atOnce(t, b, "connection refused") // not yet
		pass(time.Minute)
		s.back(t, b)
	})
}

// A server that does not serve is asked for a sign of life before it is left alone.
func TestSiteDoesNotServe(t *testing.T) {
	for _, status := range []int64{http.StatusBadGateway, http.StatusServiceUnavailable} {
		atSite(t, backend.Options{}, func(t *testing.T, s *site, b *backend.Backend) {
			s.status.Store(status)
			atOnce(t, b, "it is not known whether")
			synctest.Wait()
			if state := b.State(); state.Status != backend.Broken || state.Failures != 1 {
				t.Errorf("it is %+v", state)
			}
			posts := s.posts.Load()
			atOnce(t, b, `"site" is not available`, "it is tried again in")
			if n := s.posts.Load(); n != posts {
				t.Errorf("it is asked %d times meanwhile", n-posts)
			}
			s.status.Store(0)
			pass(time.Minute)
			s.back(t, b)
		})
	}
}

// A client that is too fast, one request that fails, and one that takes too long say
// nothing of the server.
func TestSiteIsOnlyBusy(t *testing.T) {
	for _, status := range []int64{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusForbidden} {
		atSite(t, backend.Options{}, func(t *testing.T, s *site, b *backend.Backend) {
			s.status.Store(status)
			for range 5 {
				if _, err := call(t, b, false); err == nil {
					t.Error("a call does not fail")
				}
			}
			synctest.Wait()
			if state := b.State(); state.Status != backend.Up || state.Failures != 0 {
				t.Errorf("after %d it is %+v", status, state)
			}
			s.status.Store(0)
			if _, err := call(t, b, false); err != nil {
				t.Error(err)
			}
		})
	}
	atSite(t, backend.Options{Timeout: 30 * time.Second}, func(t *testing.T, s *site, b *backend.Backend) {
		for range 5 {
			if _, err := callTool(t, b, "slow"); !errors.Is(err, client.ErrTimeout) {
				t.Errorf("a slow call: %v", err)
			}
			synctest.Wait()
			if state := b.State(); state.Status != backend.Up || state.Failures != 0 {
				t.Errorf("after a slow call it is %+v", state)
			}
		}
	})
}

// A server that hangs gets no calls until it answers a check, which is made by itself.
func TestSiteHangs(t *testing.T) {
	atSite(t, backend.Options{Timeout: 2 * time.Minute}, func(t *testing.T, s *site, b *backend.Backend) {
		s.hangs.Store(true)
		begun := time.Now()
		if _, err := call(t, b, false); !errors.Is(err, client.ErrTimeout) || !strings.Contains(err.Error(), "it is not known whether") {
			t.Errorf("the first call: %v", err)
		}
		if took := time.Since(begun); took > 2*time.Minute {
			t.Errorf("it takes %s", took)
		}
		pass(10 * time.Second)
		synctest.Wait()
		if state := b.State(); state.Status != backend.Broken || state.Failures != 1 {
			t.Errorf("it is %+v", state)
		}
		atOnce(t, b, `"site" is not available`, "not even a check", "it is tried again in")
		pass(10 * time.Minute)
		if state := b.State(); state.Status != backend.Broken || state.Failures < 8 {
			t.Errorf("it is %+v", state)
		}
		atOnce(t, b, "not even a check")
		posts := s.posts.Load()
		pass(10 * time.Minute)
		if n := s.posts.Load() - posts; n > 25 {
			t.Errorf("it is checked %d times in 10 minutes", n)
		}
		s.hangs.Store(false)
		pass(2 * time.Minute)
		synctest.Wait()
		s.back(t, b)
	})
}

// What is under way when a server is given up goes on, and its connection ends with it.
func TestSiteGoesOnWithWhatItDoes(t *testing.T) {
	atSite(t, backend.Options{}, func(t *testing.T, s *site, b *backend.Backend) {
		slowly := make(chan string, 1)
		go func() { // ends with the call
			got, err := callTool(t, b, "slow")
			slowly <- got + " " + errorText(err)
		}()
		<-s.called
		s.status.Store(http.StatusServiceUnavailable)
		if _, err := call(t, b, false); err == nil {
			t.Error("a call does not fail")
		}
		synctest.Wait()
		if state := b.State(); state.Status != backend.Broken || state.Connections != 1 {
			t.Errorf("it is %+v", state)
		}
		pass(time.Minute)
		if state := b.State(); state.Status == backend.Up {
			t.Errorf("it is %+v", state)
		}
		s.status.Store(0)
		s.back(t, b)
		if state := b.State(); state.Connections != 2 {
			t.Errorf("it is %+v", state)
		}
		close(s.release)
		if got := <-slowly; !strings.Contains(got, "done slowly") {
			t.Errorf("what was under way is %s", got)
		}
		pass(time.Second)
		synctest.Wait()
		if state := b.State(); state.Connections != 1 || state.Lost != 0 {
			t.Errorf("in the end it is %+v", state)
		}
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A subscription moves to the next connection, and says that anything may have changed.
func TestSiteIsSubscribedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b := s.behind(mcp.Revision20251125, backend.Options{})
		told := make(chan mcp.Change, 10)
		x := &mcp.Exchange{Method: mcp.MethodListen, Peer: mcp.Peer{Revision: mcp.Revision20260728}, Watch: &mcp.Watch{
			Filter: mcp.SubscriptionFilter{ToolsListChanged: true}, Deliver: func(c mcp.Change) { told <- c },
		}}
		w, err := b.Watch(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		s.goes()
		atOnce(t, b, "connection refused")
		pass(time.Second)
		s.away.Store(false)
		if c := <-told; c.Kind != mcp.ToolsChanged {
			t.Errorf("the client is told of %+v", c)
		}
		if state := b.State(); state.Status != backend.Up || state.Used != 1 {
			t.Errorf("it is %+v", state)
		}
		w.Stop()
		_ = b.Close()
		_ = s.handler.Close(context.Background()) // it waits as long as that takes
		s.Close()
	})
}
