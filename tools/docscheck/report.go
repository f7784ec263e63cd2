package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// A report collects what was found; its methods may be called concurrently.
type report struct {
	root string

	mu       sync.Mutex
	failures []string
	skipped  []string
	external []string
	checked  int
	commands int
	links    int
}

func (r *report) failf(page string, line int, format string, args ...any) {
	text := brief(strings.ReplaceAll(fmt.Sprintf(format, args...), r.root+"/", ""))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf("%s:%d: %s", page, line, strings.TrimRight(text, "\n")))
}

// brief leaves out the middle of what a program has written.
func brief(text string) string {
	lines := strings.Split(text, "\n")
	if most := 24; len(lines) > most {
		lines = slices.Concat(lines[:most/2], []string{"…"}, lines[len(lines)-most/2:])
	}
	return strings.Join(lines, "\n")
}

func (r *report) skip(page string, line int, what, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.skipped = append(r.skipped, fmt.Sprintf("%s:%d: %s not run: %s", page, line, what, why))
}

func (r *report) count(n *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
}

// print writes the report, and reports whether nothing failed.
func (r *report) print(out io.Writer) bool {
	slices.Sort(r.skipped)
	slices.Sort(r.failures)
	slices.Sort(r.external)
	r.external = slices.Compact(r.external)
	for _, url := range r.external {
		_, _ = fmt.Fprintln(out, "elsewhere, not fetched:", url)
	}
	for _, s := range r.skipped {
		_, _ = fmt.Fprintln(out, s)
	}
	for _, f := range r.failures {
		_, _ = fmt.Fprintln(out, "FAIL", f)
	}
	_, _ = fmt.Fprintf(out, "%d blocks checked, %d commands run, %d links followed; %d not run; %d failed\n",
		r.checked, r.commands, r.links, len(r.skipped), len(r.failures))
	return len(r.failures) == 0
}
