package serverprobe_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/internal/check/inprocess"
	"github.com/parley-mcp/parley/internal/check/mutant"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// judge is judgeAs for the usual server.
func judge(t *testing.T, revision, transport string, faulty *mutant.Faulty, o serverprobe.Options) *verdict.Report {
	t.Helper()
	return judgeAs(t, revision, transport, "", faulty, o)
}

// judgeAs checks the specimen in one revision, over one transport, with the
// faults of a mutant, if it is given one. The scenario is "", "modern" for a
// server that has no sessions, "protected" for one that wants credentials,
// "exposed" for one that is reached at all addresses, or "changing" to have tools
// called that change what others see.
func judgeAs(t *testing.T, revision, transport, scenario string, faulty *mutant.Faulty, o serverprobe.Options) *verdict.Report {
	t.Helper()
	target, stop := serve(t, transport, scenario, faulty)
	defer stop()
	o.Revisions = []string{revision}
	o.Rate = 1e9
	o.AllowAll = o.AllowAll || scenario == "changing" || revision == "2024-11-05" // in which tools can't say that they only read
	report, err := serverprobe.Check(t.Context(), target, &o)
	if err != nil {
		t.Fatalf("%s over %s: %v", revision, transport, err)
	}
	return report
}

// serve starts a specimen in this process.
func serve(t *testing.T, transport, scenario string, faulty *mutant.Faulty) (serverprobe.Target, func()) {
	t.Helper()
	options := &server.Options{}
	if scenario == "modern" {
		options.Revisions = []mcp.Revision{mcp.Revision20260728}
	}
	s := specimen.New(options)
	if transport == "stdio" {
		return serverprobe.Target{Name: "specimen", Lines: func(context.Context) (io.ReadWriteCloser, error) {
			return overLines(s, faulty), nil
		}}, func() { _ = s.Close(context.Background()) }
	}
	var h interface {
		closer
		mcptestHandler
	}
	var err error
	if transport == "http+sse" {
		h, err = sse.New(s, &sse.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
	} else {
		h, err = streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
	}
	if err != nil {
		t.Fatal(err)
	}
	var header http.Header
	var served http.Handler = h
	if scenario == "protected" {
		header = http.Header{"Authorization": {"Bearer secret"}}
		served = protected(h)
	}
	site := mcptest.NewSite(served)
	client := *site.Client
	if scenario != "exposed" {
		client.Transport = only{site.URL, client.Transport}
	}
	if faulty != nil {
		client.Transport = faulty.HTTP(client.Transport)
	}
	return serverprobe.Target{Name: "specimen", Site: &peer.Site{URL: site.URL, Client: &client, Header: header}}, func() {
		_ = h.Close(context.Background())
		site.Close()
		_ = s.Close(context.Background())
	}
}

// only reaches one server, where a network in memory has it at every address.
type only struct {
	url  string
	base http.RoundTripper
}

func (o only) RoundTrip(r *http.Request) (*http.Response, error) {
	if "http://"+r.URL.Host != o.url {
		return nil, errors.New("connection refused")
	}
	return o.base.RoundTrip(r)
}

// protected wants credentials for h.
func protected(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func overLines(s mcp.Handler, faulty *mutant.Faulty) io.ReadWriteCloser {
	p := inprocess.Start(s)
	if faulty != nil {
		return faulty.Lines(p)
	}
	return p
}

// A server that was too slow for a revision may speak it all the same.
func TestSilenceIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target, stop := serve(t, "stdio", "", nil)
		defer stop()
		lines, started := target.Lines, 0
		target.Lines = func(ctx context.Context) (io.ReadWriteCloser, error) {
			if started++; started == 1 {
				ours, theirs := net.Pipe()
				go func() { _, _ = io.Copy(io.Discard, theirs) }()
				return ours, nil
			}
			return lines(ctx)
		}
		o := serverprobe.Options{Revisions: []string{"2025-11-25", "2025-06-18"}, Rate: 1e9}
		report, err := serverprobe.Check(t.Context(), target, &o)
		if err != nil || len(report.Runs) != 1 {
			t.Fatalf("%d runs: %v", len(report.Runs), err)
		}
		if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, "2025-11-25 was not judged: the server says nothing in time to initialize") {
			t.Errorf("the notes are %q", notes)
		}
	})
}
