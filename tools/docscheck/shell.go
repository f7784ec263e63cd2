package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	lineLimit  = 60 * time.Second
	startLimit = 20 * time.Second
	endLimit   = 15 * time.Second
)

// A process is a server that runs beside the commands of a block.
type process struct {
	line string
	cmd  *exec.Cmd
	out  *output
	done chan error
}

// output keeps what a process writes, and tells when there is something.
type output struct {
	mu    sync.Mutex
	text  strings.Builder
	first chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.text.Len() == 0 && len(p) > 0 {
		close(o.first)
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start starts what a block needs.
func (v *visit) start(b *block) error {
	for _, d := range b.all("needs") {
		if err := v.serve(v.local(d.arg)); err != nil {
			return err
		}
	}
	return nil
}

// shell runs the lines of a block, one after another.
func (v *visit) shell(b *block) error {
	v.said = ""
	v.r.count(&v.r.checked)
	number, text := 0, b.text
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		at := number
		number++
		for strings.HasSuffix(line, "\\") && rest != "" {
			more, others, _ := strings.Cut(rest, "\n")
			line, rest = line+"\n"+more, others
			number++
		}
		text = rest
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if why, not := v.skipped(b, line); not {
			v.r.skip(v.page.name, b.line+at, "command", why)
			continue
		}
		if err := v.line(b, line); err != nil {
			v.r.failf(v.page.name, b.line+at, "%v", err)
		}
	}
	return nil
}

func (v *visit) skipped(b *block, line string) (string, bool) {
	for _, d := range b.all("skip") {
		what, why, _ := strings.Cut(d.arg, ": ")
		if strings.HasPrefix(line, what) {
			return why, true
		}
	}
	return "", false
}

// line runs one line: a server in the background, anything else to its end.
func (v *visit) line(b *block, line string) error {
	v.r.count(&v.r.commands)
	line = v.local(line)
	if bare, background := serves(line); background {
		return v.serve(bare)
	}
	ctx, cancel := context.WithTimeout(v.ctx, lineLimit)
	defer cancel()
	var errs strings.Builder
	cmd := v.bash(ctx, line)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	v.said += string(out)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: did not end within %s\n%s%s", line, lineLimit, out, errs.String())
	}
	if err != nil && !expected(b, err) {
		return fmt.Errorf("%s: %w\n%s%s", line, err, out, errs.String())
	}
	return nil
}

// expected reports whether the block says that a command ends in this way.
func expected(b *block, err error) bool {
	var exit *exec.ExitError
	if b == nil || !errors.As(err, &exit) {
		return false
	}
	d, ok := b.has("exits")
	return ok && slices.Contains(strings.Fields(d.arg), strconv.Itoa(exit.ExitCode()))
}

func (v *visit) bash(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-c", line) //nolint:gosec // what the pages say
	cmd.Dir = v.dir
	cmd.Env = append(append(os.Environ(), v.env...), v.mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// serving are the commands that run until they are told to stop, with a word that
// must be among their arguments.
var serving = [][]string{
	{"parley serve", "--http"},
	{"parley bridge", "--http"},
	{"parley gateway", "--http"},
	{"parley gateway", "--console"},
	{"parley inspect"},
	{"parley watch"},
	{"parley check client", "--listen"},
	{"parley check specimen", "--http"},
}

// serves reports whether a line runs until it is told to stop, and returns it
// without what follows the command.
func serves(line string) (string, bool) {
	bare, _, _ := strings.Cut(line, " #")
	bare = strings.TrimSpace(bare)
	if rest, ok := strings.CutSuffix(bare, "&"); ok && !strings.HasSuffix(rest, "&") {
		return strings.TrimSpace(rest), true
	}
	words := strings.Fields(bare)
	if slices.Contains(words, "--help") || strings.Contains(bare, "|") {
		return line, false
	}
	for _, s := range serving {
		if strings.HasPrefix(bare, s[0]) && (len(s) == 1 || slices.Contains(words, s[1])) {
			return bare, true
		}
	}
	return line, false
}

// serve starts a server and waits until it can be used: it listens where its line
// says, or it has written something.
func (v *visit) serve(line string) error {
	cmd := v.bash(v.ctx, "exec "+line)
	p := &process{line: line, cmd: cmd, out: &output{first: make(chan struct{})}, done: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { p.done <- cmd.Wait() }() // it ends with the process
	v.servers = append(v.servers, p)
	address := ""
	if m := port.FindStringSubmatch(line); m != nil {
		address = "127.0.0.1:" + m[2]
	}
	timer := time.NewTimer(startLimit)
	defer timer.Stop()
	first := p.out.first
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-p.done:
			p.done <- err
			return fmt.Errorf("%s: ended at once: %w\n%s", line, err, p.out)
		case <-first:
			if address == "" {
				return nil
			}
			first = nil
		case <-tick.C:
			if address != "" && listens(address) {
				return nil
			}
		case <-timer.C:
			return fmt.Errorf("%s: not ready within %s\n%s", line, startLimit, p.out)
		}
	}
}

func listens(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second) //nolint:noctx // it has a limit
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// stop ends the servers of a block, the last one first, as a person would: with
// Ctrl-C, which has to end them with success.
func (v *visit) stop(b *block) {
	line := 0
	if b != nil {
		line = b.line
	}
	for _, p := range slices.Backward(v.servers) {
		_ = p.cmd.Process.Signal(syscall.SIGINT) // it may have ended
		timer := time.NewTimer(endLimit)
		select {
		case err := <-p.done:
			if err != nil && !expected(b, err) {
				v.r.failf(v.page.name, line, "%s: %v when it was told to stop\n%s", p.line, err, p.out)
			}
		case <-timer.C:
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
			v.r.failf(v.page.name, line, "%s: did not end when it was told to stop\n%s", p.line, p.out)
		}
		timer.Stop()
	}
	v.servers = nil
}
