package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-mcp/parley/bench/internal/load"
)

// profile writes profiles of our server under each workload that was asked
// for, instead of measuring: where it spends its time, and what it allocates.
func profile(o options) error {
	s, err := profiledServer()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.profile, 0o755); err != nil {
		return err
	}
	for _, w := range workloads() {
		if !o.only.MatchString(w.name) {
			continue
		}
		name := strings.NewReplacer(", ", "_", " ", "-", "/", "-").Replace(w.name)
		log.Print(name)
		if err := s.profile(w, filepath.Join(o.profile, name), o.time*time.Duration(o.rounds)); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// profiledServer builds the server with the tag that lets it serve profiles.
func profiledServer() (*subject, error) {
	program, err := filepath.Abs(filepath.Join(binDir, "profile", "parley"))
	if err != nil {
		return nil, err
	}
	err = quietly(exec.Command("go", "build", "-tags=profile", "-o", program, "./servers/parley"))
	return &subject{peer: &peer{name: "parley", label: "Parley"}, server: []string{program}}, err
}

func (s *subject) profile(w *workload, file string, d time.Duration) error {
	addr, err := freePort()
	if err != nil {
		return err
	}
	if err := os.Setenv("BENCH_PPROF", addr); err != nil {
		return err
	}
	p, err := s.start(w)
	if err != nil {
		return err
	}
	b := &bench{process: p, subject: s, cell: &cell{}}
	defer b.stop()
	if err := b.warmUp(w, d/10); err != nil {
		return b.Explain(err)
	}
	loaded := make(chan error, 1)
	go func() { // ends at its deadline; waited for below
		_, err := load.Loop(d+time.Second, b.ops)
		loaded <- err
	}()
	seconds := max(1, int(d.Seconds()))
	if err := save(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", addr, seconds), file+".cpu"); err != nil {
		return err
	}
	if err := save(fmt.Sprintf("http://%s/debug/pprof/allocs", addr), file+".allocs"); err != nil {
		return err
	}
	return b.Explain(<-loaded)
}

func save(url, file string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, resp.Body); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
