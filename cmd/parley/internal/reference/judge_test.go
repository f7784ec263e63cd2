package reference

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/check/inprocess"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// longestJudgement is how long a judgement of the reference server may wait in all, at
// the pace that is usual: what it computes comes on top.
const longestJudgement = 25 * time.Second

// Whether a judgement is done soon depends on how often it waits, and not on the
// machine: so it is held by a clock that nobody else moves.
func TestJudgedSoon(t *testing.T) {
	t.Run("stdio", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			target := serverprobe.Target{Name: "parley serve", Apart: true, Lines: func(context.Context) (io.ReadWriteCloser, error) {
				return startProcess()
			}}
			judgedSoon(t, target, 5, 4)
		})
	})
	t.Run("http", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, Options{})
			h, err := streamable.New(r.srv, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
			if err != nil {
				t.Fatal(err)
			}
			site := mcptest.NewSite(h)
			defer func() {
				_ = h.Close(context.Background()) // nobody is connected any more
				site.Close()
			}()
			// HTTP+SSE is not served by default.
			judgedSoon(t, serverprobe.Target{Name: "parley serve", Site: &peer.Site{URL: site.URL, Client: site.Client}}, 4, 6)
		})
	})
}

// process is a server of its own, as each process of the command is.
type process struct {
	*inprocess.Server

	release func() error
}

func startProcess() (*process, error) {
	r, release, err := build(Options{Logger: mcptest.Quiet()})
	if err != nil {
		return nil, err
	}
	return &process{inprocess.Start(r.srv), release}, nil
}

// Close ends the server and releases what it held.
func (p *process) Close() error { return errors.Join(p.Server.Close(), p.release()) }

// judgedSoon judges the server in so many revisions, in each of which the tool that
// takes long may be called a few times: in the survey, to be cancelled, for its log
// messages and, over HTTP, for streams that are broken off.
func judgedSoon(t *testing.T, target serverprobe.Target, revisions, slowCalls int) {
	t.Helper()
	var called atomic.Int64
	begun := time.Now()
	report, err := serverprobe.Check(t.Context(), target, &serverprobe.Options{
		Jobs: 2, // as on two cores
		Heard: func(m *peer.Message) {
			if m.Sent && m.Method == mcp.MethodCallTool && m.Text("params/name") == "count_slowly" {
				called.Add(1)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Runs) != revisions {
		t.Errorf("it was judged in %d revisions, want %d", len(report.Runs), revisions)
	}
	if took := time.Since(begun); took > longestJudgement {
		t.Errorf("it took %s, want at most %s", took, longestJudgement)
	}
	if n := called.Load(); n > int64(slowCalls*revisions) {
		t.Errorf("the tool that takes long was called %d times in %d revisions, want at most %d in each", n, revisions, slowCalls)
	}
	for _, run := range report.Runs {
		for _, v := range run.Verdicts {
			if v.Outcome == verdict.Fail {
				t.Errorf("%s over %s: %s: %s", run.Revision, run.Transport, v.Row, v.Why)
			}
		}
	}
}
