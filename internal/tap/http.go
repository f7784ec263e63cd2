package tap

import (
	"io"

	"github.com/parley-mcp/parley/mcp"
)

// Request is an HTTP request and its response as they are observed. nil is one
// that nobody looks at.
type Request struct {
	conn    *Conn
	request mcp.TapHTTP
	way     mcp.Direction // of the request

	response mcp.TapHTTP // Status is 0 before there is one
}

// Request shows the beginning of a request that a client has sent, or a server
// received, depending on the side. lastEvent is what it asks to go on from, or
// "".
func (c *Conn) Request(method string, header map[string][]string, lastEvent string) *Request {
	if !c.Watched() {
		return nil
	}
	r := &Request{conn: c, way: mcp.Sent, request: mcp.TapHTTP{Request: last.Add(1), Method: method, Header: header, EventID: lastEvent}}
	if c.side == mcp.ServerSide {
		r.way = mcp.Received
	}
	c.emit(mcp.TapEvent{Direction: r.way, HTTP: &r.request})
	return r
}

// Conn returns the connection that the request is part of.
func (r *Request) Conn() *Conn { return r.conn }

// Body shows the frame that a request carries.
func (r *Request) Body(frame []byte) {
	if r != nil && len(frame) > 0 {
		r.conn.emit(mcp.TapEvent{Direction: r.way, HTTP: &r.request, Frame: frame})
	}
}

// Responded shows the beginning of the response.
func (r *Request) Responded(status int, header map[string][]string) {
	if r == nil {
		return
	}
	r.response = mcp.TapHTTP{Request: r.request.Request, Method: r.request.Method, Status: status, Header: header}
	response := r.response
	r.conn.emit(mcp.TapEvent{Direction: r.back(), HTTP: &response})
}

// Answer shows a frame of the response; event identifies it in its stream, or
// is "".
func (r *Request) Answer(frame []byte, event string) {
	if r == nil || len(frame) == 0 {
		return
	}
	response := r.response
	response.EventID = event
	r.conn.emit(mcp.TapEvent{Direction: r.back(), HTTP: &response, Frame: frame})
}

// back is the direction of the response.
func (r *Request) back() mcp.Direction {
	if r.way == mcp.Sent {
		return mcp.Received
	}
	return mcp.Sent
}

// body is that of a response, which knows what it belongs to.
type body struct {
	io.ReadCloser
	request *Request
}

// Carry returns the body of the response, from which Of finds the request
// again.
func (r *Request) Carry(b io.ReadCloser) io.ReadCloser {
	if r == nil {
		return b
	}
	return &body{b, r}
}

// Of returns the request that a body was made by Carry for, or nil.
func Of(b io.Reader) *Request {
	if carried, ok := b.(*body); ok {
		return carried.request
	}
	return nil
}
