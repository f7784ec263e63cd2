package httpserve

import (
	"net/http"

	"github.com/parley-mcp/parley/internal/tap"
)

// seenWriter shows the response that it writes to a tap.
type seenWriter struct {
	http.ResponseWriter
	request *tap.Request
	begun   bool
}

// Show shows a request to the tap of a connection, and returns a writer that shows
// the response. Body, and a Response on that writer, show the frames.
func Show(w http.ResponseWriter, r *http.Request, on *tap.Conn) http.ResponseWriter {
	return &seenWriter{ResponseWriter: w, request: on.Request(r.Method, r.Header, r.Header.Get("Last-Event-ID"))}
}

// ConnOf returns the connection on which the request of a writer is shown, or
// otherwise if there is no tap.
func ConnOf(w http.ResponseWriter, otherwise *tap.Conn) *tap.Conn {
	if seen := requestOf(w); seen != nil {
		return seen.Conn()
	}
	return otherwise
}

// requestOf returns the request that Show made for a writer, or nil.
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

// Write implements http.ResponseWriter. A JSON object comes in a single Write.
func (w *seenWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.Header().Get("Content-Type") == "application/json" {
		w.request.Answer(b, "")
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap gives an http.ResponseController access to the underlying writer.
func (w *seenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
