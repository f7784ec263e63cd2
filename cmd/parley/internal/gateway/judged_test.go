package gateway_test

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	limits "github.com/parley-mcp/parley/cmd/parley/internal/gateway/limit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/scan"
	judge "github.com/parley-mcp/parley/internal/check/gateway"
	"github.com/parley-mcp/parley/internal/check/inprocess"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/frames"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// excuse is what no gateway can keep between two eras.
type excuse struct {
	front bool   // it is the client that has no session
	about string // what the judge says
	why   string
}

// between are the excuses, by the row: the judge compares with the server as it speaks in
// the era of the client.
var between = map[string]excuse{
	"gateway.definitions": {false, "/execution", "a server without sessions does not list which tools can be tasks of 2025-11-25, and the gateway makes tasks of all"},
	"gateway.results":     {true, "/isError was added", "a server with sessions says that a result is no error"},
	"gateway.questions":   {true, "need_visit", "a server that demands a visit is called again afterwards, and has no use for the answer"},
	"gateway.cache-hints": {true, "may be kept for longer", "a server with sessions does not say how long a list can be kept"},
	"gateway.logs":        {true, "came through", "what a session logs names no call: while the question of another call waits for its client, the message can come after the result. What comes is not changed"},
	"26.basic.index-066":  {true, "-32021", "in a session, a server does not say which capability it misses"},
}

// excused reports whether a verdict is about what cannot be kept.
func excused(v *verdict.Verdict, front, back mcp.Revision) bool {
	e, ok := between[v.Row]
	from, to := stateless(mcptest.Mode{Revision: front}), stateless(mcptest.Mode{Revision: back})
	return ok && from != to && from == e.front && strings.Contains(v.Why, e.about)
}

// The judge of gateways finds no requirement lost and nothing changed, in five revisions
// of clients, over lines and over HTTP, with a session behind the gateway and with none,
// and with every guard that has nothing to forbid in between.
func TestJudged(t *testing.T) {
	for _, revision := range mcp.Revisions() {
		for _, back := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
			over := map[string]func(*testing.T, mcp.Handler) serverprobe.Target{"stdio": lines, "http": site}
			if revision == mcp.Revision20241105 {
				over["http"] = oldSite
			}
			for name, front := range over {
				t.Run(revision.String()+" over "+name+" to "+back.String(), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { judged(t, revision, back, front) })
				})
			}
		}
	}
}

// lines is a handler that a judge reaches over lines.
func lines(_ *testing.T, h mcp.Handler) serverprobe.Target {
	return serverprobe.Target{Name: "specimen", Lines: func(context.Context) (io.ReadWriteCloser, error) { return inprocess.Start(h), nil }}
}

// site is a handler that a judge reaches over HTTP.
func site(t *testing.T, h mcp.Handler) serverprobe.Target {
	t.Helper()
	o := streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1}
	served, err := streamable.New(h, &o)
	if err != nil {
		t.Fatal(err)
	}
	return at(t, served)
}

// oldSite is site for the revision that has another transport.
func oldSite(t *testing.T, h mcp.Handler) serverprobe.Target {
	t.Helper()
	o := sse.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1}
	served, err := sse.New(h, &o)
	if err != nil {
		t.Fatal(err)
	}
	return at(t, served)
}

func at(t *testing.T, served interface {
	http.Handler
	Close(ctx context.Context) error
},
) serverprobe.Target {
	t.Helper()
	s := mcptest.NewSite(served)
	t.Cleanup(func() {
		_ = served.Close(context.Background())
		s.Close()
	})
	return serverprobe.Target{Name: "specimen", Site: &peer.Site{URL: s.URL, Client: s.Client}}
}

// permissive are guards that look at everything, and forbid nothing. What they change are
// scopes of caches: what somebody sees may depend on who it is.
func permissive(t *testing.T) []guard.Guard {
	t.Helper()
	all, err := policy.New([]policy.Source{{Name: "all.cedar", Text: "permit (principal, action, resource);"}}, policy.Options{Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.New(audit.Options{Path: filepath.Join(t.TempDir(), "audit.jsonl"), Level: audit.Full, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return []guard.Guard{log, limits.New(nil), all, scan.New(scan.Options{Definitions: scan.Actions{}, Results: scan.Actions{}, Logger: mcptest.Quiet()})}
}

func judged(t *testing.T, revision, back mcp.Revision, front func(*testing.T, mcp.Handler) serverprobe.Target) {
	t.Helper()
	s := specimen.NewTelling(nil)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
	t.Cleanup(func() { _ = g.Close() }) // before the server is
	tr := frames.InProcess(s, &frames.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	err := g.Load(gateway.Setup{Guards: permissive(t), Servers: []gateway.Server{{
		Rules: naming.Rules{Backend: "spec"},
		Backend: backend.Options{Single: true, Connect: func(ctx context.Context, _ *mcp.Peer, o *client.Options) (*client.Client, error) {
			o.Revisions = []mcp.Revision{back}
			return client.Connect(ctx, tr, o)
		}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	g.Look(t.Context())
	report, err := judge.Check(t.Context(), front(t, s), front(t, g.View("")), &serverprobe.Options{Revisions: []string{revision.String()}, Rate: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, run := range report.Runs {
		for _, v := range run.Verdicts {
			if v.Outcome == verdict.Pass && strings.HasPrefix(v.Row, "gateway.") {
				compared++
			}
			if v.Outcome == verdict.Fail && v.Must() && !excused(&v, revision, back) {
				t.Errorf("%s: %s", v.Row, v.Why)
			}
		}
	}
	if compared == 0 {
		t.Errorf("nothing was compared: %q", report.Notes)
	}
}
