// Package child runs the programs that are measured, and reads from the
// kernel what they used.
package child

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Child is a running program. Its standard streams are pipes to this process.
type Child struct {
	In  io.WriteCloser
	Out io.ReadCloser

	cmd    *exec.Cmd
	stderr *tail
}

// Start starts a program.
func Start(args ...string) (*Child, error) { return StartIn("", nil, args...) }

// StartIn starts a program in a folder, with more variables.
func StartIn(dir string, env []string, args ...string) (*Child, error) {
	c := &Child{cmd: exec.Command(args[0], args[1:]...), stderr: &tail{}}
	c.cmd.Dir, c.cmd.Env = dir, append(os.Environ(), env...)
	c.cmd.Stderr = c.stderr
	var err error
	if c.In, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.Out, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	return c, nil
}

// Stop kills the program and waits until it has ended. A graceful shutdown is
// not measured.
func (c *Child) Stop() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// Ended reports whether the program has ended by itself.
func (c *Child) Ended() bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	_, rest, _ := bytes.Cut(b, []byte(") "))
	return err != nil || bytes.HasPrefix(rest, []byte("Z"))
}

// Said separates in an error what has failed from what the program said.
const Said = "; the program said: "

// Explain adds to an error what the program last wrote to standard error.
func (c *Child) Explain(err error) error {
	if said := strings.TrimSpace(c.stderr.String()); err != nil && said != "" {
		return fmt.Errorf("%w%s%s", err, Said, said)
	}
	return err
}

// CPU returns the processor time of the program so far, of all its threads, in
// user and kernel mode. It reads the process's clock, which counts nanoseconds,
// while /proc/<pid>/stat counts hundredths of a second.
func (c *Child) CPU() (time.Duration, error) { return cpuOf(c.cmd.Process.Pid) }

func cpuOf(pid int) (time.Duration, error) {
	const schedClock = 2 // CPUCLOCK_SCHED of the kernel
	var ts unix.Timespec
	clock := ^int32(pid)<<3 | schedClock
	if err := unix.ClockGettime(clock, &ts); err != nil {
		return 0, fmt.Errorf("clock of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// Memory is what a process holds, in bytes.
type Memory struct{ Resident, Peak int64 }

// Memory reads VmRSS and VmHWM from /proc.
func (c *Child) Memory() (Memory, error) { return memoryOf(c.cmd.Process.Pid) }

func memoryOf(pid int) (Memory, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, err
	}
	return parseStatus(b)
}

// errEnded means that a process has ended, and nobody has asked for its status
// yet: it has no memory.
var errEnded = errors.New("no memory in the status of the process")

func parseStatus(b []byte) (Memory, error) {
	var m Memory
	var err, err2 error
	m.Resident, err = statusField(b, "VmRSS:")
	m.Peak, err2 = statusField(b, "VmHWM:")
	return m, errors.Join(err, err2)
}

func statusField(b []byte, name string) (int64, error) {
	for line := range bytes.Lines(b) {
		f := strings.Fields(string(line))
		if len(f) == 3 && f[0] == name && f[2] == "kB" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("%w: %s", errEnded, name)
}
