package serverprobe_test

import (
	"context"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/check/inprocess"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// busyServer has one tool, which takes a second, and a while to end when it is
// cancelled, and refuses to be called meanwhile. refused counts how often it did.
func busyServer(refused *atomic.Int64) *server.Server {
	s := server.New(mcp.Implementation{Name: "busy", Version: "1"}, &server.Options{Logging: true, Logger: mcptest.Quiet(), ProgressInterval: -1})
	var busy atomic.Bool
	server.AddTool(s, mcp.Tool{Name: "work", Description: "Works.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
			call.Progress(ctx, 0, 10, "")
			if !busy.CompareAndSwap(false, true) {
				refused.Add(1)
				return "", &jsonrpc.Error{Code: -32000, Message: "busy"}
			}
			defer busy.Store(false)
			call.Logger("work").InfoContext(ctx, "begin")
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			for n := range 10 {
				call.Progress(ctx, float64(n+1), 10, "")
				select {
				case <-tick.C:
				case <-ctx.Done():
					pass(200 * time.Millisecond) // to clean up
					return "", ctx.Err()
				}
			}
			return "done", nil
		})
	return s
}

// A server is judged by what its tool does when it is called alone, if the tool does
// not bear to be called several times at once.
func TestBusyToolIsInnocent(t *testing.T) {
	var refused atomic.Int64
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := busyServer(&refused)
				defer func() { _ = s.Close(context.Background()) }() // there is nothing that it could not end
				target := serverprobe.Target{Name: "busy", Lines: func(context.Context) (io.ReadWriteCloser, error) {
					return inprocess.Start(s), nil
				}}
				if transport == "http" {
					h, err := streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
					if err != nil {
						t.Fatal(err)
					}
					site := mcptest.NewSite(h)
					client := *site.Client
					client.Transport = only{site.URL, client.Transport}
					defer func() {
						_ = h.Close(context.Background()) // nobody is connected any more
						site.Close()
					}()
					target = serverprobe.Target{Name: "busy", Site: &peer.Site{URL: site.URL, Client: &client}}
				}
				report, err := serverprobe.Check(t.Context(), target, &serverprobe.Options{Revisions: []string{"2025-11-25"}, Rate: 1e9})
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range report.Runs[0].Verdicts {
					alone := []string{"cancellation/no-response", "cancellation/stops", "http/disconnection-does-not-cancel"}
					if slices.Contains(alone, v.Probe) && v.Outcome == verdict.Unverified && v.Because == "" {
						t.Errorf("%s was not verified: %s", v.Row, v.Why)
					}
					if v.Outcome == verdict.Fail || v.Outcome == verdict.Warn {
						t.Errorf("%s", describe(v))
					}
				}
			})
		})
	}
	if refused.Load() == 0 {
		t.Error("the tool was never called while it was busy: the test shows nothing")
	}
}
