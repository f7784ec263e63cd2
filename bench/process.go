package main

import (
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/bench/internal/child"
	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/payload"
)

// process is a running server.
type process struct {
	*child.Child
	addr string // "" on standard streams
	era  payload.Era
}

// startHTTP starts a server and waits until it accepts connections.
func (s *subject) startHTTP(era payload.Era, tools int) (*process, error) {
	addr, err := freePort()
	if err != nil {
		return nil, err
	}
	c, err := child.Start(s.args(era, tools, "-http", addr)...)
	if err != nil {
		return nil, err
	}
	p := &process{c, addr, era}
	if err := p.awaitPort(30 * time.Second); err != nil {
		c.Stop()
		return nil, c.Explain(fmt.Errorf("%s: %w", s.label, err))
	}
	return p, nil
}

// startPipe starts a server on standard streams.
func (s *subject) startPipe(era payload.Era, tools int) (*process, error) {
	c, err := child.Start(s.args(era, tools)...)
	return &process{Child: c, era: era}, err
}

func (s *subject) args(era payload.Era, tools int, more ...string) []string {
	args := append(append([]string{}, s.server...), "-era", string(era), "-tools", strconv.Itoa(tools))
	return append(args, more...)
}

// awaitPort tries to connect until it succeeds, because servers do not say when
// they listen.
func (p *process) awaitPort(d time.Duration) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(d)
	for {
		conn, err := net.Dial("tcp", p.addr)
		if err == nil {
			return conn.Close()
		} else if time.Now().After(deadline) {
			return err
		}
		<-tick.C
	}
}

// dial opens a connection, and a session if the era has sessions.
func (p *process) dial() (*load.HTTP, error) {
	c, err := load.DialHTTP(p.addr, "", p.era)
	if err != nil {
		return nil, err
	}
	if err := c.Open(); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// Ports for servers are below those that the system gives to outgoing
// connections, and none is used twice.
const firstPort, lastPort = 20_000, 30_000

var nextPort atomic.Int64

// freePort returns a loopback address at which nobody listens now. It does not
// test that by listening, because a child process that is being started at the
// same time would inherit the listener for a moment.
func freePort() (string, error) {
	for range lastPort - firstPort {
		port := firstPort + nextPort.Add(1)%(lastPort-firstPort)
		addr := "127.0.0.1:" + strconv.FormatInt(port, 10)
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return addr, nil
		}
		_ = conn.Close()
	}
	return "", fmt.Errorf("no port from %d to %d is free", firstPort, lastPort)
}
