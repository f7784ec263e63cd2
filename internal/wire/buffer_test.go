package wire

import "testing"

// Large buffers that are little used are not kept.
func TestBuffersThatAreKept(t *testing.T) {
	for _, c := range []struct {
		used, size int
		want       bool
	}{
		{0, 0, true}, {10, 64 << 10, true}, {10, 64<<10 + 1, false}, {1 << 20, 8 << 20, true}, {1<<20 - 1, 8 << 20, false}, {8 << 20, 8<<20 + 1, false},
	} {
		if got := keep(c.used, c.size); got != c.want {
			t.Errorf("a buffer of %d bytes, %d of them used: kept is %t, want %t", c.size, c.used, got, c.want)
		}
	}
}

func TestBufferHasRoomOfWhatWasAppended(t *testing.T) {
	b := NewBuffer()
	frame := append(b.Room(), "some frame"...)
	b.Reuse(frame)
	if len(b.Room()) != 0 || cap(b.Room()) != cap(frame) {
		t.Errorf("room of %d and %d bytes, want 0 and %d", len(b.Room()), cap(b.Room()), cap(frame))
	}
}
