package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// gate is a transport that waits for its user before each message.
type gate struct {
	mcp.Transport
	open func(ctx context.Context) error
}

func (g gate) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	conn, err := g.Transport.Connect(ctx, r)
	return gateConn{conn, g.open}, err
}

type gateConn struct {
	mcp.Conn
	open func(ctx context.Context) error
}

func (g gateConn) RoundTrip(ctx context.Context, m *jsonrpc.Message) (*jsonrpc.Message, error) {
	if err := g.open(ctx); err != nil {
		return nil, err
	}
	return g.Conn.RoundTrip(ctx, m)
}

// takes waits until the user has let the message through, however long that takes.
func takes(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// The time in which a transport waits for the user of this side does not count
// towards the limits of the probe, the handshake, or a call.
func TestWaitingUserStopsTheClock(t *testing.T) {
	for name, known := range map[string]bool{"said": true, "not said": false} {
		t.Run(name, func(t *testing.T) {
			bothEras(t, func(t *testing.T, revisions []mcp.Revision) {
				inner := &mcptest.Transport{Handler: newServer(nil), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
				tr := gate{inner, func(ctx context.Context) error {
					if known {
						defer mcp.Waiting(ctx)()
					}
					return takes(ctx, 10*time.Minute)
				}}
				c, err := client.Connect(t.Context(), tr, &client.Options{Revisions: revisions, Timeout: time.Second, Logger: mcptest.Quiet()})
				if !known {
					if err == nil {
						t.Error("a server that does not answer in time was connected to")
					}
					inner.Wait()
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Do(t.Context(), "x/y", nil); err == nil || errors.Is(err, client.ErrTimeout) {
					t.Errorf("error = %v, want that of an unknown method", err)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				inner.Wait()
			})
		})
	}
}

// After a transport has failed to get credentials, the client does not connect in
// another way: each attempt would ask the user again.
func TestUnauthorizedEndsConnecting(t *testing.T) {
	asked := 0
	tr := gate{&mcptest.Transport{Handler: newServer(nil), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}, func(context.Context) error {
		asked++
		return mcp.ErrUnauthorized
	}}
	_, err := client.Connect(t.Context(), tr, &client.Options{Logger: mcptest.Quiet()})
	if !errors.Is(err, mcp.ErrUnauthorized) || asked != 1 {
		t.Errorf("asked %d times, error = %v; want once, and ErrUnauthorized", asked, err)
	}
}
