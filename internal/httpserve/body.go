package httpserve

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"
)

// ErrLong says that a body is over its limit.
var ErrLong = errors.New("the body is too long")

// CheckType returns why the body of a request is no JSON, by its headers, or
// nil. Two types are no type: who reads the other one reads another message.
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

// Body reads the body of a request, within its bounds of size, in bytes, and
// time. It fails with ErrLong when it is over the limit, and with another error
// when it did not arrive whole.
func Body(w http.ResponseWriter, r *http.Request, limit int64, timeout time.Duration) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, ErrLong
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(timeout)) // a writer without deadlines has none
	body, err := readAll(r.Body, r.ContentLength, limit)
	if err != nil {
		return nil, err // the deadline stays: the rest of the body is not waited for
	}
	_ = rc.SetReadDeadline(time.Time{}) // past the body, the server reads to learn that the client is gone
	r.Body = http.NoBody
	requestOf(w).Body(body)
	return body, nil
}

// readAll reads a body of the announced length, which is negative when it is
// not known, into room of its size. A sender who announces much and sends
// little does not take much: it is 8 KiB, or 16 times what has arrived. What is
// longer than limit fails with ErrLong, whatever was announced.
func readAll(r io.Reader, announced, limit int64) ([]byte, error) {
	whole := 512
	if announced >= 0 {
		whole = int(announced) + 1 // one more, for the read that finds the end
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
