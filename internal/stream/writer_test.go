package stream

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/mcp"
)

// stuckWriter blocks until it is released, and then fails.
type stuckWriter struct{ release chan error }

func (w stuckWriter) Write([]byte) (int, error) { return 0, <-w.release }

// Frames that were buffered behind a write that fails are counted as lost, since
// their writers got no error.
func TestFramesThatAreLostWithAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drops := new(mcp.Drops)
		stuck := stuckWriter{make(chan error)}
		frames := watched(asBuffered(Lines(nil, stuck, 1<<20, nil)), tap.New(nil, drops, mcp.ServerSide))
		first := make(chan error)
		go func() { first <- frames.Write([]byte("{}")) }() // ends when the writer is released
		synctest.Wait()
		for range 2 {
			if err := frames.Write([]byte("{}")); err != nil {
				t.Errorf("a frame that joins a write is refused: %v", err)
			}
		}
		stuck.release <- errors.New("gone")
		if err := <-first; err == nil {
			t.Error("the write that failed has no error")
		}
		if n := drops.Count(mcp.DropUndelivered); n != 2 {
			t.Errorf("%d frames are counted as lost, want the 2 whose writers have no error", n)
		}
		if frames.flush() == nil || drops.Count(mcp.DropUndelivered) != 2 {
			t.Error("frames are counted again")
		}
	})
}
