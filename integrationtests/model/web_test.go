package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/sse"
)

// web is a client over HTTP: each message is a request of its own, and each
// response may be cut.
type web struct {
	ears
	http    *http.Client
	version string
	running sync.WaitGroup

	mu        sync.Mutex
	session   string
	exchanges []*exchange
}

// exchange is one HTTP request and its response.
type exchange struct {
	method, tag string
	cancel      context.CancelFunc
	done        chan struct{}

	// The following is known when done is closed.
	last  string // ID of the last event that came
	whole bool   // the response is complete
	lost  bool   // it was cut, and not resumed yet
}

func newWeb(c *http.Client, version string) *web { return &web{http: c, version: version} }

func (w *web) send(tag, frame string) { w.do(http.MethodPost, tag, frame, "") }

// listen opens the standing stream of a session.
func (w *web) listen() { w.do(http.MethodGet, "", "", "") }

func (w *web) do(method, tag, frame, last string) {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1/", strings.NewReader(frame))
	if err != nil {
		panic(err) // the test is wrong
	}
	ex := &exchange{method: method, tag: tag, cancel: cancel, done: make(chan struct{}), last: last}
	w.mu.Lock()
	w.header(r, frame)
	w.exchanges = append(w.exchanges, ex)
	w.mu.Unlock()
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	w.running.Go(func() { // ends with the response
		defer cancel()
		defer close(ex.done)
		resp, err := w.http.Do(r)
		if err == nil {
			defer func() { _ = resp.Body.Close() }()
			err = w.take(resp, ex)
		}
		if ex.whole = err == nil; !ex.whole && ctx.Err() == nil {
			w.hear(tag, "no response: "+err.Error()) // which the judge rejects
		}
	})
}

// take receives a response.
func (w *web) take(resp *http.Response, ex *exchange) error {
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		w.mu.Lock()
		w.session = id
		w.mu.Unlock()
	}
	if resp.Header.Get("Content-Type") == sse.ContentType {
		return w.follow(resp.Body, ex)
	}
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
	case ex.method == http.MethodGet:
		err = fmt.Errorf("%s: %s", resp.Status, body)
	case len(body) > 0:
		w.hear(ex.tag, string(body))
	}
	return err
}

// follow receives a stream.
func (w *web) follow(body io.Reader, ex *exchange) error {
	events := sse.NewReader(body, 1<<20)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.ID != "" {
			ex.last = e.ID
		}
		if len(e.Data) > 0 {
			w.hear(ex.tag, string(e.Data))
		}
	}
}

// header sets the headers that mirror the message. The caller holds w.mu.
func (w *web) header(r *http.Request, frame string) {
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if w.version != "2026-07-28" {
		if w.session != "" {
			r.Header.Set("Mcp-Session-Id", w.session)
		}
		return
	}
	m := decoded(frame)
	r.Header.Set("MCP-Protocol-Version", w.version)
	r.Header.Set("Mcp-Method", m.Method)
	if m.Params.Name != "" {
		r.Header.Set("Mcp-Name", m.Params.Name)
	}
}

func (w *web) abandon(tag string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ex := range w.exchanges {
		if ex.tag == tag {
			ex.cancel()
		}
	}
	return true
}

// cut implements cutter.
func (w *web) cut(n int) (lost string) {
	w.mu.Lock()
	open := slices.DeleteFunc(slices.Clone(w.exchanges), func(ex *exchange) bool {
		standing := ex.tag == "" && ex.method == http.MethodGet
		return ex.over() || standing != (n == 9) || ex.tag == "" && !standing
	})
	w.mu.Unlock()
	if len(open) == 0 {
		return ""
	}
	ex := open[n%len(open)]
	ex.cancel()
	<-ex.done
	if ex.lost = !ex.whole; ex.lost && ex.last == "" {
		return ex.tag
	}
	return ""
}

// over reports whether the response has ended.
func (ex *exchange) over() bool {
	select {
	case <-ex.done:
		return true
	default:
		return false
	}
}

// resume implements cutter.
func (w *web) resume() {
	w.mu.Lock()
	all := slices.Clone(w.exchanges)
	w.mu.Unlock()
	for _, ex := range all {
		if ex.lost && (ex.last != "" || ex.method == http.MethodGet) {
			ex.lost = false
			w.do(http.MethodGet, ex.tag, "", ex.last)
		}
	}
}

// close ends the session, or leaves that to the server.
func (w *web) close(rude bool) {
	w.mu.Lock()
	for _, ex := range w.exchanges {
		ex.cancel()
	}
	w.mu.Unlock()
	w.running.Wait()
	if w.session != "" && !rude {
		w.do(http.MethodDelete, "", "", "")
		w.running.Wait()
	}
}
