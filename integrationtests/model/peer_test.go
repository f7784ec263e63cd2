package model_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/stdio"
)

// received is a frame of the server. via is the tag of the request on whose
// response it came, or "" if the transport has no such responses.
type received struct{ via, frame string }

// peer is the client's end of a connection.
type peer interface {
	// send sends a frame about the request with that tag; "" means none. It
	// does not wait for a response.
	send(tag, frame string)
	// abandon closes the response to a request; it reports whether the
	// transport has such responses.
	abandon(tag string) bool
	// close disconnects, abruptly if rude is set. It returns when nothing of
	// the client is running any more.
	close(rude bool)
	// heard returns the frames received so far.
	heard() []received
}

// cutter is a peer whose responses can be cut and resumed.
type cutter interface {
	// cut cuts the n-th open response, and returns the tag of its request if
	// the rest cannot be resumed.
	cut(n int) (lost string)
	// resume resumes the responses that were cut.
	resume()
}

// ears collects received frames.
type ears struct {
	mu  sync.Mutex
	all []received
}

func (e *ears) hear(via, frame string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, received{via, frame})
}

func (e *ears) heard() []received {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]received(nil), e.all...)
}

// pipe is a connection of frames, like stdio.
type pipe struct {
	ears
	near    stream.Frames
	running sync.WaitGroup
}

func newPipe(h mcp.Handler) *pipe {
	near, far := stream.Pipe()
	p := &pipe{near: near}
	p.running.Go(func() { // ends when near is closed
		_ = stream.Serve(context.Background(), h, far, mcp.ServeOptions{Logger: mcptest.Quiet()}) // what it sent shows how it ended
	})
	p.running.Go(func() { // ends when near is closed
		for {
			frame, err := near.Read()
			if err != nil {
				return
			}
			p.hear("", string(frame))
		}
	})
	return p
}

func (p *pipe) send(_, frame string) { _ = p.near.Write([]byte(frame)) }

func (p *pipe) abandon(string) bool { return false }

func (p *pipe) close(bool) {
	_ = p.near.Close()
	p.running.Wait()
}

// lines is a client of a server on its standard streams.
type lines struct {
	ears
	w       *io.PipeWriter
	r       *io.PipeReader
	running sync.WaitGroup
}

func newLines(h mcp.Handler) *lines {
	in, w := io.Pipe()
	r, out := io.Pipe()
	p := &lines{w: w, r: r}
	p.running.Go(func() { // ends when w is closed
		_ = stdio.ServeOn(context.Background(), h, in, out, &mcp.ServeOptions{Logger: mcptest.Quiet()}) // see newPipe
		_ = out.Close()
		_ = in.Close()
	})
	p.running.Go(func() { // ends with the server, or when r is closed
		for reader := bufio.NewReader(r); ; {
			line, err := reader.ReadString('\n')
			// A client that crashes has read a part of a line; only the end of
			// the server makes that part something the server wrote.
			if err == nil || errors.Is(err, io.EOF) && line != "" {
				p.hear("", strings.TrimRight(line, "\r\n"))
			}
			if err != nil {
				return
			}
		}
	})
	return p
}

func (p *lines) send(_, frame string) { _, _ = io.WriteString(p.w, frame+"\n") }

func (p *lines) abandon(string) bool { return false }

// close closes the input, as a client does, or both ends, as a crash does.
func (p *lines) close(rude bool) {
	if rude {
		_ = p.r.Close()
	}
	_ = p.w.Close()
	p.running.Wait()
}
