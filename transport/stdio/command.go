package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/caching"
	"github.com/parley-mcp/parley/internal/child"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Command is the transport to a server that runs as a child process. Each Connect
// starts a new process, in a process group of its own. On Linux it is killed when this
// program ends in any way; elsewhere its standard input ends then. The fields must not be
// changed while Command is in use.
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
	p, err := child.Start(child.Options{
		Args: c.Args, Env: c.Env, CleanEnv: c.CleanEnv, Dir: c.Dir, Stderr: c.Stderr, StderrRate: c.StderrRate, Grace: c.Grace,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot start the server: %w", err)
	}
	explain := func(err error) error { return c.explain(p, err) }
	limit := c.MaxMessageBytes
	if limit <= 0 {
		limit = 64 << 20
	}
	caching.OneAuthority(ctx)
	return stream.Dial(stream.Lines(p, p, limit, p.Close), receiver, limit, explain, tap.Take(ctx)), nil //nolint:contextcheck // the connection outlives this call
}

// explain adds to err how the process ended, for the calls in flight.
func (c *Command) explain(p *child.Process, err error) error {
	if errors.Is(err, stream.ErrNoMessages) {
		_ = p.Terminate() // it would write for ever; Close sees to it that it ends
		return err
	}
	if !p.Gone() {
		return fmt.Errorf("the server closed its output, and still runs: %w", err)
	}
	return &ExitError{Command: c.Name(), State: p.State(), Stderr: p.Stderr()}
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
