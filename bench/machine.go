package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// machine describes the machine that the numbers come from, without its name.
func machine() string {
	return fmt.Sprintf("%s, %d cores, Linux %s, %s", processor(), runtime.NumCPU(), kernel(), runtime.Version())
}

func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "an unknown processor"
}

// kernel returns the kernel's version without what distributions and hosts
// add to it.
func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "of unknown version"
	}
	release, _, _ := bytes.Cut(u.Release[:], []byte{0})
	version, _, _ := strings.Cut(string(release), "-")
	return version
}

// loadAverage returns how busy the machine has been for the last minute.
func loadAverage() string {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	return first
}
