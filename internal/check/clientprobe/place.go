package clientprobe

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/child"
)

// pipes returns the two ends of a stream in this process, of which the client's
// ends as a process does: see acted. What one end has written before it closes
// arrives at the other.
func pipes(stubborn bool) (client, server io.ReadWriteCloser) {
	a, b := newPipe(), newPipe()
	p := &acted{ends: ends{a, b}, stubborn: stubborn, gone: make(chan struct{})}
	p.process.signals = true
	return p, &actor{ends{b, a}, p}
}

type pipe struct {
	*io.PipeReader
	*io.PipeWriter
}

func newPipe() pipe {
	r, w := io.Pipe()
	return pipe{r, w}
}

// ends reads one pipe and writes the other.
type ends struct{ in, out pipe }

func (e ends) Read(p []byte) (int, error)  { return e.in.Read(p) }
func (e ends) Write(p []byte) (int, error) { return e.out.Write(p) }

// Close ends both directions.
func (e ends) Close() error {
	_ = e.out.PipeWriter.Close() // never fails
	return e.in.PipeReader.Close()
}

// acted is the client's end of a server in this process, which takes the steps by
// which processes are ended.
type acted struct {
	ends
	process  process
	stubborn bool
	leaving  sync.Once
	gone     chan struct{}
}

var _ child.Steps = (*acted)(nil)

// CloseInput implements child.Steps.
func (a *acted) CloseInput() error {
	a.process.saw(inputEnded)
	return a.out.PipeWriter.Close()
}

// patience is how long a client waits for a process to end.
const patience = 2 * time.Second

// Gone implements child.Steps.
func (a *acted) Gone() bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-a.gone:
		return true
	case <-timer.C:
		return false
	}
}

// Terminate implements child.Steps.
func (a *acted) Terminate() bool {
	a.process.saw(terminated)
	if !a.stubborn {
		a.leave()
	}
	return true
}

// Kill implements child.Steps.
func (a *acted) Kill() {
	a.process.saw(killed)
	a.leave()
}

func (a *acted) leave() { a.leaving.Do(func() { close(a.gone) }) }

// actor is the server's end.
type actor struct {
	ends
	acted *acted
}

// Process is what the process has seen.
func (a *actor) Process() *process { return &a.acted.process }

// Close ends the process.
func (a *actor) Close() error {
	err := a.ends.Close()
	a.acted.leave()
	return err
}

// listen serves a handler at two ports of this machine.
func listen(h http.Handler) (origin, other string, stop func(), err error) {
	var servers []*http.Server
	stop = func() {
		for _, s := range servers {
			_ = s.Close() // its clients have ended
		}
	}
	var urls []string
	for range 2 {
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return "", "", nil, err
		}
		s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
		servers = append(servers, s)
		go func() { _ = s.Serve(l) }() // ends with Close
		urls = append(urls, "http://"+l.Addr().String())
	}
	return urls[0], urls[1], stop, nil
}
