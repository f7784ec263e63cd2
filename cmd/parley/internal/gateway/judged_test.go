package gateway_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	judge "github.com/parley-mcp/parley/internal/check/gateway"
	"github.com/parley-mcp/parley/internal/check/inprocess"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/frames"
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
	"26.basic.index-066":  {true, "-32021", "in a session, a server does not say which capability it misses"},
}

// excused reports whether a verdict is about what cannot be kept.
func excused(v *verdict.Verdict, front, back mcp.Revision) bool {
	e, ok := between[v.Row]
	from, to := stateless(mcptest.Mode{Revision: front}), stateless(mcptest.Mode{Revision: back})
	return ok && from != to && from == e.front && strings.Contains(v.Why, e.about)
}

// The judge of gateways finds no requirement lost and nothing changed, in five revisions
// of clients, with a session behind the gateway and with none.
func TestJudged(t *testing.T) {
	for _, revision := range mcp.Revisions() {
		for _, back := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
			t.Run(revision.String()+" to "+back.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { judged(t, revision, back) })
			})
		}
	}
}

func judged(t *testing.T, revision, back mcp.Revision) {
	s := specimen.NewTelling(nil)
	defer func() { _ = s.Close(context.Background()) }()
	g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
	defer g.Close()
	tr := frames.InProcess(s, &frames.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	err := g.Load(gateway.Setup{Servers: []gateway.Server{{
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
	lines := func(h mcp.Handler) serverprobe.Target {
		return serverprobe.Target{Name: "specimen", Lines: func(context.Context) (io.ReadWriteCloser, error) { return inprocess.Start(h), nil }}
	}
	report, err := judge.Check(t.Context(), lines(s), lines(g.View("")), &serverprobe.Options{Revisions: []string{revision.String()}, Rate: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, run := range report.Runs {
		for _, v := range run.Verdicts {
			if v.Outcome == verdict.Pass && strings.HasPrefix(v.Row, "gateway.") {
				compared++
			}
			fine := excused(&v, revision, back)
			// A log message of a session names no call, and while several are in flight it
			// can come too late for the one that it is about.
			fine = fine || v.Row == "gateway.logs" && !stateless(mcptest.Mode{Revision: back})
			if v.Outcome == verdict.Fail && v.Must() && !fine {
				t.Errorf("%s: %s", v.Row, v.Why)
			}
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}
