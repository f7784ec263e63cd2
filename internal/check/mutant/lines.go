package mutant

import (
	"bufio"
	"errors"
	"io"
	"sync"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/child"
)

// Faulty is a mutant at work.
type Faulty struct{ wire *wire }

// New returns the faults of a mutant, for all conversations of one peer.
func New(m *Mutant) *Faulty { return &Faulty{newWire(m)} }

// Fired reports whether any switch has changed anything.
func (f *Faulty) Fired() bool {
	f.wire.mu.Lock()
	defer f.wire.mu.Unlock()
	return f.wire.fired
}

// Lines puts the faults on a client's end of a stream of lines: what is read
// comes from the server.
func (f *Faulty) Lines(stream io.ReadWriteCloser) io.ReadWriteCloser {
	r, w := io.Pipe()
	l := &lines{wire: f.wire, conn: f.wire.newConn(), stream: stream, read: r, fed: w}
	l.running.Go(l.feed) // ends with the stream
	return l
}

type lines struct {
	wire    *wire
	conn    int
	stream  io.ReadWriteCloser
	read    *io.PipeReader
	fed     *io.PipeWriter
	pending []byte
	running sync.WaitGroup
}

// feed passes on what comes from the server.
func (l *lines) feed() {
	r := bufio.NewReader(l.stream)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 && err == nil {
			err = l.each(false, line, l.fed)
		}
		if err != nil {
			_ = l.fed.CloseWithError(err) // never fails
			return
		}
	}
}

func (l *lines) each(toServer bool, line []byte, to io.Writer) error {
	for _, raw := range l.wire.pass(l.conn, toServer, line[:len(line)-1], nil) {
		if raw == nil { // the process is to end
			return l.stream.Close()
		}
		if _, err := to.Write(append(raw, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (l *lines) Read(p []byte) (int, error) { return l.read.Read(p) }

// Write passes on what goes to the server. Its callers take turns.
func (l *lines) Write(p []byte) (int, error) {
	l.pending = append(l.pending, p...)
	for {
		n := 0
		for n < len(l.pending) && l.pending[n] != '\n' {
			n++
		}
		if n == len(l.pending) {
			return len(p), nil
		}
		line := append([]byte(nil), l.pending[:n+1]...)
		l.pending = l.pending[n+1:]
		if err := l.each(true, line, l.stream); err != nil {
			return 0, err
		}
	}
}

// CloseInput ends what goes to the server, unless a switch keeps that from it.
func (l *lines) CloseInput() error {
	e, ok := l.stream.(peer.Ender)
	if !ok {
		return errors.ErrUnsupported
	}
	if l.wire.reaches(l.conn, "end", "") {
		return e.CloseInput()
	}
	return nil
}

// Gone waits for the server to end.
func (l *lines) Gone() bool {
	e, ok := l.stream.(peer.Ender)
	return ok && e.Gone()
}

// Terminate tells the server to end, unless a switch keeps that from it.
func (l *lines) Terminate() bool {
	p, ok := l.stream.(child.Steps)
	if ok && l.wire.reaches(l.conn, "signal", "terminate") {
		return p.Terminate()
	}
	return ok
}

// Kill ends the server, unless a switch keeps that from it.
func (l *lines) Kill() {
	if p, ok := l.stream.(child.Steps); ok && l.wire.reaches(l.conn, "signal", "kill") {
		p.Kill()
	}
}

func (l *lines) Close() error {
	_ = l.read.Close() // what still comes has nobody to read it
	err := l.stream.Close()
	l.running.Wait()
	return err
}
