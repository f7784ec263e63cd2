package serverprobe_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/check/inprocess"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/server"
)

// processes starts specimens, each a server of its own as a process is.
type processes struct {
	mu       sync.Mutex
	running  int
	atOnce   int
	mostOnce int // how many may run at once; 0 means any
}

func (p *processes) target() serverprobe.Target {
	return serverprobe.Target{Name: "specimen", Apart: true, Lines: p.start}
}

func (p *processes) start(context.Context) (io.ReadWriteCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mostOnce > 0 && p.running >= p.mostOnce {
		return nil, errors.New("somebody else holds the lock")
	}
	p.running++
	p.atOnce = max(p.atOnce, p.running)
	s := specimen.New(nil)
	return &processOf{inprocess.Start(s), s, p}, nil
}

type processOf struct {
	*inprocess.Server

	s   *server.Server
	all *processes
}

func (p *processOf) Close() error {
	defer func() {
		p.all.mu.Lock()
		defer p.all.mu.Unlock()
		p.all.running--
	}()
	return errors.Join(p.Server.Close(), p.s.Close(context.Background()))
}

// Revisions that are judged at once get the verdicts that they get one after the
// other, in the same order, and sooner.
func TestRevisionsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took [2]time.Duration
		var reports [2]*verdict.Report
		for n, jobs := range []int{1, 5} {
			begun := time.Now()
			var err error
			reports[n], err = serverprobe.Check(t.Context(), (&processes{}).target(), &serverprobe.Options{Rate: 1e9, Jobs: jobs})
			if err != nil {
				t.Fatal(err)
			}
			took[n] = time.Since(begun)
		}
		if took[1] > took[0]/2 {
			t.Errorf("it took %s at once, and %s one after the other", took[1], took[0])
		}
		if len(reports[0].Runs) != 5 || len(reports[1].Runs) != 5 {
			t.Fatalf("%d and %d revisions were judged, want 5", len(reports[0].Runs), len(reports[1].Runs))
		}
		for n, run := range reports[0].Runs {
			other := reports[1].Runs[n]
			if run.Revision != other.Revision {
				t.Errorf("the run %d is that of %s, want %s", n, other.Revision, run.Revision)
			}
			for i, v := range run.Verdicts {
				if o := other.Verdicts[i]; o.Row != v.Row || o.Outcome != v.Outcome {
					t.Errorf("%s: %s is %q at once (%s), and %s %q one after the other (%s)", run.Revision, o.Row, o.Outcome, o.Why, v.Row, v.Outcome, v.Why)
				}
			}
		}
	})
}

// However many revisions are judged at once, the server gets no more messages in a
// second than the rate allows.
func TestRateHoldsForAll(t *testing.T) {
	const rate, burst = 50, 10
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sent []time.Time
		_, err := serverprobe.Check(t.Context(), (&processes{}).target(), &serverprobe.Options{Rate: rate, Jobs: 5, Heard: func(m *peer.Message) {
			if m.Sent && m.Batch == nil {
				mu.Lock()
				defer mu.Unlock()
				sent = append(sent, time.Now())
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(sent, time.Time.Compare)
		for n := rate + burst + 1; n < len(sent); n++ {
			if d := sent[n].Sub(sent[n-rate-burst-1]); d < time.Second {
				t.Fatalf("%d messages were sent within %s", rate+burst+2, d)
			}
		}
	})
}

// A command that does not bear its like beside it is judged in all revisions all the
// same, one after the other, and accused of nothing.
func TestServerThatLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &processes{mostOnce: 1}
		report, err := serverprobe.Check(t.Context(), p.target(), &serverprobe.Options{Rate: 1e9, Jobs: 5})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Runs) != 5 || p.atOnce != 1 {
			t.Errorf("%d revisions were judged, by %d processes at once", len(report.Runs), p.atOnce)
		}
		for _, run := range report.Runs {
			for _, v := range run.Verdicts {
				if v.Outcome == verdict.Fail || v.Outcome == verdict.Warn {
					t.Errorf("%s: %s", run.Revision, describe(v))
				}
			}
		}
	})
}

// Revisions are judged one after the other over HTTP, where tools may write, and
// where the conversations share a server.
func TestOneRevisionAtATime(t *testing.T) {
	for name, c := range map[string]struct {
		transport string
		apart     bool
		options   serverprobe.Options
	}{
		"http":      {"http", true, serverprobe.Options{Jobs: 5}},
		"shared":    {"stdio", false, serverprobe.Options{Jobs: 5}},
		"allowed":   {"stdio", true, serverprobe.Options{Allow: []string{"write_note"}}},
		"all":       {"stdio", true, serverprobe.Options{AllowAll: true}},
		"asked for": {"stdio", true, serverprobe.Options{Jobs: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target, stop := serve(t, c.transport, "", nil)
				defer stop()
				target.Apart = c.apart
				c.options.Rate, c.options.Revisions, c.options.Only = 1e9, []string{"2026-07-28", "2025-11-25"}, []string{"tools/declared"}
				c.options.Progress = func(p serverprobe.Progress) {
					if len(p.Revisions) != 1 {
						t.Errorf("%s are judged at once", p.Revisions)
					}
				}
				if _, err := serverprobe.Check(t.Context(), target, &c.options); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
