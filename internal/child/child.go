// Package child runs the processes of servers: it starts them with the
// environment they are to have, reads what they say, and ends them step by step.
package child

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Options say what to start. The doc comment of stdio.Command has the details.
type Options struct {
	Args       []string
	Env        []string
	CleanEnv   bool
	Dir        string
	Stderr     io.Writer
	StderrRate int
	Grace      time.Duration
}

// Process is a running server. It is read and written as its standard output
// and input.
type Process struct {
	cmd    *exec.Cmd
	grace  time.Duration
	in     io.WriteCloser
	out    *os.File
	stderr tail
	passed *throttled // to Options.Stderr; nil if that is nil
	exited chan struct{}
	ending sync.Once
	ended  error
}

// Start starts a process. The caller must call Close.
func Start(o Options) (*Process, error) {
	// The process outlives the context of the call that started it.
	cmd := exec.Command(o.Args[0], o.Args[1:]...) //nolint:gosec,noctx // starting the command the caller names is the purpose
	cmd.Env = o.environ()
	cmd.Dir = o.Dir
	ownGroup(cmd)
	p := &Process{cmd: cmd, grace: o.Grace, exited: make(chan struct{})}
	if p.grace <= 0 {
		p.grace = 2 * time.Second
	}
	cmd.Stderr = &p.stderr
	if o.Stderr != nil {
		p.passed = &throttled{to: o.Stderr, rate: o.StderrRate}
		if o.StderrRate == 0 {
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
	p.in, p.out = in, out
	started := make(chan error)
	go p.run(started) // ends with the process; Close waits for it
	err = <-started
	_ = childOut.Close()
	if err != nil {
		_ = out.Close()
		return nil, blame(o.Dir, err)
	}
	return p, nil
}

// blame returns why a process could not be started. Where its folder is missing, the system
// names the program.
func blame(dir string, err error) error {
	if dir == "" {
		return err
	}
	info, missing := os.Stat(dir)
	switch {
	case missing != nil:
		return &os.PathError{Op: "chdir", Path: dir, Err: errors.Unwrap(missing)}
	case !info.IsDir():
		return &os.PathError{Op: "chdir", Path: dir, Err: syscall.ENOTDIR}
	}
	return err
}

// run starts the process, says so, and waits for its end. The process ends with the thread
// that has started it, where that can be had: so it outlives neither this program, however
// that ends, nor a thread that somebody else has no more use for.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.wait()
	}
}

// wait reaps the process. Its remaining output can still be read, but only for a
// moment: a grandchild may hold the pipe open.
func (p *Process) wait() {
	_ = p.cmd.Wait() // State tells
	if wasKilled(p.cmd.ProcessState) {
		p.Terminate() // what it has started, and could not end
	}
	if p.passed != nil {
		p.passed.finish()
	}
	_ = p.out.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	close(p.exited)
}

// Close ends the process as End does, and returns when it has exited. Further calls
// do nothing.
func (p *Process) Close() error {
	p.ending.Do(func() {
		End(p)
		<-p.exited
		p.ended = p.out.Close()
	})
	return p.ended
}

// Steps are those by which a process is ended.
type Steps interface {
	// CloseInput closes the standard input.
	CloseInput() error
	// Gone waits for the process to exit, for a time of its own, and reports whether
	// it has.
	Gone() bool
	// Terminate asks the process to end, and reports whether there is a way to.
	Terminate() bool
	// Kill ends the process.
	Kill()
}

var _ Steps = (*Process)(nil)

// End ends a process step by step: it closes the input, then terminates, then kills.
//
// Spec: 2026-07-28 basic/transports/stdio#shutdown.
func End(p Steps) {
	_ = p.CloseInput() // a process that has gone has no input
	if !p.Gone() && !(p.Terminate() && p.Gone()) {
		p.Kill()
	}
}

// Gone waits for the process to exit, for the time of grace at most, and reports
// whether it has.
func (p *Process) Gone() bool {
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// Read reads from the standard output.
func (p *Process) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write writes to the standard input.
func (p *Process) Write(b []byte) (int, error) { return p.in.Write(b) }

// CloseInput closes the standard input, as a client does that is done.
func (p *Process) CloseInput() error { return p.in.Close() }

// Terminate asks the process to end, where there are signals, and reports whether
// that was possible.
func (p *Process) Terminate() bool { return terminate(p.cmd) }

// Kill ends the process at once.
func (p *Process) Kill() { kill(p.cmd) }

// State is how the process ended, once Gone has reported true.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Stderr is the end of what the process wrote to its standard error, at most 4 KiB.
func (p *Process) Stderr() string { return p.stderr.String() }

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
