package serverprobe_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/check/inprocess"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A server that streams without end is heard as long as there is room, the report
// says so, and the check ends. How much memory that room takes is tested where the
// log is.

func TestServerThatStreamsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := specimen.New(nil)
		h, err := streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
		if err != nil {
			t.Fatal(err)
		}
		site := mcptest.NewSite(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Mcp-Method") != "prompts/get" {
				h.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for n := 0; r.Context().Err() == nil; n++ {
				if _, err := fmt.Fprintf(w, "data: %s\n\n", endless(n)); err != nil {
					return
				}
			}
		}))
		defer func() {
			_ = h.Close(context.Background()) // nobody is connected any more
			site.Close()
			_ = s.Close(context.Background())
		}()
		judgeEndless(t, serverprobe.Target{Name: "endless", Site: &peer.Site{URL: site.URL, Client: site.Client}})
	})
}

func TestProcessThatWritesForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := specimen.New(nil)
		defer func() { _ = s.Close(context.Background()) }() // there is nothing that it could not end
		judgeEndless(t, serverprobe.Target{Name: "endless", Lines: func(context.Context) (io.ReadWriteCloser, error) {
			return newEndlessProcess(inprocess.Start(s)), nil
		}})
	})
}

// endless is a log message that nobody asked for.
func endless(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`, n)
}

// judgeEndless judges a server that begins to send without end while it is looked
// at what it offers.
func judgeEndless(t *testing.T, target serverprobe.Target) {
	t.Helper()
	begun := time.Now()
	report, err := serverprobe.Check(t.Context(), target, &serverprobe.Options{
		Revisions: []string{"2026-07-28"}, Rate: 1e9, Limits: peer.Limits{Total: 4 << 20, Messages: 2000},
	})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, "more in 2026-07-28 than the checker keeps") {
		t.Errorf("the report does not say that it is cut short: %s", notes)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// endlessProcess passes on what a server says until it answers prompts/list, and
// writes log messages from then on as fast as somebody reads them.
type endlessProcess struct {
	*inprocess.Server

	out  *io.PipeReader
	done chan struct{}
	once sync.Once
}

func newEndlessProcess(s *inprocess.Server) *endlessProcess {
	r, w := io.Pipe()
	p := &endlessProcess{Server: s, out: r, done: make(chan struct{})}
	go func() { // ends when nobody reads any more, or the server ends
		defer close(p.done)
		lines := bufio.NewReader(s)
		for {
			line, err := lines.ReadString('\n')
			if err == nil {
				_, err = io.WriteString(w, line)
			}
			if err != nil {
				_ = w.CloseWithError(err) // which does not fail
				return
			}
			if strings.Contains(line, `"prompts":[`) {
				break
			}
		}
		for n := 0; ; n++ {
			if n%100 == 99 {
				pass(time.Millisecond) // else the clock of the bubble stands still
			}
			if _, err := io.WriteString(w, endless(n)+"\n"); err != nil {
				return
			}
		}
	}()
	return p
}

// Read implements io.Reader.
func (p *endlessProcess) Read(b []byte) (int, error) { return p.out.Read(b) }

// Close ends the server.
func (p *endlessProcess) Close() error {
	var err error
	p.once.Do(func() {
		err = errors.Join(p.out.Close(), p.Server.Close())
		<-p.done
	})
	return err
}

// pass lets time pass in a bubble.
func pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}
