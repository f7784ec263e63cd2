package cli

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// tap is a transport that shows the messages that pass through it. A
// cancellation is sent beneath it; of that it shows that the answer is not
// waited for any longer.
type tap struct {
	mcp.Transport
	// see gets each message; it may be called concurrently. lost is set when
	// the answer to a request is given up, for that reason.
	see func(toServer bool, m *jsonrpc.Message, lost error)
}

// Connect implements mcp.Transport.
func (t *tap) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	conn, err := t.Transport.Connect(ctx, &tapReceiver{r, t.see})
	if err != nil {
		return nil, err
	}
	return &tapConn{conn, t.see}, nil
}

type tapConn struct {
	mcp.Conn
	see func(toServer bool, m *jsonrpc.Message, lost error)
}

func (c *tapConn) RoundTrip(ctx context.Context, request *jsonrpc.Message) (*jsonrpc.Message, error) {
	c.see(true, request, nil)
	response, err := c.Conn.RoundTrip(ctx, request)
	if err != nil {
		c.see(true, request, err)
		return nil, err
	}
	c.see(false, response, nil)
	return response, nil
}

func (c *tapConn) Send(ctx context.Context, notification *jsonrpc.Message) error {
	c.see(true, notification, nil)
	return c.Conn.Send(ctx, notification)
}

type tapReceiver struct {
	mcp.Receiver
	see func(toServer bool, m *jsonrpc.Message, lost error)
}

func (r *tapReceiver) Notification(ctx context.Context, m *jsonrpc.Message) {
	r.see(false, m, nil)
	r.Receiver.Notification(ctx, m)
}

func (r *tapReceiver) Request(ctx context.Context, m *jsonrpc.Message) (any, *jsonrpc.Error) {
	r.see(false, m, nil)
	result, refusal := r.Receiver.Request(ctx, m)
	if refusal != nil {
		r.see(true, jsonrpc.NewError(m.ID, refusal), nil)
	} else if result != nil {
		if answer, err := jsonrpc.NewResult(m.ID, result); err == nil {
			r.see(true, answer, nil)
		}
	}
	return result, refusal
}

// traceMessage shows one message: when, in which direction, and what.
func (a *app) traceMessage(toServer bool, m *jsonrpc.Message, lost error) {
	arrow, text := "←", ""
	if toServer {
		arrow = "→"
	}
	if lost != nil {
		arrow, text = "✗", "no answer to "+m.Method+" "+m.ID.String()+": "+oneLine(lost.Error(), 200)
	} else if frame, err := jsonrpc.Append(nil, m); err == nil {
		text = a.err.text(string(frame))
	}
	a.note("%s %s %s", a.err.dim(time.Now().Format("15:04:05.000")), arrow, text)
}

// prefixed puts a prefix before each line that is written to it.
type prefixed struct {
	out    *output
	prefix string

	mu   sync.Mutex
	line []byte // what has come of an unfinished line
}

// maxLine is where a line without an end is cut.
const maxLine = 16 << 10

// Write implements io.Writer.
func (p *prefixed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = append(p.line, b...)
	for {
		end := bytes.IndexByte(p.line, '\n')
		if end < 0 && len(p.line) < maxLine {
			return len(b), nil
		}
		rest := p.line[end+1:]
		if end < 0 {
			end, rest = len(p.line), nil
		}
		p.out.printf("%s%s\n", p.prefix, p.out.text(string(p.line[:end])))
		p.line = rest
	}
}
