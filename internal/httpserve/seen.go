package httpserve

import (
	"net/http"

	"github.com/parley-mcp/parley/internal/tap"
)

// seenWriter shows the response that it writes.
type seenWriter struct {
	http.ResponseWriter
	request *tap.Request
	begun   bool
}

// Show shows a request on a connection that somebody looks at, and returns a
// writer that shows the response. Body, and a Response on that writer, show what
// frames there are.
func Show(w http.ResponseWriter, r *http.Request, on *tap.Conn) http.ResponseWriter {
	return &seenWriter{ResponseWriter: w, request: on.Request(r.Method, r.Header, r.Header.Get("Last-Event-ID"))}
}

// ConnOf returns the connection that the request of a writer is shown on, or
// otherwise where nobody looks.
func ConnOf(w http.ResponseWriter, otherwise *tap.Conn) *tap.Conn {
	if seen := requestOf(w); seen != nil {
		return seen.Conn()
	}
	return otherwise
}

// requestOf returns what Show has made for a writer, or nil.
func requestOf(w http.ResponseWriter) *tap.Request {
	if seen, ok := w.(*seenWriter); ok {
		return seen.request
	}
	return nil
}

// WriteHeader implements http.ResponseWriter.
func (w *seenWriter) WriteHeader(status int) {
	if !w.begun && status >= http.StatusOK {
		w.begun = true
		w.request.Responded(status, w.Header())
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. An object is written at once.
func (w *seenWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.Header().Get("Content-Type") == "application/json" {
		w.request.Answer(b, "")
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets an http.ResponseController find what the writer can do.
func (w *seenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
