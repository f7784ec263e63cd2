package httpserve

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpcall"
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
// than limit bytes, with ErrBusy when there is no room for it in m, and with another
// error when it did not arrive completely within timeout. Unless it fails, somebody
// must call Release of the Hold, which is nil for a small body. from is who sends it.
func Body(w http.ResponseWriter, r *http.Request, from *era.Sender, m *Memory, limit int64, timeout time.Duration) ([]byte, *Hold, error) {
	if r.ContentLength > limit {
		return nil, nil, ErrLong
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(timeout)) // not every writer supports deadlines
	b := bodyReader{memory: m, client: sharer(from), limit: limit}
	if err := b.readAll(r.Body, r.ContentLength); err != nil {
		b.hold.Release()
		return nil, nil, err // the deadline stays, so that net/http does not wait for the rest of the body
	}
	_ = rc.SetReadDeadline(time.Time{}) // net/http reads on to notice when the client is gone
	r.Body = http.NoBody
	requestOf(w).Body(b.body)
	return b.body, b.hold, nil
}

// sharer names a client of Memory.
func sharer(s *era.Sender) string {
	switch {
	case s.Principal != "":
		return "principal " + s.Principal
	case httpcall.IsLoopback(s.Source):
		return ""
	}
	return s.Source
}

// bodyReader is a body that arrives.
type bodyReader struct {
	memory *Memory
	client string
	limit  int64
	body   []byte
	hold   *Hold
}

// readAll reads a body into a buffer of the announced length, which is negative
// when it is not known. To keep a sender that announces much and sends little
// from taking much memory, the buffer never has more than 8 KiB, or four times what
// has arrived, or twice if that is more than 1 MiB. A body longer than the limit fails
// with ErrLong, whatever was announced.
func (b *bodyReader) readAll(r io.Reader, announced int64) error {
	whole := 512
	if announced >= 0 {
		whole = int(announced) + 1 // one more byte, for the read that returns io.EOF
	}
	b.body = make([]byte, 0, min(whole, 8<<10))
	for {
		n, err := r.Read(b.body[len(b.body):cap(b.body)])
		b.body = b.body[:len(b.body)+n]
		if int64(len(b.body)) > b.limit {
			return ErrLong
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(b.body) < cap(b.body) {
			continue
		}
		if err := b.grow(whole); err != nil {
			return err
		}
	}
}

// grow makes room for more of a body.
func (b *bodyReader) grow(whole int) error {
	arrived := len(b.body)
	factor := 4
	if arrived >= 1<<20 {
		factor = 2
	}
	size := 2 * arrived
	if whole > arrived {
		size = min(whole, factor*arrived)
	}
	if size > smallBody {
		more := size
		if b.hold != nil {
			more -= cap(b.body)
		}
		var ok bool
		if b.hold, ok = b.memory.take(b.hold, b.client, int64(more)); !ok {
			return ErrBusy
		}
	}
	bigger := make([]byte, arrived, size)
	copy(bigger, b.body)
	b.body = bigger
	return nil
}
