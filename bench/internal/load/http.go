package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/bench/payload"
)

// HTTP is one connection over Streamable HTTP, one request at a time. It is
// written by hand on a net.Conn so that the generator takes as little of the
// machine as it can.
type HTTP struct {
	Era payload.Era
	// Session is the ID of the session, once there is one.
	Session string
	// Path is where the server is, and Header what it wants in every request:
	// complete lines.
	Path, Header string

	addr string
	// revision is what the server has agreed to.
	revision string
	conn     net.Conn
	in       *bufio.Reader
	body     *bufio.Reader
	out      []byte
	// buf holds what is being read, spare the previous answer.
	buf, spare []byte
	id         int
	// answers carries answers to questions while a stream occupies conn.
	answers *HTTP
}

// DialHTTP connects to a server. source is the address to call from, and may be
// empty.
func DialHTTP(addr, source string, era payload.Era) (*HTTP, error) {
	d := net.Dialer{Timeout: 30 * time.Second}
	if source != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &HTTP{
		Era: era, Path: "/mcp", addr: addr, revision: era.Revision(), conn: conn, id: payload.FirstID,
		in: bufio.NewReaderSize(conn, 4<<10), body: bufio.NewReaderSize(nil, 4<<10),
	}, nil
}

// Open opens a session, where the era has sessions.
func (c *HTTP) Open() error {
	if c.Era == payload.Stateless {
		return nil
	}
	resp, err := c.post(payload.Initialize())
	if err != nil {
		return err
	}
	a, err := c.read(resp, time.Now())
	if err != nil {
		return err
	}
	if err := c.agree(a); err != nil {
		return err
	}
	c.Session = resp.Header.Get("Mcp-Session-Id")
	return c.send("", "", []byte(payload.Initialized))
}

// agree takes the revision that the server has chosen.
func (c *HTTP) agree(a Answer) error {
	result, err := ResultOf(a)
	if err != nil {
		return err
	}
	var r struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	err = json.Unmarshal(result, &r)
	c.revision = r.ProtocolVersion
	return err
}

// Limit sets how long reading and writing may take from now on.
func (c *HTTP) Limit(d time.Duration) error { return c.conn.SetDeadline(time.Now().Add(d)) }

// Reconnect replaces the connection, and keeps the session: servers close
// connections that say nothing for a while.
func (c *HTTP) Reconnect() error {
	fresh, err := DialHTTP(c.addr, "", c.Era)
	if err != nil {
		return err
	}
	_ = c.conn.Close()
	c.conn, c.in = fresh.conn, fresh.in
	return nil
}

// Close closes the connection.
func (c *HTTP) Close() error {
	if c.answers != nil {
		_ = c.answers.Close()
	}
	return c.conn.Close()
}

// Call implements Conn.
func (c *HTTP) Call(r *payload.Request) (Answer, error) {
	start := time.Now()
	resp, err := c.post(r)
	if err != nil {
		return Answer{}, err
	}
	return c.read(resp, start)
}

// post sends a request and returns the response, whose body has not been read
// yet.
func (c *HTTP) post(r *payload.Request) (*http.Response, error) {
	c.id++
	r.SetID(c.id)
	if err := c.write(r.Method, r.Name, r.Body); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, fmt.Errorf("read the response: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return nil, fmt.Errorf("status %s for %s: %s", resp.Status, r.Method, text)
	}
	return resp, nil
}

// send sends a message that has no answer.
func (c *HTTP) send(method, name string, msg []byte) error {
	if err := c.write(method, name, msg); err != nil {
		return err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("status %s for a message without answer", resp.Status)
	}
	return nil
}

func (c *HTTP) write(method, name string, msg []byte) error {
	b := append(append(append(c.out[:0], "POST "...), c.Path...), " HTTP/1.1\r\nHost: "...)
	b = append(append(append(b, c.addr...), "\r\n"...), c.Header...)
	b = append(b, "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"...)
	if c.Era == payload.Stateless || c.Session != "" {
		b = header(b, "MCP-Protocol-Version", c.revision)
	}
	b = header(b, "Mcp-Session-Id", c.Session)
	if c.Era == payload.Stateless {
		b = header(b, "Mcp-Method", method)
		b = header(b, "Mcp-Name", name)
	}
	b = header(b, "Content-Length", strconv.Itoa(len(msg)))
	b = append(append(b, "\r\n"...), msg...)
	c.out = b
	_, err := c.conn.Write(b)
	return err
}

func header(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
}

// read reads the body of a response to its end.
func (c *HTTP) read(resp *http.Response, start time.Time) (Answer, error) {
	a := Answer{ID: strconv.AppendInt(nil, int64(c.id), 10)}
	var err error
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		err = c.readStream(resp.Body, &a)
	} else {
		a.Message, err = c.readAll(resp)
	}
	a.Took = time.Since(start)
	if err == nil && len(a.Message) == 0 {
		err = fmt.Errorf("a response of type %q without a message", resp.Header.Get("Content-Type"))
	}
	return a, err
}

func (c *HTTP) readAll(resp *http.Response) ([]byte, error) {
	b := bytes.NewBuffer(c.buf[:0])
	if resp.ContentLength > 0 {
		b.Grow(int(resp.ContentLength) + bytes.MinRead)
	}
	_, err := b.ReadFrom(resp.Body)
	c.buf = b.Bytes()
	return c.buf, err
}
