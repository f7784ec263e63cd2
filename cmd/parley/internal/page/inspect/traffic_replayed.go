package inspect

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/record"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/mcp"
)

// replay is one request for the rest of a stream.
type replay struct {
	c        *Connection
	event    string
	patience patience
	web      *http.Client
	header   http.Header
	seen     *tap.Conn
	exchange uint64 // in the recording
	began    chan begun
}

func newReplay(c *Connection, event string, wait patience) *replay {
	place := c.observed().place()
	p := &replay{c: c, event: event, patience: wait, web: httpcall.Guarded(c.maker()), header: place.header, began: make(chan begun, 1)}
	if p.header == nil {
		p.header = c.wished().Header.Clone()
	}
	p.seen = tap.New(func(e mcp.TapEvent) {
		e.Connection, e.Session = place.connection, place.session
		p.exchange = c.Frames.Aside(e)
		partOf[bell](c).ring(c)
	}, nil, mcp.ClientSide)
	return p
}

// run asks, and reads what comes until the server ends the stream, or nothing comes any
// more. stop ends ctx.
func (p *replay) run(ctx context.Context, stop context.CancelFunc) {
	timer := time.AfterFunc(p.patience.answer, stop)
	defer timer.Stop()
	resp, err := p.ask(ctx)
	if err != nil {
		p.end(record.Lost)
		p.began <- begun{failed: p.explain(ctx, err)}
		return
	}
	defer p.end(record.Done)
	defer func() { _ = resp.Body.Close() }() // it has ended, or is given up
	if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); resp.StatusCode != http.StatusOK || strings.TrimSpace(kind) != sse.ContentType {
		p.began <- begun{Event: p.event, Status: resp.StatusCode, Said: p.refusal(resp)}
		return
	}
	p.began <- begun{Event: p.event, Status: resp.StatusCode}
	timer.Reset(p.patience.quiet)
	p.read(resp.Body, func() { timer.Reset(p.patience.quiet) })
}

// end has whoever watches learn that nothing more comes.
func (p *replay) end(how record.ExchangeState) {
	p.c.Frames.End(p.exchange, how, time.Now())
	partOf[bell](p.c).ring(p.c)
}

// ask sends the request, with the header that those of the client have.
func (p *replay) ask(ctx context.Context) (*http.Response, error) {
	u, err := httpcall.ParseURL(p.c.wished().URL)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if p.header != nil {
		req.Header = p.header
	}
	req.Header.Del("Content-Type")
	req.Header.Set("Accept", sse.ContentType)
	req.Header.Set("Last-Event-ID", p.event)
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	seen := p.seen.Request(http.MethodGet, req.Header, p.event)
	resp, err := p.web.Do(req)
	if err != nil {
		return nil, err
	}
	seen.Responded(resp.StatusCode, resp.Header)
	resp.Body = seen.Carry(resp.Body)
	return resp, nil
}

// explain says why there is no answer.
func (p *replay) explain(ctx context.Context, err error) *web.Error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return p.c.explain(err)
	}
	e := web.Errorf(http.StatusGatewayTimeout, "timeout", "the server did not begin to answer within %s", p.patience.answer)
	e.Hint = "It may have nothing to send after this event, and answer with the next one: choose an earlier event."
	return e
}

// refusal reads enough of an answer that is no stream to quote it.
func (p *replay) refusal(resp *http.Response) string {
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 2048)) // a part is enough
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		tap.Of(resp.Body).Answer(said, "")
	}
	return string(said)
}

// read shows the events of a stream to the recording, and calls moved for each.
func (p *replay) read(body io.Reader, moved func()) {
	events, seen := sse.NewReader(body, 64<<20), tap.Of(body)
	defer events.Release()
	for range replayEvents {
		e, err := events.Next()
		if err != nil {
			return
		}
		moved()
		if len(e.Data) > 0 {
			seen.Answer(e.Data, e.ID)
		}
	}
}
