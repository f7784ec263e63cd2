package peer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Site is where an HTTP server is.
type Site struct {
	URL string
	// Client sends requests; redirects are not followed. nil means a client of
	// its own.
	Client *http.Client
	// Header goes with each request.
	Header http.Header
}

// OverHTTP makes a conversation with an endpoint of Streamable HTTP. Each
// message is a request of its own.
func OverHTTP(log *Log, site Site) *Conn {
	c, w := newWeb(log, site)
	c.link = w
	return c
}

// Get opens a stream of messages, as GET does. The caller ends it with Stop.
func (c *Conn) Get(ctx context.Context, header http.Header) *Reply {
	return c.Start(ctx, &Out{HTTPMethod: http.MethodGet, Header: header})
}

func newWeb(log *Log, site Site) (*Conn, *web) {
	client := &http.Client{}
	if site.Client != nil {
		*client = *site.Client
	}
	client.Timeout = 0
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c := &Conn{Log: log, Number: log.NewConn()}
	ctx, cancel := context.WithCancel(context.Background())
	return c, &web{conn: c, site: site, client: client, life: ctx, end: cancel}
}

type web struct {
	conn    *Conn
	site    Site
	client  *http.Client
	life    context.Context //nolint:containedctx // that of the conversation, which has no call
	end     context.CancelFunc
	running sync.WaitGroup
	over    bool // guarded by the log
	used    atomic.Int64
}

// idle is how long a connection may have been out of use and be used again. Many
// servers close theirs after 5 s: a request that goes out at that moment gets no
// answer, which is no fault of theirs.
const idle = 2 * time.Second

// refresh closes connections that have been out of use for too long.
func (w *web) refresh() {
	now := time.Now()
	if now.Sub(time.Unix(0, w.used.Swap(now.UnixNano()))) > idle {
		w.client.CloseIdleConnections()
	}
}

func (w *web) closed() bool { return w.over }

func (w *web) close() error {
	w.end()
	w.running.Wait()
	w.conn.Log.Update(func() { w.over = true })
	return nil
}

func (w *web) send(ctx context.Context, out *Out) (*Message, *Exchange, error) {
	return w.post(ctx, w.site.URL, out)
}

// post makes a request of its own for the message.
func (w *web) post(ctx context.Context, to string, out *Out) (*Message, *Exchange, error) {
	to = cmp.Or(out.URL, to)
	if out.Query != "" {
		u, err := url.Parse(to)
		if err != nil {
			return nil, nil, err
		}
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+out.Query, "&")
		to = u.String()
	}
	e := &Exchange{Conn: w.conn.Number, Method: cmp.Or(out.HTTPMethod, http.MethodPost), URL: to, Body: out.Raw, Header: w.header(out), Secret: slices.Collect(maps.Keys(w.site.Header))}
	if w.life.Err() != nil {
		return nil, nil, errors.New("the conversation has been closed")
	}
	w.conn.Log.Begin(e)
	var m *Message
	if out.Raw != nil {
		m = &Message{Conn: w.conn.Number, Sent: true, Raw: out.Raw, Exchange: e}
		w.conn.Log.Add(m)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(w.life, cancel) //nolint:contextcheck // the exchange also ends with the conversation
	w.running.Go(func() {                     // ends with the exchange, or the conversation
		defer cancel()
		defer stop()
		err := w.exchange(ctx, e)
		w.conn.Log.Update(func() {
			e.Err, e.Done, e.Ended = err, true, time.Since(w.conn.Log.begun)
			e.Aborted = e.Aborted || ctx.Err() != nil
		})
	})
	return m, e, nil
}

// header returns the headers of a request: those that the protocol wants, those
// of the site, and those of the message.
func (w *web) header(out *Out) http.Header {
	h := http.Header{}
	if out.Raw != nil {
		h.Set("Content-Type", "application/json")
		h.Set("Accept", "application/json, text/event-stream")
	} else if out.HTTPMethod == http.MethodGet {
		h.Set("Accept", "text/event-stream")
	}
	for _, more := range []http.Header{w.site.Header, out.Header} {
		for name, values := range more {
			if len(values) == 0 {
				delete(h, name)
				continue
			}
			h[name] = slices.Clone(values)
		}
	}
	return h
}

