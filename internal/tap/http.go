package tap

import (
	"io"

	"github.com/parley-mcp/parley/mcp"
)

// Request observes an HTTP request and its response. A nil Request observes nothing;
// all its methods but Conn may be called.
type Request struct {
	conn    *Conn
	request mcp.TapHTTP
	way     mcp.Direction // of the request

	response mcp.TapHTTP // Status is 0 until there is a response
}

// Request shows the beginning of a request that a client has sent or a server has
// received, depending on the side. lastEvent is the event ID that the request asks
// to resume after, or "".
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

// Conn returns the Conn of the connection that the request belongs to.
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

// Answer shows a frame of the response; event is its event ID in the stream, or "".
func (r *Request) Answer(frame []byte, event string) {
	if r == nil || len(frame) == 0 {
		return
	}
	response := r.response
	response.EventID = event
	r.conn.emit(mcp.TapEvent{Direction: r.back(), HTTP: &response, Frame: frame})
}

// back returns the direction of the response.
func (r *Request) back() mcp.Direction {
	if r.way == mcp.Sent {
		return mcp.Received
	}
	return mcp.Sent
}

// body is the body of a response, with the Request it belongs to.
type body struct {
	io.ReadCloser
	request *Request
}

// Carry wraps the body of the response, so that Of finds the Request again.
func (r *Request) Carry(b io.ReadCloser) io.ReadCloser {
	if r == nil {
		return b
	}
	return &body{b, r}
}

// Of returns the Request of a body that Carry returned, or nil for any other.
func Of(b io.Reader) *Request {
	if carried, ok := b.(*body); ok {
		return carried.request
	}
	return nil
}
