package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// OverLines makes a connection of a stream whose messages are lines. Closing
// the connection closes the stream.
func OverLines(log *Log, stream io.ReadWriteCloser) *Conn { return HearLines(log, stream, nil) }

// HearLines is OverLines for one who listens to each message: see Conn.Hear.
func HearLines(log *Log, stream io.ReadWriteCloser, hear func(*Message)) *Conn {
	c := &Conn{Log: log, Number: log.NewConn(), Hear: hear}
	l := &lines{conn: c, stream: stream, done: make(chan struct{})}
	c.link = l
	go l.read() // ends when the stream does
	return c
}

type lines struct {
	conn   *Conn
	stream io.ReadWriteCloser
	done   chan struct{}

	writing sync.Mutex
	ended   bool // guarded by the log
}

func (l *lines) send(_ context.Context, out *Out) (*Message, *Exchange, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	m := &Message{Conn: l.conn.Number, Sent: true, Raw: out.Raw}
	l.conn.Log.Add(m)
	_, err := l.stream.Write(append(bytes.Clone(out.Raw), '\n'))
	return m, nil, err
}

func (l *lines) closed() bool { return l.ended }

func (l *lines) close() error {
	err := l.stream.Close()
	<-l.done
	return err
}

func (l *lines) read() {
	defer close(l.done)
	defer l.conn.Log.Update(func() { l.ended = true })
	// Answers that are still being made have nobody to go to.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := bufio.NewReaderSize(l.stream, 64<<10)
	for !l.conn.Log.Full() {
		line, cut, err := readLine(r, l.conn.Log.limits.Message, l.conn.Log.limits.Total)
		if errors.Is(err, errEndless) {
			l.conn.Log.overflow()
			break
		}
		if len(line) > 0 || err == nil {
			l.conn.receive(ctx, &Message{Raw: line, Cut: cut})
		}
		if err != nil {
			return
		}
	}
	// The peer sends without end: what more comes is not kept, so that it can
	// be told to stop.
	_, _ = io.Copy(io.Discard, r)
}

var errEndless = errors.New("a line does not end")

// readLine reads a line, and says how much of it was over the limit. It gives up
// when there is as much of it as most, in bytes.
func readLine(r *bufio.Reader, limit, most int) (line []byte, cut int, err error) {
	for {
		if len(line)+cut >= most {
			return line, cut, errEndless
		}
		part, err := r.ReadSlice('\n')
		room := max(0, limit-len(line))
		kept := part[:min(len(part), room)]
		line = append(line, kept...)
		cut += len(part) - len(kept)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimSuffix(line, []byte("\n")), cut, err
	}
}
