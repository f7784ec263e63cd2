package host_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A site that is gone is noticed when a call has failed, at the latest, and used again
// when it is back.
func TestSiteGoesAway(t *testing.T) {
	for _, r := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		t.Run(r.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				served, err := streamable.New(notes("read"), &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
				if err != nil {
					t.Fatal(err)
				}
				var gone atomic.Bool
				site := mcptest.NewSite(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if gone.Load() {
						w.WriteHeader(http.StatusServiceUnavailable)
						return
					}
					served.ServeHTTP(w, r)
				}))
				t.Cleanup(func() { _ = served.Close(t.Context()); site.Close() })
				h := open(t, map[string]host.Server{"shop": {URL: site.URL, HTTP: site.Client}}, &host.Options{
					Approve: host.ApproveAll, Client: &client.Options{Revisions: []mcp.Revision{r}},
				})
				if _, err := h.Call(t.Context(), "shop__read", nil); err != nil {
					t.Fatal(err)
				}
				gone.Store(true)
				site.Cut()
				if _, err := h.Call(t.Context(), "shop__read", nil); err == nil {
					t.Error("a site that is gone has answered")
				}
				pass(2 * time.Minute)
				synctest.Wait()
				if s := h.Servers()[0]; s.State == host.Up || s.Err == nil || len(h.Tools()) != 0 {
					t.Errorf("%+v", s)
				}
				gone.Store(false)
				pass(2 * time.Minute)
				synctest.Wait()
				if _, err := h.Call(t.Context(), "shop__read", nil); err != nil {
					t.Errorf("a call when the site is back: %v", err)
				}
			})
		})
	}
}
