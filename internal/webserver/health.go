package webserver

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// The pages of a Health.
const (
	HealthPath = "/healthz"
	ReadyPath  = "/readyz"
)

// ErrEnding is what ReadyPath says while a server ends.
var ErrEnding = errors.New("the server is shutting down")

// Health is what platforms and load balancers ask: whether the process answers, and
// whether requests are to be sent to it.
type Health struct {
	// Ending is closed when the server is told to end. From then on it is not ready, while
	// it still answers: balancers are to turn away in time, but nobody is to kill a process
	// that ends in order.
	Ending <-chan struct{}
	// Ready says why the server cannot take requests yet, or returns nil. If it is nil, the
	// server can.
	Ready func(ctx context.Context) error
}

// Mount adds the pages.
func (h Health) Mount(mux *http.ServeMux) {
	mux.Handle("GET "+HealthPath, answers(func(context.Context) error { return nil }))
	mux.Handle("GET "+ReadyPath, answers(h.ready))
}

func (h Health) ready(ctx context.Context) error {
	select {
	case <-h.Ending:
		return ErrEnding
	default:
	}
	if h.Ready == nil {
		return nil
	}
	return h.Ready(ctx)
}

// answers is a page that says that all is well, or, with 503, what is not.
func answers(check func(ctx context.Context) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := "ok"
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if err := check(r.Context()); err != nil {
			text = err.Error()
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, text+"\n") // a client that is gone does not matter
	})
}
