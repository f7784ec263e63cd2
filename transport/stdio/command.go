package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/caching"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Command is the transport to a server that runs as a child process. Each Connect
// starts a new process. The fields must not be changed while Command is in use.
//
// Spec: 2026-07-28 basic/transports/stdio#shutdown.
type Command struct {
	// Args is the program and its arguments. The program is looked up in PATH.
	Args []string
	// Env is added to the environment of this process, as KEY=VALUE.
	Env []string
	// CleanEnv gives the server only Env and what programs need to run at all,
	// instead of the whole environment of this process with its secrets: PATH, HOME,
	// USER, LOGNAME, SHELL, TERM, TMPDIR, TZ, LANG, LC_ALL and LC_CTYPE, or on
	// Windows PATH, PATHEXT, SYSTEMROOT, USERPROFILE, TEMP and their like. A variable
	// in Env replaces the one of the same name; a program is still looked up in the
	// PATH of this process.
	CleanEnv bool
	// Dir is the working directory; "" means that of this process.
	Dir string
	// Stderr receives the server's standard error. nil discards it, except for
	// the last 4 KiB, which errors quote.
	Stderr io.Writer
	// StderrRate bounds how many bytes Stderr gets in a second. What is over it is left
	// out, and a line says how much that was. 0 means 256 KiB; negative means no bound.
	StderrRate int
	// Grace is how long the server may take to exit after its input was closed,
	// and then again after SIGTERM, before it is killed. Where there are no signals,
	// it is killed after the first of the two. 0 means 2 seconds.
	Grace time.Duration
	// MaxMessageBytes bounds one message of the server. 0 means 64 MiB.
	MaxMessageBytes int
}

var _ mcp.Transport = (*Command)(nil)

// Name implements mcp.Transport: the command line.
func (c *Command) Name() string { return strings.Join(c.Args, " ") }

// Connect implements mcp.Transport: it starts the process. ctx applies only to the
// start.
func (c *Command) Connect(ctx context.Context, receiver mcp.Receiver) (mcp.Conn, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("no command given: Args is empty")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := c.start()
	if err != nil {
		return nil, fmt.Errorf("cannot start the server: %w", err)
	}
	limit := c.MaxMessageBytes
	if limit <= 0 {
		limit = 64 << 20
	}
	caching.OneAuthority(ctx)
	return stream.Dial(stream.Lines(p.out, p.in, limit, p.stop), receiver, limit, p.explain, tap.Take(ctx)), nil //nolint:contextcheck // the connection outlives this call
}

func (c *Command) start() (*process, error) {
	// The process outlives the context of the call that started it.
	cmd := exec.Command(c.Args[0], c.Args[1:]...) //nolint:gosec,noctx // starting the command the caller names is the purpose
	cmd.Env = c.environ()
	cmd.Dir = c.Dir
	ownGroup(cmd)
	p := &process{cmd: cmd, name: c.Name(), grace: c.Grace, exited: make(chan struct{})}
	if p.grace <= 0 {
		p.grace = 2 * time.Second
	}
	cmd.Stderr = &p.stderr
	if c.Stderr != nil {
		p.passed = &throttled{to: c.Stderr, rate: c.StderrRate}
		if c.StderrRate == 0 {
			p.passed.rate = defaultStderrRate
		}
		cmd.Stderr = io.MultiWriter(&p.stderr, p.passed)
	}
	// A grandchild may hold standard error open forever.
	cmd.WaitDelay = 100 * time.Millisecond
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe: Wait would close it with answers still unread.
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = childOut
	err = cmd.Start()
	_ = childOut.Close()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	p.in, p.out = in, out
	go p.wait() // ends with the process; stop waits for it
	return p, nil
}

// process is a running server.
type process struct {
	cmd    *exec.Cmd
	name   string
	grace  time.Duration
	in     io.WriteCloser
	out    *os.File
	stderr tail
	passed *throttled // to Command.Stderr; nil if that is nil
	exited chan struct{}
}

// wait reaps the process. Its remaining output can still be read, but only for a
// moment: a grandchild may hold the pipe open.
func (p *process) wait() {
	_ = p.cmd.Wait() // explain reports the state
	if p.passed != nil {
		p.passed.finish()
	}
	_ = p.out.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	close(p.exited)
}

// stop ends the process step by step: it closes the input, then terminates, then
// kills. It returns when the process has exited.
//
// Spec: 2026-07-28 basic/transports/stdio#shutdown.
func (p *process) stop() error {
	_ = p.in.Close()
	if !p.gone() && !(terminate(p.cmd) && p.gone()) {
		kill(p.cmd)
	}
	<-p.exited
	return p.out.Close()
}

func (p *process) gone() bool {
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// explain adds to err how the process ended, for the calls in flight.
func (p *process) explain(err error) error {
	if !p.gone() {
		return fmt.Errorf("the server closed its output, and still runs: %w", err)
	}
	return &ExitError{Command: p.name, State: p.cmd.ProcessState, Stderr: p.stderr.String()}
}

// ExitError says that the server process exited while it was in use.
type ExitError struct {
	// Command is the command line.
	Command string
	// State is how the process ended.
	State *os.ProcessState
	// Stderr is the end of the process's standard error, at most 4 KiB.
	Stderr string
}

// Error says how the process ended, and quotes its standard error. It does not
// repeat the command line, which can be long enough to hide the rest.
func (e *ExitError) Error() string {
	s := fmt.Sprintf("the server ended: %v", e.State)
	if words := strings.TrimSpace(e.Stderr); words != "" {
		s += "; its last words: " + words
	}
	return s
}

// Unwrap makes errors.Is(err, jsonrpc.ErrClosed) true.
func (e *ExitError) Unwrap() error { return jsonrpc.ErrClosed }

// tail keeps the last tailSize bytes that are written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - tailSize; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
