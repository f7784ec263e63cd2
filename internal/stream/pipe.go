package stream

import (
	"bytes"
	"io"
	"sync"
)

// Pipe returns the two ends of a connection in memory. It buffers a bounded
// number of frames in each direction; beyond that, writers wait for readers.
func Pipe() (a, b Frames) {
	there, back := make(chan []byte, 64), make(chan []byte, 64)
	done := make(chan struct{})
	var once sync.Once
	end := func() { once.Do(func() { close(done) }) }
	return &pipe{in: back, out: there, done: done, end: end}, &pipe{in: there, out: back, done: done, end: end}
}

type pipe struct {
	in   <-chan []byte
	out  chan<- []byte
	done chan struct{}
	end  func()
}

func (p *pipe) Read() ([]byte, error) {
	select {
	case frame := <-p.in:
		return frame, nil
	default:
	}
	select {
	case frame := <-p.in:
		return frame, nil
	case <-p.done:
		return nil, io.EOF
	}
}

func (p *pipe) Write(frame []byte) error {
	select {
	case <-p.done:
		return io.ErrClosedPipe
	default:
	}
	select {
	case p.out <- bytes.Clone(frame):
		return nil
	case <-p.done:
		return io.ErrClosedPipe
	}
}

func (p *pipe) Close() error {
	p.end()
	return nil
}
