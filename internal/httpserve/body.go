package httpserve

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"
)

// ErrLong says that a body is longer than its limit.
var ErrLong = errors.New("the body is too long")

// CheckType returns nil if the headers of a request say that its body is plain
// JSON, or else what is wrong with them. Two Content-Types are refused, since an
// intermediary may have gone by the other one.
func CheckType(r *http.Request) error {
	types := r.Header["Content-Type"]
	if len(types) != 1 || !isJSON(types[0]) {
		return errors.New("Content-Type must be application/json")
	}
	if r.Header.Get("Content-Encoding") != "" {
		return errors.New("a Content-Encoding is not supported")
	}
	return nil
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// Body reads the body of a request. It fails with ErrLong when the body is longer
// than limit bytes, and with another error when it did not arrive completely
// within timeout.
func Body(w http.ResponseWriter, r *http.Request, limit int64, timeout time.Duration) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, ErrLong
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(timeout)) // not every writer supports deadlines
	body, err := readAll(r.Body, r.ContentLength, limit)
	if err != nil {
		return nil, err // the deadline stays, so that net/http does not wait for the rest of the body
	}
	_ = rc.SetReadDeadline(time.Time{}) // net/http reads on to notice when the client is gone
	r.Body = http.NoBody
	requestOf(w).Body(body)
	return body, nil
}

// readAll reads a body into a buffer of the announced length, which is negative
// when it is not known. To keep a sender that announces much and sends little
// from taking much memory, the buffer never has more than 8 KiB or 16 times what
// has arrived. A body longer than limit fails with ErrLong, whatever was announced.
func readAll(r io.Reader, announced, limit int64) ([]byte, error) {
	whole := 512
	if announced >= 0 {
		whole = int(announced) + 1 // one more byte, for the read that returns io.EOF
	}
	body := make([]byte, 0, min(whole, 8<<10))
	for {
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if int64(len(body)) > limit {
			return nil, ErrLong
		}
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return body, err
		}
		if len(body) < cap(body) {
			continue
		}
		more := len(body)
		if whole > len(body) {
			more = min(whole, 16*len(body)) - len(body)
		}
		body = slices.Grow(body, more)
	}
}
