package webserver

import (
	"context"
	"io"
	"net/http"
)

// Health is a page that says that all is well, or, with 503, what is not.
func Health(check func(ctx context.Context) error) http.Handler {
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
