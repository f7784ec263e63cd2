package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// hasty is the transport to a server that asks for the roots as soon as the session
// is open, outside of any call. Servers of this module do not.
type hasty struct {
	mcp.Transport

	asked chan string // gets the answer
}

func newHasty(h mcp.Handler, asked chan string) *hasty {
	return &hasty{&mcptest.Transport{Handler: h, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}, asked}
}

// Connect implements mcp.Transport.
func (h *hasty) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	c, err := h.Transport.Connect(ctx, r)
	return &hastyConn{Conn: c, receiver: r, asked: h.asked}, err
}

type hastyConn struct {
	mcp.Conn

	receiver mcp.Receiver
	asked    chan string
	work     sync.WaitGroup
}

// Send implements mcp.Conn.
func (c *hastyConn) Send(ctx context.Context, m *jsonrpc.Message) error {
	err := c.Conn.Send(ctx, m)
	if m.Method == mcp.NoteInitialized {
		c.work.Go(c.ask)
	}
	return err
}

func (c *hastyConn) ask() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // ends with the question, or with the connection
		select {
		case <-c.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	m, err := jsonrpc.NewRequest(jsonrpc.StringID("hasty"), mcp.MethodRoots, nil)
	if err != nil {
		panic(err)
	}
	result, failed := c.receiver.Request(ctx, m)
	if failed != nil {
		return // the spare connection declares no roots
	}
	raw, err := json.Marshal(result)
	c.asked <- fmt.Sprint(string(raw), err)
}

// Close implements mcp.Conn.
func (c *hastyConn) Close() error {
	err := c.Conn.Close()
	c.work.Wait()
	return err
}
