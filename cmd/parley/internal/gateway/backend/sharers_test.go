package backend_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// What fails for one of those who have a process of their own is not tried again for a
// while, for them alone.
func TestBrokenForSomebody(t *testing.T) {
	for name, test := range map[string]struct {
		share    bridge.Share
		bad, all []*mcp.Peer // whose server does not start, and who else is there
		why      error
		shared   bool // all use one process
	}{
		"principal": {bridge.SharePrincipal, []*mcp.Peer{{Principal: "bad"}}, []*mcp.Peer{{Principal: "ann"}, {}}, errors.New("no such program"), false},
		"session":   {bridge.ShareSession, []*mcp.Peer{{SessionID: "bad"}}, []*mcp.Peer{{SessionID: "1"}, {SessionID: "2"}}, errors.New("no such program"), false},
		"forbidden": {bridge.SharePrincipal, []*mcp.Peer{{Principal: "bad"}}, []*mcp.Peer{{Principal: "ann"}}, &streamable.HTTPError{Status: http.StatusForbidden}, false},
		"all":       {bridge.ShareAll, []*mcp.Peer{{Principal: "bad"}}, []*mcp.Peer{{Principal: "ann"}}, errors.New("no such program"), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCommand(t)
				started := map[string]int{}
				b := backend.New(backend.Options{Name: "files", Logger: mcptest.Quiet(), Share: test.share, Connect: func(ctx context.Context, peer *mcp.Peer, o *client.Options) (*client.Client, error) {
					started[peer.Principal+peer.SessionID]++
					if test.shared || peer.Principal+peer.SessionID == "bad" {
						return nil, test.why
					}
					o.Revisions = []mcp.Revision{mcp.Revision20251125}
					return client.Connect(ctx, c.Transport, o)
				}})
				defer c.end(b)
				for range 3 {
					_, err := callAs(t, b, test.bad[0], "a", true)
					if err == nil || !strings.Contains(err.Error(), "it is tried again in") {
						t.Errorf("the error is %v", err)
					}
				}
				if state := b.State(); state.Status != backend.Broken || state.Failures != 1 || state.Retry.IsZero() || state.Err == nil {
					t.Errorf("while there is nobody else, it is %+v", state)
				}
				for _, peer := range test.all {
					if _, err := callAs(t, b, peer, "a", true); (err != nil) != test.shared {
						t.Errorf("%+v: %v", peer, err)
					}
				}
				want := backend.Up
				if test.shared {
					want = backend.Broken
				}
				if state := b.State(); state.Status != want || state.Failures != 1 || state.Err == nil {
					t.Errorf("it is %+v", state)
				}
				if n := started["bad"]; !test.shared && n != 1 {
					t.Errorf("it was started %d times", n)
				}
			})
		})
	}
}

// A process that dies at once is a failure of its own user's.
func TestDiesForSomebody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCommand(t)
		b := c.behind(t, backend.Options{})
		defer c.end(b)
		c.dies = true
		if _, err := callAs(t, b, &mcp.Peer{Principal: "bad"}, "a", false); err == nil {
			t.Error("the call does not fail")
		}
		synctest.Wait()
		if _, err := callAs(t, b, &mcp.Peer{Principal: "bad"}, "a", false); err == nil || !strings.Contains(err.Error(), "it is tried again in") {
			t.Errorf("the next call: %v", err)
		}
		if _, err := callAs(t, b, &mcp.Peer{Principal: "ann"}, "a", false); err != nil {
			t.Errorf("somebody else's: %v", err)
		}
	})
}

// However many fail, a bounded number is remembered.
func TestManyBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCommand(t)
		c.down = errors.New("no such program")
		b := c.behind(t, backend.Options{})
		defer c.end(b)
		for i := range 1000 {
			if _, err := callAs(t, b, &mcp.Peer{Principal: strings.Repeat("x", i)}, "a", false); err == nil {
				t.Fatal("a call does not fail")
			}
			pass(time.Second)
		}
		if n := b.Breakers(); n > 200 {
			t.Errorf("%d failures are remembered", n)
		}
	})
}

// A server at a URL that is gone for one is gone for all; one that hangs for one may hang
// for all, which is asked.
func TestSiteIsGoneForAll(t *testing.T) {
	for name, hangs := range map[string]bool{"gone": false, "hangs": true} {
		t.Run(name, func(t *testing.T) {
			atSite(t, backend.Options{Timeout: time.Minute}, func(t *testing.T, s *site, b *backend.Backend) {
				ann, bob := &mcp.Peer{Principal: "ann"}, &mcp.Peer{Principal: "bob"}
				for _, peer := range []*mcp.Peer{ann, bob} {
					if _, err := callAs(t, b, peer, "a", false); err != nil {
						t.Fatal(err)
					}
				}
				s.hangs.Store(hangs)
				if !hangs {
					s.goes()
				}
				if _, err := callAs(t, b, ann, "a", false); err == nil {
					t.Error("the call does not fail")
				}
				if hangs {
					pass(20 * time.Second)
				}
				synctest.Wait()
				begun := time.Now()
				_, err := callAs(t, b, bob, "a", false)
				if took := time.Since(begun); err == nil || !strings.Contains(err.Error(), "is not available") || took > 0 {
					t.Errorf("somebody else's call, after %s: %v", took, err)
				}
				s.away.Store(false)
				s.hangs.Store(false)
				pass(time.Minute)
				for _, peer := range []*mcp.Peer{ann, bob} {
					if _, err := callAs(t, b, peer, "a", false); err != nil {
						t.Errorf("when it is back: %v", err)
					}
				}
			})
		})
	}
}
