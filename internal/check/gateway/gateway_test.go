package gateway_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/internal/check/gateway"
	"github.com/parley-mcp/parley/internal/check/inprocess"
	"github.com/parley-mcp/parley/internal/check/mutant"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// compare judges a gateway that is nothing but a wire, with the faults of a
// mutant, if it is given one.
func compare(t *testing.T, revision, transport string, faulty *mutant.Faulty) *verdict.Report {
	t.Helper()
	s := specimen.NewTelling(nil)
	defer func() { _ = s.Close(context.Background()) }()
	around, stop := target(t, s, transport, nil)
	defer stop()
	through, stop := target(t, s, transport, faulty)
	defer stop()
	report, err := gateway.Check(t.Context(), around, through, &serverprobe.Options{Revisions: []string{revision}, Rate: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func target(t *testing.T, s *server.Server, transport string, faulty *mutant.Faulty) (serverprobe.Target, func()) {
	t.Helper()
	if transport == "stdio" {
		return serverprobe.Target{Name: "specimen", Lines: func(context.Context) (io.ReadWriteCloser, error) {
			if faulty != nil {
				return faulty.Lines(inprocess.Start(s)), nil
			}
			return inprocess.Start(s), nil
		}}, func() {}
	}
	h, err := streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
	if err != nil {
		t.Fatal(err)
	}
	site := mcptest.NewSite(h)
	client := *site.Client
	if faulty != nil {
		client.Transport = faulty.HTTP(client.Transport)
	}
	return serverprobe.Target{Name: "specimen", Site: &peer.Site{URL: site.URL, Client: &client}}, func() {
		_ = h.Close(context.Background())
		site.Close()
	}
}

func traits(report *verdict.Report) map[string]verdict.Verdict {
	all := map[string]verdict.Verdict{}
	for _, run := range report.Runs {
		for _, v := range run.Verdicts {
			if strings.HasPrefix(v.Row, "gateway.") || strings.HasPrefix(v.Probe, "gateway/") {
				all[v.Row] = v
			}
		}
	}
	return all
}

// A gateway that passes everything on keeps every trait.
func TestInnocent(t *testing.T) {
	for _, c := range []struct{ revision, transport string }{{"2026-07-28", "stdio"}, {"2026-07-28", "http"}, {"2025-11-25", "stdio"}, {"2025-11-25", "http"}} {
		t.Run(c.revision+"/"+c.transport, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				found := traits(compare(t, c.revision, c.transport, nil))
				if len(found) == 0 {
					t.Error("no trait was judged")
				}
				for _, v := range found {
					if v.Outcome != verdict.Pass && v.Outcome != verdict.NotApplicable {
						t.Errorf("%s is %s: %s", v.Row, v.Outcome, v.Why)
					}
				}
			})
		})
	}
}

// Each faulty gateway is found out under the trait that it does not keep, and
// under no other.
func TestMutants(t *testing.T) {
	all, err := mutant.Read("testdata/mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutant.Sample(all) {
		t.Run(m.Row+"@"+m.Revision+"/"+m.Transport, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				found := traits(compare(t, m.Revision, m.Transport, mutant.New(m)))
				for _, v := range found {
					if failed := v.Failed(); failed != (v.Row == m.Row) {
						t.Errorf("%s: %s is %s: %s", m.Place, v.Row, v.Outcome, v.Why)
					}
				}
			})
		})
	}
}
