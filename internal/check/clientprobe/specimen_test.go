package clientprobe_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/internal/check/clientprobe"
	"github.com/parley-mcp/parley/internal/check/mutant"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/child"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/frames"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// judge judges the specimen in one revision, over one transport, with the
// faults of a mutant, if it is given one.
func judge(t *testing.T, revision, transport string, fault *fault, o clientprobe.Options) *verdict.Report {
	t.Helper()
	var site *mcptest.Site
	o.Revisions, o.Lines, o.Name = []string{revision}, transport == "stdio", "specimen"
	o.Processes = o.Lines
	o.Serve = func(h http.Handler) (string, string, func(), error) {
		site = mcptest.NewSite(h)
		return site.URL, "http://elsewhere.example", site.Close, nil
	}
	if os.Getenv("PARLEY_CHECK_TRACE") != "" {
		o.Played = func(x *clientprobe.X) { trace(t, x) }
	}
	report, err := clientprobe.Check(t.Context(), func(ctx context.Context, p *clientprobe.Place) error {
		var faulty *mutant.Faulty
		if fault != nil && (!fault.mutant.Only || fault.mutant.Scenario == p.Scenario.Name) {
			faulty = mutant.New(fault.mutant)
			defer func() { fault.fired = fault.fired || faulty.Fired() }()
		}
		return specimen.Use(ctx, reach(p, site, faulty), nil)
	}, &o)
	if err != nil {
		t.Fatalf("%s over %s: %v", revision, transport, err)
	}
	return report
}

// reach is the specimen's transport to a scripted server.
func reach(p *clientprobe.Place, site *mcptest.Site, faulty *mutant.Faulty) mcp.Transport {
	if p.Transport == "stdio" {
		return &frames.Client{Label: "judge", Dial: func(context.Context) (frames.Conn, error) {
			stream := p.Connect()
			if faulty != nil {
				stream = faulty.Lines(stream)
			}
			running := process{stream}
			return frames.Lines(running, running, 0), nil
		}}
	}
	c := *site.Client
	if faulty != nil {
		c.Transport = faulty.HTTP(c.Transport)
	}
	if p.Transport == "http+sse" {
		return &sse.Client{URL: p.URL, HTTP: &c}
	}
	if strings.HasPrefix(p.Scenario.Name, "auth") {
		web := c
		way, err := oauth.New(&oauth.Options{
			URL: p.URL, HTTP: &web, Grant: &oauth.AuthorizationCode{Receiver: visitor{&web}}, ClientMetadataURL: "https://app.example.com/client.json", Logger: mcptest.Quiet(),
		})
		if err != nil {
			panic(err) // the options are right
		}
		c.Transport = way.Transport(c.Transport)
	}
	return &streamable.Client{URL: p.URL, HTTP: &c, Logger: mcptest.Quiet()}
}

// process is a server that ends as a process of the SDK does: the checker's can, and
// so can a mutant of it.
type process struct{ io.ReadWriteCloser }

func (p process) Close() error {
	child.End(p.ReadWriteCloser.(child.Steps))
	return p.ReadWriteCloser.Close()
}

// visitor is a browser that goes where it is sent, until it is sent back.
type visitor struct{ web *http.Client }

// Listen implements oauth.Receiver.
func (v visitor) Listen(context.Context, []string) (oauth.Reception, error) { return v, nil }

// RedirectURI implements oauth.Reception.
func (visitor) RedirectURI() string { return "http://127.0.0.1:33418/callback" }

// Close implements oauth.Reception.
func (visitor) Close() error { return nil }

// Receive implements oauth.Reception.
func (v visitor) Receive(ctx context.Context, r oauth.AuthorizationRequest) (url.Values, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, http.NoBody)
	if err != nil {
		return nil, err
	}
	web := *v.web
	web.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := web.Do(req)
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close() // nothing is in it
	to, err := resp.Location()
	if err != nil {
		return nil, err
	}
	return to.Query(), nil
}

// fault is a mutant at work: its switches are as new in each scenario.
type fault struct {
	mutant *mutant.Mutant
	fired  bool
}

// trace shows what was said in the scenario that PARLEY_CHECK_TRACE names, or in
// all for "all".
func trace(t *testing.T, x *clientprobe.X) {
	t.Helper()
	if want := os.Getenv("PARLEY_CHECK_TRACE"); want != "all" && want != x.Scenario.Name {
		return
	}
	t.Logf("scenario %s of %s over %s, which ended with %v", x.Scenario.Name, x.Revision, x.Transport, x.Ending)
	for _, e := range x.Log.Exchanges() {
		if e.Message == nil {
			t.Logf("  %s %s -> %d at %v-%v %v", e.Method, e.URL, e.Status, e.At, e.Ended, e.Header)
		}
	}
	for _, m := range x.Log.Messages() {
		from, status := "client", ""
		if m.Sent {
			from = "server"
		}
		if m.Exchange != nil {
			status = fmt.Sprintf("(%d)", m.Exchange.Status)
		}
		if params := m.Object("params"); params != nil && !m.Sent {
			delete(params, "_meta")
			t.Logf("  %d %v %s: %s %s %.150s %s", m.Number, m.At, from, m.ID, m.Method, peer.Encode(params), status)
			continue
		}
		t.Logf("  %d %v %s: %.200s %s", m.Number, m.At, from, m.Raw, status)
	}
}
