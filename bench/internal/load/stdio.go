package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/parley-mcp/parley/bench/payload"
)

// Stdio is a connection over standard streams. Its calls may be concurrent.
type Stdio struct {
	mu      sync.Mutex
	w       io.Writer
	id      int
	waiting map[int]chan []byte
	err     error
}

// OpenStdio opens a connection to a program, with a session where the era has
// sessions. Its reader ends with r.
func OpenStdio(era payload.Era, w io.Writer, r io.Reader) (*Stdio, error) {
	c := &Stdio{w: w, id: payload.FirstID, waiting: map[int]chan []byte{}}
	go c.readLines(bufio.NewReaderSize(r, 64<<10))
	if era == payload.Stateless {
		return c, nil
	}
	if _, err := c.Call(payload.Initialize()); err != nil {
		return nil, err
	}
	_, err := w.Write([]byte(payload.Initialized + "\n"))
	return c, err
}

// Close does nothing: the program is stopped instead.
func (*Stdio) Close() error { return nil }

// Call implements Conn.
func (c *Stdio) Call(r *payload.Request) (Answer, error) {
	start := time.Now()
	got := make(chan []byte, 1)
	id, err := c.send(r, got)
	if err != nil {
		return Answer{}, err
	}
	msg, ok := <-got
	if !ok {
		return Answer{}, fmt.Errorf("the program has ended: %w", c.err)
	}
	return Answer{Message: msg, ID: strconv.AppendInt(nil, int64(id), 10), Took: time.Since(start)}, nil
}

func (c *Stdio) send(r *payload.Request, got chan []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	c.id++
	r.SetID(c.id)
	c.waiting[c.id] = got
	_, err := c.w.Write(append(r.Body, '\n'))
	return c.id, err
}

func (c *Stdio) readLines(r *bufio.Reader) {
	var err error
	for err == nil {
		var line []byte
		if line, err = r.ReadBytes('\n'); err == nil {
			err = c.receive(bytes.TrimRight(line, "\r\n"))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = errors.Join(errors.New("no more answers"), err)
	for _, got := range c.waiting {
		close(got)
	}
}

func (c *Stdio) receive(line []byte) error {
	h, err := headOf(line)
	if err != nil || h.Method != "" {
		return err // a notification; servers ask nothing on standard streams
	}
	id, err := strconv.Atoi(string(h.ID))
	if err != nil {
		return fmt.Errorf("an answer without a usable ID: %.200s", line)
	}
	c.mu.Lock()
	got := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if got == nil {
		return fmt.Errorf("an answer to no request: %.200s", line)
	}
	got <- line
	return nil
}
