// Package inprocess serves in this process what a checker would otherwise start
// as a process of its own.
package inprocess

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
)

// Server speaks in lines, as a process does on its standard streams. It works in
// the bubbles of testing/synctest.
type Server struct {
	io.Reader      // its output
	io.WriteCloser // its input

	output io.Closer
	done   chan struct{}
}

// Start serves a handler. The caller must call Close.
func Start(h mcp.Handler) *Server {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	s := &Server{toClient, fromClient, toClient, make(chan struct{})}
	go func() { // ends when its input does
		defer close(s.done)
		_ = stdio.ServeOn(context.Background(), h, toServer, fromServer, &mcp.ServeOptions{Logger: slog.New(slog.DiscardHandler)}) // the client sees how it ends
		_ = fromServer.Close()                                                                                                     // closing a pipe does not fail
	}()
	return s
}

// Close ends the server, and waits until it has ended.
func (s *Server) Close() error {
	_ = s.WriteCloser.Close() // closing a pipe does not fail
	_ = s.output.Close()      // likewise
	<-s.done
	return nil
}

// CloseInput closes its input, as a client does that is done.
func (s *Server) CloseInput() error { return s.WriteCloser.Close() }

// grace is how long a process is given to end.
const grace = 2 * time.Second

// Gone waits for the server to end, for the time of grace at most, and reports
// whether it has.
func (s *Server) Gone() bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-s.done:
		return true
	case <-timer.C:
		return false
	}
}
