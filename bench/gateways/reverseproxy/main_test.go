package main

import (
	"errors"
	"io"
	"testing"
)

// closing is a body that is closed as soon as it has been read.
type closing struct{ closed bool }

func (b *closing) Read(p []byte) (int, error) {
	if b.closed {
		return 0, errors.New("read on a closed body")
	}
	b.closed = true
	return copy(p, "all"), io.EOF
}

func (*closing) Close() error { return nil }

func TestABodyThatWasClosedAfterItsEndHasEnded(t *testing.T) {
	b := &ended{ReadCloser: &closing{}}
	if n, err := b.Read(make([]byte, 10)); n != 3 || !errors.Is(err, io.EOF) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if n, err := b.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %d bytes, %v", n, err)
	}
}
