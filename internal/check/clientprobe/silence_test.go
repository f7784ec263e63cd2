package clientprobe_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/check/clientprobe"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcptest"
)

// A client that gives up a server which does not answer its pings is seen to do so.
func TestSilenceIsSeenAsFailure(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var site *mcptest.Site
				report, err := clientprobe.Check(t.Context(), func(ctx context.Context, p *clientprobe.Place) error {
					return specimen.Use(ctx, reach(p, site, nil), &client.Options{KeepAlive: 300 * time.Millisecond, KeepAliveFailures: 2})
				}, &clientprobe.Options{
					Revisions: []string{"2025-11-25"}, Lines: transport == "stdio", Scenarios: []string{"no-pong"},
					Serve: func(h http.Handler) (string, string, func(), error) {
						site = mcptest.NewSite(h)
						return site.URL, "http://elsewhere.example", site.Close, nil
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				all := report.Runs[0].Verdicts
				at := slices.IndexFunc(all, func(v verdict.Verdict) bool { return v.Row == "2511.basic.utilities.ping-008" })
				if v := all[at]; v.Outcome != verdict.Pass {
					t.Errorf("%s is %q: %s", v.Row, v.Outcome, v.Why)
				}
			})
		})
	}
}
