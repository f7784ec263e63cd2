package streamable

import (
	"errors"
	"io"
	"slices"
)

var errLong = errors.New("the body is too long")

// readAll reads a body of the announced length, which is negative when it is
// not known, into room of its size. A sender who announces much and sends
// little does not take much: it is 8 KiB, or 16 times what has arrived. What is
// longer than limit fails with errLong, whatever was announced.
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
			return nil, errLong
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
