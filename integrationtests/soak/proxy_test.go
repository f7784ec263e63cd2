package soak_test

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy is a network between clients and a server that cuts connections at
// random, in the middle of whatever they carry.
type proxy struct {
	listener net.Listener
	backend  string
	cuts     atomic.Int64
	running  sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]bool
}

func newProxy(t *testing.T, backend string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, backend: backend, open: map[net.Conn]bool{}}
	p.running.Go(p.accept) // ends when the listener is closed
	return p
}

func (p *proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.carry(conn) }) // ends with the connection
	}
}

func (p *proxy) carry(near net.Conn) {
	far, err := net.Dial("tcp", p.backend)
	if err != nil {
		_ = near.Close()
		return
	}
	p.mu.Lock()
	p.open[near] = true
	p.mu.Unlock()
	cut := sync.OnceFunc(func() {
		_ = near.Close()
		_ = far.Close()
	})
	defer func() {
		cut()
		p.mu.Lock()
		delete(p.open, near)
		p.mu.Unlock()
	}()
	var both sync.WaitGroup
	both.Go(func() { defer cut(); _, _ = io.Copy(far, near) })
	both.Go(func() { defer cut(); p.back(near, far) })
	both.Wait()
}

// back carries some bytes of what the server sends; one connection in four is
// not cut.
func (p *proxy) back(near io.Writer, far io.Reader) {
	if rand.IntN(4) == 0 {
		_, _ = io.Copy(near, far)
		return
	}
	if _, err := io.CopyN(near, far, rand.Int64N(6000)); err == nil {
		p.cuts.Add(1)
	}
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for conn := range p.open {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}
