package model_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/sse"
)

// old is a client over HTTP+SSE.
type old struct {
	ears
	http    *http.Client
	running sync.WaitGroup
	ctx     context.Context // ended by close
	end     context.CancelFunc

	mu       sync.Mutex
	endpoint string
}

func newOld(c *http.Client, settle func()) *old {
	o := &old{http: c}
	o.ctx, o.end = context.WithCancel(context.Background())
	o.running.Go(o.listen) // ends with close
	settle()
	return o
}

func (o *old) listen() {
	r, err := http.NewRequestWithContext(o.ctx, http.MethodGet, "http://127.0.0.1/sse", nil)
	if err != nil {
		panic(err) // the test is wrong
	}
	resp, err := o.http.Do(r)
	if err != nil {
		return
	}
	defer func() { _ = resp.Body.Close() }()
	events := sse.NewReader(resp.Body, 1<<20)
	for {
		e, err := events.Next()
		if err != nil {
			return
		}
		if e.Name == "endpoint" {
			o.mu.Lock()
			o.endpoint = string(e.Data)
			o.mu.Unlock()
			continue
		}
		o.hear("", string(e.Data))
	}
}

func (o *old) send(_, frame string) {
	o.mu.Lock()
	r, err := http.NewRequestWithContext(o.ctx, http.MethodPost, "http://127.0.0.1"+o.endpoint, strings.NewReader(frame))
	o.mu.Unlock()
	if err != nil {
		panic(err) // the test is wrong
	}
	r.Header.Set("Content-Type", "application/json")
	o.running.Go(func() { // ends with the POST, or with close
		resp, err := o.http.Do(r)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	})
}

func (o *old) abandon(string) bool { return false }

func (o *old) close(bool) {
	o.end()
	o.running.Wait()
}