func (w *web) exchange(ctx context.Context, e *Exchange) error {
	var body io.Reader
	if e.Body != nil {
		body = bytes.NewReader(e.Body)
	}
	req, err := http.NewRequestWithContext(ctx, e.Method, e.URL, body)
	if err != nil {
		return err
	}
	req.Header = e.Header.Clone()
	if host := e.Header.Get("Host"); host != "" {
		req.Host = host
	}
	if e.Header["User-Agent"] == nil {
		req.Header.Set("User-Agent", "parley-check")
	}
	w.refresh()
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	w.conn.Log.Update(func() { e.Status, e.ResponseHeader = resp.StatusCode, resp.Header })
	if e.IsStream() {
		return w.stream(ctx, e, resp.Body)
	}
	return w.whole(ctx, e, resp.Body)
}

// stream reads an event stream.
func (w *web) stream(ctx context.Context, e *Exchange, body io.Reader) error {
	return readEvents(body, w.conn.Log.limits.Message, func(event *Event) bool {
		w.conn.Log.event(e, event)
		w.conn.event(ctx, e, event)
		return !w.conn.Log.Full()
	})
}

// event takes the message out of an event.
func (c *Conn) event(ctx context.Context, e *Exchange, event *Event) {
	if hook, ok := c.link.(interface{ endpoint(*Exchange, *Event) bool }); ok && hook.endpoint(e, event) {
		return
	}
	if len(event.Data) > 0 {
		c.receive(ctx, &Message{Raw: event.Data, Exchange: e, Event: event})
	}
}

// whole reads a body that is no stream. It is a message if it says that it is
// JSON, or looks like it.
func (w *web) whole(ctx context.Context, e *Exchange, body io.Reader) error {
	limit := w.conn.Log.limits.Message
	text, err := io.ReadAll(io.LimitReader(body, int64(limit)+1))
	w.conn.Log.Update(func() { e.Text = text })
	trimmed := bytes.TrimSpace(text)
	named := len(trimmed) > 0 && MediaType(e.ResponseHeader) == "application/json" && e.Method == http.MethodPost && !isPage(e.Status, trimmed)
	if named || bytes.HasPrefix(trimmed, []byte("{")) && bytes.Contains(trimmed, []byte(`"jsonrpc"`)) {
		w.conn.receive(ctx, &Message{Raw: text, Exchange: e})
	}
	return err
}

// isPage reports whether the body of a refusal is an object of a framework's own,
// which has only its media type in common with messages. No page wants a refusal to
// have a message.
func isPage(status int, body []byte) bool {
	v, err := Decode(body)
	o, object := v.(map[string]any)
	if status < http.StatusBadRequest || err != nil || !object {
		return false
	}
	for _, member := range []string{"jsonrpc", "id", "method", "result"} {
		if _, ok := o[member]; ok {
			return false
		}
	}
	return true
}

// OverSSE makes a conversation over HTTP+SSE, the transport of the first
// revision: it opens the stream and waits for the endpoint.
func OverSSE(ctx context.Context, log *Log, site Site, patience Patience) (*Conn, error) {
	c, w := newWeb(log, site)
	s := &twoWays{web: w}
	c.link, c.Patience = s, patience
	_, e, err := w.post(context.WithoutCancel(ctx), site.URL, &Out{HTTPMethod: http.MethodGet})
	if err != nil {
		return nil, err
	}
	log.Update(func() { s.events = e })
	ctx, cancel := context.WithTimeout(ctx, patience.orDefaults().Reply)
	defer cancel()
	c.Log.Await(ctx, func() bool { return s.to != "" || e.Done })
	if s.to == "" {
		_ = s.close()
		if e.Err != nil {
			return nil, e.Err
		}
		return nil, errors.New("the server names no endpoint on the stream at " + site.URL + " (status " + http.StatusText(e.Status) + ")")
	}
	return c, nil
}

// twoWays is HTTP+SSE: messages go out as requests, and come on one stream.
type twoWays struct {
	*web
	events *Exchange
	to     string // guarded by the log
}

func (s *twoWays) elsewhere() bool { return true }

func (s *twoWays) closed() bool { return s.over || s.events != nil && s.events.Done }

func (s *twoWays) send(ctx context.Context, out *Out) (*Message, *Exchange, error) {
	to := ""
	s.conn.Log.Look(func() { to = s.to })
	return s.post(ctx, to, out)
}

// endpoint takes the address out of the first event of the conversation's stream.
func (s *twoWays) endpoint(e *Exchange, event *Event) bool {
	if event.Name != "endpoint" {
		return false
	}
	base, err := url.Parse(s.site.URL)
	if err != nil {
		return true
	}
	to, err := base.Parse(string(event.Data))
	if err == nil && len(event.Data) > 0 && to.Scheme == base.Scheme && to.Host == base.Host {
		s.conn.Log.Update(func() {
			if s.to == "" && (s.events == nil || s.events == e) {
				s.to = to.String()
			}
		})
	}
	return true
}
