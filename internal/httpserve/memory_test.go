package httpserve

import (
	"bytes"
	"errors"
	"io"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/era"
)

// Bodies that arrive and bodies that are served share a bound; small ones are not
// counted. What a body held is free again when its last user is done.
func TestMemoryIsBounded(t *testing.T) {
	m := NewMemory(1 << 20)
	read := func(size int, broken bool) (*Hold, error) {
		var body io.Reader = bytes.NewReader(make([]byte, size))
		if broken {
			body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
		}
		_, hold, err := Body(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "POST", "/", body), &era.Sender{Source: "::1"}, m, 4<<20, time.Hour)
		return hold, err
	}
	first, err := read(600<<10, false)
	if err != nil || first == nil {
		t.Fatal(first, err)
	}
	if _, err := read(600<<10, false); !errors.Is(err, ErrBusy) {
		t.Errorf("a second large body: %v, want ErrBusy", err)
	}
	if hold, err := read(60<<10, false); err != nil || hold != nil {
		t.Errorf("a small body: %v, %v", hold, err)
	}
	first.Keep()
	first.Release()
	if _, err := read(600<<10, false); !errors.Is(err, ErrBusy) {
		t.Errorf("while the first is kept: %v, want ErrBusy", err)
	}
	first.Release()
	for range 3 {
		if _, err := read(600<<10, true); err == nil || errors.Is(err, ErrBusy) {
			t.Errorf("a body that breaks off: %v", err)
		}
	}
	if m.held != 0 {
		t.Errorf("%d bytes are held by nobody", m.held)
	}
}

// One client does not take all the room.
func TestMemoryIsShared(t *testing.T) {
	m := NewMemory(1 << 20)
	hold, ok := m.take(nil, "192.0.2.1", 256<<10)
	if !ok {
		t.Fatal("a client does not get its share")
	}
	if _, ok := m.take(nil, "192.0.2.1", 1); ok {
		t.Error("a client gets more than its share")
	}
	if _, ok := m.take(nil, "192.0.2.2", 1); !ok {
		t.Error("another client gets nothing")
	}
	hold.Release()
	if _, ok := m.take(nil, "192.0.2.1", 1); !ok {
		t.Error("the share is not free again")
	}
}

// After a burst of large bodies memory is returned, once it is quiet.
func TestMemoryIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(-1)
		var returned atomic.Int32 // by a timer, on a goroutine of its own
		m.giveUp = func() { returned.Add(1) }
		burst := func(bytes int64) {
			h, _ := m.take(nil, "", bytes)
			h.Release()
		}
		burst(muchHeld - 1)
		<-time.NewTimer(time.Hour).C
		synctest.Wait()
		if returned.Load() != 0 {
			t.Error("returned after little")
		}
		for range 5 {
			burst(muchHeld)
		}
		<-time.NewTimer(2 * quiet).C
		synctest.Wait()
		if returned.Load() != 1 {
			t.Errorf("returned %d times after a burst", returned.Load())
		}
		burst(muchHeld)
		<-time.NewTimer(atMost / 2).C
		synctest.Wait()
		if returned.Load() != 1 {
			t.Error("returned again at once")
		}
		<-time.NewTimer(atMost).C
		synctest.Wait()
		if returned.Load() != 2 {
			t.Errorf("returned %d times", returned.Load())
		}
		h, _ := m.take(nil, "", muchHeld)
		burst(muchHeld)
		<-time.NewTimer(time.Hour).C
		synctest.Wait()
		if returned.Load() != 2 {
			t.Error("returned while memory was in use")
		}
		h.Release()
		m.Close()
		<-time.NewTimer(time.Hour).C
		synctest.Wait()
		if returned.Load() != 2 {
			t.Error("returned after Close")
		}
	})
}
