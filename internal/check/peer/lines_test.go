package peer

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestReadLine(t *testing.T) {
	for _, tt := range []struct {
		text, line string
		cut        int
		err        error
	}{
		{"one\ntwo\n", "one", 0, nil},
		{"\n", "", 0, nil},
		{"one", "one", 0, io.EOF},
		{"", "", 0, io.EOF},
		{"0123456789\nnext\n", "01234567", 3, nil}, // with the line's end
		{strings.Repeat("x", 100), strings.Repeat("x", 8), 56, errEndless},
	} {
		line, cut, err := readLine(bufio.NewReaderSize(strings.NewReader(tt.text), 16), 8, 64)
		if string(line) != tt.line || cut != tt.cut || !errors.Is(err, tt.err) {
			t.Errorf("%q gives %q, %d, %v; want %q, %d, %v", tt.text, line, cut, err, tt.line, tt.cut, tt.err)
		}
	}
}

func FuzzReadLine(f *testing.F) {
	f.Add("one\ntwo", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(0, min(limit, 1000))
		r := bufio.NewReaderSize(strings.NewReader(text), 16)
		total := 0
		for {
			line, cut, err := readLine(r, limit, 1<<20)
			if len(line) > limit || strings.Contains(string(line), "\n") {
				t.Fatalf("%q with the limit %d", line, limit)
			}
			total += len(line) + cut
			if err != nil {
				break
			}
		}
		if lines := strings.Count(text, "\n"); total > len(text) || total < len(text)-lines {
			t.Fatalf("%d of %d bytes", total, len(text))
		}
	})
}

// overPipe is a connection with somebody who answers each line.
func overPipe(t *testing.T, limits Limits, answer func(line string) string) *Conn {
	t.Helper()
	near, far := net.Pipe()
	c := OverLines(NewLog(limits), near)
	go func() { // ends with the pipe
		r := bufio.NewReader(far)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				_ = far.Close() // it is over
				return
			}
			if _, err := io.WriteString(far, answer(line)); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := overPipe(t, Limits{}, func(line string) string {
			switch {
			case strings.Contains(line, "silence"):
				return ""
			case strings.Contains(line, "ping"):
				return `{"jsonrpc":"2.0","method":"notifications/x"}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
			default:
				return "no JSON\n"
			}
		})
		ping := Frame(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "ping"})
		r := c.Do(t.Context(), ping)
		if r.Response == nil || !r.Response.IsResult() || len(r.Before) != 1 || r.Silent || r.Closed {
			t.Fatalf("%+v", r)
		}
		if c.Log.RequestOf(r.Response) != r.Sent || c.Log.ResponseTo(r.Sent) != r.Response {
			t.Error("the answer and what it answers do not know each other")
		}
		begun := time.Now()
		if r := c.Do(t.Context(), Frame(map[string]any{"jsonrpc": "2.0", "id": 2, "method": "silence"})); !r.Silent || time.Since(begun) != 5*time.Second {
			t.Errorf("silence after %v: %+v", time.Since(begun), r)
		}
		c.Do(t.Context(), Frame(map[string]any{"jsonrpc": "2.0", "method": "notifications/other"}))
		all := c.Log.Messages()
		if last := all[len(all)-1]; last.Bad == nil || string(last.Raw) != "no JSON" {
			t.Errorf("%+v", last)
		}
	})
}

// A server that writes without end is heard until the log is full. Whoever waits
// for it then stops waiting, although it goes on.
func TestLinesWithoutEnd(t *testing.T) {
	for name, line := range map[string]string{
		"lines":    `{"jsonrpc":"2.0","method":"notifications/x"}` + "\n",
		"one line": strings.Repeat("x", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			log := NewLog(Limits{Message: 100, Total: 10_000, Messages: 50})
			c := OverLines(log, near)
			go func() { _, _ = io.Copy(io.Discard, far) }() // ends with the pipe
			done := make(chan struct{})
			go func() { // ends with the pipe
				defer close(done)
				for {
					if _, err := io.WriteString(far, line); err != nil {
						return
					}
				}
			}()
			r := c.Do(t.Context(), Frame(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "ping"}))
			if r.Response != nil || r.Silent || !log.Full() {
				t.Errorf("%+v, full: %v", r, log.Full())
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			<-done
			if n := log.Len(); n > 52 {
				t.Errorf("the log has %d messages", n)
			}
		})
	}
}
