package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parley-mcp/parley/bench/payload"
)

// readStream reads an event stream to its end. It counts notifications,
// answers questions and finds the response.
func (c *HTTP) readStream(body io.Reader, a *Answer) error {
	c.body.Reset(body)
	for {
		msg, err := event(c.body, c.buf[:0])
		c.buf = msg
		if errors.Is(err, io.EOF) && len(msg) == 0 {
			return nil
		} else if err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		if err := c.sort(msg, a); err != nil {
			return err
		}
	}
}

func (c *HTTP) sort(msg []byte, a *Answer) error {
	h, err := headOf(msg)
	switch {
	case err != nil:
		return err
	case h.Method == "":
		a.Message, c.buf, c.spare = msg, c.spare[:0], msg // the next event must not overwrite it
		return nil
	case h.ID == nil:
		a.Notifications++
		return nil
	}
	return c.answer(h.ID, msg)
}

// answer answers a question of the server over a connection of its own.
func (c *HTTP) answer(id json.RawMessage, question []byte) error {
	if c.answers == nil {
		other, err := DialHTTP(c.addr, "", c.Era)
		if err != nil {
			return err
		}
		other.Session = c.Session
		c.answers = other
	}
	msg := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, AnswerTo(question))
	return c.answers.send("", "", msg)
}

// AnswerTo returns the answer to an elicitation, which is recognized by the
// field that it asks for.
func AnswerTo(question []byte) string {
	if bytes.Contains(question, []byte("Which size?")) {
		return fmt.Sprintf(`{"action":"accept","content":{"size":%d}}`, payload.AnswerSize)
	}
	return fmt.Sprintf(`{"action":"accept","content":{"name":%q}}`, payload.AnswerName)
}

// event reads the next event that has data and appends the data to b.
func event(r *bufio.Reader, b []byte) ([]byte, error) {
	for {
		line, err := r.ReadSlice('\n')
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		if isData {
			b = append(b, bytes.TrimPrefix(data, []byte(" "))...)
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a long line
			line, err = r.ReadSlice('\n')
			if isData {
				b = append(b, line...)
			}
		}
		if err != nil {
			return b, err
		}
		if isData {
			b = bytes.TrimRight(b, "\r\n")
		} else if len(bytes.TrimRight(line, "\r\n")) == 0 && len(b) > 0 {
			return b, nil
		}
	}
}
