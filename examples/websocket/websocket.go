package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"

	"github.com/coder/websocket"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/frames"
)

// maxMessage bounds one message, in bytes.
const maxMessage = 16 << 20

// subprotocol is the name that other implementations use for MCP over
// WebSocket.
var subprotocol = []string{"mcp"}

// conn is a frames.Conn: each message is a WebSocket text message.
type conn struct{ *websocket.Conn }

func newConn(ws *websocket.Conn) conn {
	ws.SetReadLimit(maxMessage)
	return conn{ws}
}

func (c conn) Read() ([]byte, error) {
	_, message, err := c.Conn.Read(context.Background())
	if websocket.CloseStatus(err) == websocket.StatusNormalClosure {
		return nil, io.EOF
	}
	return message, err
}

func (c conn) Write(message []byte) error {
	return c.Conn.Write(context.Background(), websocket.MessageText, message)
}

func (c conn) Close() error {
	_ = c.Conn.Close(websocket.StatusNormalClosure, "") // the other end may have closed it
	return nil
}

// handler serves h to everybody who opens a WebSocket. With an auth.Guard
// around it, the tools see who is authorized.
func handler(h mcp.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: subprotocol})
		if err != nil {
			return // Accept has answered
		}
		opts := &frames.Options{Authorization: mcp.AuthorizationFrom(r.Context())}
		if err := frames.Serve(r.Context(), h, newConn(ws), opts); err != nil {
			slog.Warn("connection ended", "remote", r.RemoteAddr, "error", err)
		}
	})
}

// transport returns a transport for client.Connect. url is a ws: or wss: URL.
func transport(url string) mcp.Transport {
	return &frames.Client{Label: url, MaxMessageBytes: maxMessage, Dial: func(ctx context.Context) (frames.Conn, error) {
		ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{Subprotocols: subprotocol}) //nolint:bodyclose // Dial does
		if err != nil {
			return nil, err
		}
		return newConn(ws), nil
	}}
}
