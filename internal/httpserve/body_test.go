package httpserve

import (
	"bytes"
	"errors"
	"io"
	"net/http/httptest"
	"testing"
	"testing/iotest"
	"time"

	"github.com/parley-mcp/parley/internal/era"
)

// reading is a response that remembers the deadline of its request.
type reading struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (w *reading) SetReadDeadline(d time.Time) error {
	w.deadline = d
	return nil
}

// There is a deadline while a body is read. It is removed at the end of the body,
// or the client would count as gone once it passes. It stays when the body did
// not arrive completely, so that nobody waits for the rest.
func TestBodyHasADeadline(t *testing.T) {
	for name, tt := range map[string]struct {
		body  io.Reader
		stays bool
	}{
		"whole":     {bytes.NewReader([]byte("{}")), false},
		"cut short": {io.MultiReader(bytes.NewReader([]byte("{")), iotest.ErrReader(io.ErrUnexpectedEOF)), true},
		"too long":  {bytes.NewReader(make([]byte, 11)), true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &reading{ResponseRecorder: httptest.NewRecorder()}
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/", readFunc(func(p []byte) (int, error) {
				if until := time.Until(w.deadline); until <= 0 || until > time.Hour {
					t.Errorf("while it is read, the deadline is in %v", until)
				}
				return tt.body.Read(p)
			}))
			_, _, err := Body(w, r, new(era.Sender), NewMemory(0), 10, time.Hour)
			if (err != nil) != tt.stays || w.deadline.IsZero() == tt.stays {
				t.Errorf("%v, deadline %v", err, w.deadline)
			}
		})
	}
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// readAll reads a body with enough memory.
func readAll(r io.Reader, announced, limit int64) ([]byte, error) {
	b := bodyReader{memory: NewMemory(-1), limit: limit}
	err := b.readAll(r, announced)
	return b.body, err
}

// A body is read completely, whatever length was announced and however it
// arrives.
func TestReadAll(t *testing.T) {
	for _, size := range []int{0, 1, 511, 512, 513, 8<<10 - 1, 8 << 10, 8<<10 + 1, 100_000, 128 << 10, 1 << 20} {
		want := bytes.Repeat([]byte("0123456"), size/7+1)[:size]
		for _, announced := range []int{-1, 0, size - 1, size, size + 1, 16 << 20} {
			for name, r := range map[string]io.Reader{
				"whole":  bytes.NewReader(want),
				"halves": iotest.HalfReader(bytes.NewReader(want)),
				"end":    iotest.DataErrReader(bytes.NewReader(want)),
			} {
				got, err := readAll(r, int64(announced), int64(size))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, %d announced, %s: got %d bytes, %v", size, announced, name, len(got), err)
				}
			}
		}
	}
}

// An announced length alone allocates nothing.
func TestReadAllTakesLittleRoom(t *testing.T) {
	for _, arrived := range []int{0, 100, 10_000, 100_000, 5_000_000} {
		body, err := readAll(io.MultiReader(bytes.NewReader(make([]byte, arrived)), iotest.ErrReader(io.ErrUnexpectedEOF)), 1<<30, 1<<40)
		if err == nil {
			t.Fatal("no error for a body that was cut short")
		}
		if most := max(16<<10, 4*arrived); cap(body) > most {
			t.Errorf("%d bytes of a gigabyte have arrived, and take %d; want at most %d", arrived, cap(body), most)
		}
	}
}

// A body may be longer than announced, if an intermediary has decompressed it.
func TestReadAllKeepsToItsLimit(t *testing.T) {
	for _, announced := range []int64{-1, 0, 10, 999} {
		if _, err := readAll(bytes.NewReader(make([]byte, 1001)), announced, 1000); !errors.Is(err, ErrLong) {
			t.Errorf("%d announced: got %v, want ErrLong", announced, err)
		}
	}
}
