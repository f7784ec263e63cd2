package child

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Family is a program and all that it has started, but for those of one
// program file, with what they have started.
type Family struct {
	head int
	// without is the file of the program that does not count.
	without string
}

// Family returns the family of the program. without may be empty.
func (c *Child) Family(without string) Family { return Family{c.cmd.Process.Pid, without} }

// CPU returns the processor time of all that live.
func (f Family) CPU() (time.Duration, error) {
	var all time.Duration
	err := f.each(func(pid int) error {
		d, err := cpuOf(pid)
		all += d
		return err
	})
	return all, err
}

// Memory returns what all that live hold. Memory that they share counts for
// each of them.
func (f Family) Memory() (Memory, error) {
	var all Memory
	err := f.each(func(pid int) error {
		m, err := memoryOf(pid)
		all.Resident += m.Resident
		all.Peak += m.Peak
		return err
	})
	return all, err
}

// Kill kills all, including those that do not count.
func (f Family) Kill() {
	f.without = ""
	members, _ := f.members()
	for _, pid := range members {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// each calls do for each member, and overlooks those that have ended meanwhile.
func (f Family) each(do func(pid int) error) error {
	members, err := f.members()
	for _, pid := range members {
		err := do(pid)
		if gone := errors.Is(err, unix.EINVAL) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, errEnded); err != nil && (!gone || pid == f.head) {
			return err
		}
	}
	return err
}

func (f Family) members() ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, file := range stats {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		if pid, parent, err := parseStat(b); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	return f.from(f.head, children), nil
}

func (f Family) from(pid int, children map[int][]int) []int {
	if f.without != "" {
		if file, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && file == f.without {
			return nil
		}
	}
	all := []int{pid}
	for _, c := range children[pid] {
		all = append(all, f.from(c, children)...)
	}
	return all
}

// parseStat reads the process and its parent from a line in which the name,
// which may have anything in it, is in parentheses.
func parseStat(b []byte) (pid, parent int, err error) {
	front, rest, ok := bytes.Cut(b, []byte(" ("))
	i := bytes.LastIndexByte(rest, ')')
	if !ok || i < 0 {
		return 0, 0, fmt.Errorf("not the status of a process: %.100q", b)
	}
	fields := bytes.Fields(rest[i+1:])
	if len(fields) < 2 {
		return 0, 0, fmt.Errorf("not the status of a process: %.100q", b)
	}
	if pid, err = strconv.Atoi(string(front)); err == nil {
		parent, err = strconv.Atoi(string(fields[1]))
	}
	return pid, parent, err
}
