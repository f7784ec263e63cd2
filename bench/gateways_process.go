package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-mcp/parley/bench/internal/child"
	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/payload"
)

const (
	// longest is how long a gateway may take to start, and to answer.
	longest = 75 * time.Second
	// again is when it is asked again while it starts.
	again = 5 * time.Millisecond
)

// front is a running gateway, or the way past it.
type front struct {
	*installed
	*launch
	program *child.Child // nil without any
	family  child.Family
	// tool is what the tool "echo" is called there.
	tool string
}

// backend is the server behind the gateways, as a process of its own.
func (r *passed) backend(tools int) (*process, error) {
	return r.server.startHTTP(payload.Session, tools)
}

// start starts a gateway in front of servers, and returns how long it took to
// the first answer to a call: of at least so many tools, one was called.
func (r *passed) start(g *installed, tools int, urls ...string) (*front, time.Duration, error) {
	addr, err := freePort()
	if err != nil {
		return nil, 0, err
	}
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, 0, err
	}
	f := &front{installed: g, launch: &launch{dir: dir, addr: addr, path: "/mcp", urls: urls, server: r.server.args(payload.Session, tools)}}
	if err := g.prepare(f.launch); err != nil {
		f.stop()
		return nil, 0, err
	}
	begin := time.Now()
	if g.install != nil {
		if f.program, err = child.StartIn(dir, f.env, append(append([]string{}, g.command...), f.args...)...); err != nil {
			f.stop()
			return nil, 0, err
		}
		f.family = f.program.Family(r.server.server[0])
		go func() { _, _ = io.Copy(io.Discard, f.program.Out) }() // ends with the program: some keep a log there
	}
	if err := f.await(begin.Add(longest), tools*len(urls)); err != nil {
		err = f.explain(err)
		f.stop()
		return nil, 0, err
	}
	return f, time.Since(begin), nil
}

// await asks until there is an answer.
func (f *front) await(deadline time.Time, tools int) error {
	tick := time.NewTicker(again)
	defer tick.Stop()
	registered := f.register == nil
	for {
		err := f.reach()
		if err == nil && !registered {
			err, registered = f.register(deadline), true
			if err != nil {
				return err
			}
		}
		if err == nil {
			err = f.firstCall(tools)
		}
		if err == nil {
			return nil
		} else if time.Now().After(deadline) || f.program != nil && f.program.Ended() {
			return err
		}
		<-tick.C
	}
}

// reach connects, without saying anything.
func (f *front) reach() error {
	c, err := load.DialHTTP(f.addr, "", payload.Session)
	if err != nil {
		return err
	}
	return c.Close()
}

// firstCall calls the tool "echo", whatever it is called.
func (f *front) firstCall(tools int) error {
	c, err := f.dial(payload.Session, "")
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	names, err := toolNames(c)
	if err != nil {
		return err
	}
	f.tool = ""
	for _, name := range names {
		if strings.HasSuffix(name, "echo") {
			f.tool = name
		}
	}
	if len(names) < tools || f.tool == "" {
		return fmt.Errorf("it lists %d tools so far, not %d", len(names), tools)
	}
	_, err = f.call(&workload{era: payload.Session}, c)()
	return err
}

// call is a small call of the tool "echo".
func (f *front) call(w *workload, c load.Conn) load.Op {
	small := payload.Small()
	return repeatCall(c, payload.Call(w.era, f.tool, small), load.NewChecker(load.IsEcho(small)))
}

// toolNames lists all tools.
func toolNames(c load.Conn) ([]string, error) {
	var names []string
	params := map[string]any{}
	for {
		a, err := c.Call(payload.NewRequest(payload.Session, "tools/list", "", params, false))
		if err != nil {
			return nil, err
		}
		result, err := load.ResultOf(a)
		if err != nil {
			return nil, err
		}
		var r struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
			NextCursor *string `json:"nextCursor"`
		}
		if err := json.Unmarshal(result, &r); err != nil {
			return nil, err
		}
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
		if r.NextCursor == nil || *r.NextCursor == "" {
			return names, nil
		}
		params["cursor"] = *r.NextCursor
	}
}

// dial opens a connection from an address, and a session if the era has
// sessions.
func (f *front) dial(era payload.Era, source string) (*load.HTTP, error) {
	c, err := load.DialHTTP(f.addr, source, era)
	if err != nil {
		return nil, err
	}
	c.Path, c.Header = f.path, f.header
	if err := errors.Join(c.Limit(longest), c.Open()); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// CPU and Memory are those of the gateway, with its children, without the
// server.
func (f *front) CPU() (time.Duration, error) {
	if f.program == nil {
		return 0, nil
	}
	return f.family.CPU()
}

func (f *front) Memory() (child.Memory, error) {
	if f.program == nil {
		return child.Memory{}, nil
	}
	return f.family.Memory()
}

func (f *front) explain(err error) error {
	if f.program == nil {
		return err
	}
	return f.program.Explain(err)
}

func (f *front) stop() {
	if f.program != nil {
		f.family.Kill()
		f.program.Stop()
	}
	if strings.HasPrefix(filepath.Base(f.dir), "parley-bench-") {
		_ = os.RemoveAll(f.dir)
	}
}

// firstLine is enough of an error for a table. What the program said is in the
// log: it may name folders of this machine.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	line, _, _ = strings.Cut(line, child.Said)
	const enough = 200
	if len(line) > enough {
		line = line[:enough] + "…"
	}
	return line
}
