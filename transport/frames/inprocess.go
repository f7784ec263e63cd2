package frames

import (
	"context"
	"fmt"

	"github.com/parley-mcp/parley/internal/caching"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/mcp"
)

// InProcess returns the transport to a handler in this process. Each connection is
// a Pipe, which Serve serves with opts; closing it waits for Serve to return. opts
// may be nil.
func InProcess(h mcp.Handler, opts *Options) mcp.Transport { return &inProcess{h, opts} }

type inProcess struct {
	handler mcp.Handler
	opts    *Options
}

// Name implements mcp.Transport: the name of the server.
func (p *inProcess) Name() string {
	return p.handler.Describe(context.Background(), nil).Info.Name + " (in this process)"
}

// Connect implements mcp.Transport.
func (p *inProcess) Connect(ctx context.Context, receiver mcp.Receiver) (mcp.Conn, error) {
	near, far := Pipe()
	s := &served{done: make(chan struct{})}
	go func() { //nolint:gosec,contextcheck // it outlives Connect, and ends with the connection; Close waits for it
		defer close(s.done)
		s.err = Serve(context.Background(), p.handler, far, p.opts)
	}()
	caching.OneAuthority(ctx)
	s.Conn = stream.Dial(near, receiver, orDefault(0), s.explain, tap.Take(ctx)) //nolint:contextcheck // likewise
	return s, nil
}

// served is a connection to a server in this process.
type served struct {
	mcp.Conn
	done chan struct{}
	err  error // of Serve; set when done is closed
}

// explain adds the error of Serve to the one with which the connection ended.
func (s *served) explain(err error) error {
	<-s.done
	if s.err != nil {
		return fmt.Errorf("%w: %w", err, s.err)
	}
	return err
}

// Close implements mcp.Conn.
func (s *served) Close() error {
	err := s.Conn.Close()
	<-s.done
	return err
}
