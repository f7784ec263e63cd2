package reference

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// settle is how long changes are collected: writing a file causes many events.
const settle = 50 * time.Millisecond

// maxPins bounds how many files clients can watch.
const maxPins = 10_000

// watch lists the files and keeps the list up to date until close.
func (f *files) watch(s *server.Server, log *slog.Logger) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	f.watcher = watcher
	w := &fileWatch{files: f, srv: s, log: log}
	if err := w.sync(); err != nil {
		return err
	}
	f.done = make(chan struct{})
	go w.run() // ends when close closes the watcher, and closes done
	return nil
}

// fileWatch turns events of the file system into changes of resources.
type fileWatch struct {
	*files
	srv    *server.Server
	log    *slog.Logger
	listed map[string]mcp.Resource // by name; only sync uses it
}

func (w *fileWatch) run() {
	defer close(w.done)
	changed := map[string]bool{}
	timer := time.NewTimer(settle)
	defer timer.Stop()
	for {
		select {
		case event, ok := <-w.watcher.Events:
			if !ok {
				return
			}
			if len(changed) == 0 { // later events do not delay it further
				timer.Reset(settle)
			}
			w.note(changed, event)
		case err, ok := <-w.watcher.Errors:
			if !ok {
				return
			}
			w.failed(changed, err)
			timer.Reset(settle)
		case <-timer.C:
			if len(changed) > 0 {
				w.publish(changed)
				clear(changed)
			}
		}
	}
}

// note adds the path of an event, and the directory that holds it when an entry
// was added or removed. An editor that writes a new file and renames it over
// the old one shows as a creation.
func (w *fileWatch) note(changed map[string]bool, event fsnotify.Event) {
	name, ok := below(w.real, event.Name)
	if !ok || event.Op == fsnotify.Chmod { // a change of the mode does not change the content
		return
	}
	changed[name] = true
	if event.Has(fsnotify.Create) || event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
		changed[filepath.Dir(name)] = true
	}
}

// failed makes everything count as changed after events were lost.
func (w *fileWatch) failed(changed map[string]bool, err error) {
	w.log.Warn("watching files", "error", err)
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		return
	}
	changed["."] = true // the list may be wrong even if nothing is pinned
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.pins {
		changed[name] = true
	}
}

// publish updates the list, and then notifies the watchers.
func (w *fileWatch) publish(changed map[string]bool) {
	if err := w.sync(); err != nil {
		w.log.Warn("listing files", "error", err)
	}
	w.mu.Lock()
	var uris []string
	for name := range changed {
		uris = slices.AppendSeq(uris, maps.Keys(w.pins[name]))
	}
	w.mu.Unlock()
	for _, uri := range uris {
		w.srv.ResourceUpdated(uri)
	}
}

// sync makes the server's resources match the file system. Only one goroutine
// may run it at a time.
func (w *fileWatch) sync() error {
	found, err := w.scan(w.listed, w.watchDir)
	if err != nil {
		return err
	}
	before := w.listed
	w.listed = found
	var gone []string
	for name, r := range before {
		if _, still := found[name]; !still {
			gone = append(gone, r.URI)
		}
	}
	w.srv.RemoveResources(gone...)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if old, known := before[name]; known && reflect.DeepEqual(old, found[name]) {
			continue
		}
		if err := w.srv.TryAddResource(found[name], w.readResource); err != nil {
			w.log.Warn("file not listed", "name", name, "error", err)
		}
	}
	return nil
}

// watchDir is called for a directory before it is read, so that nothing is
// missed in between. A directory that was replaced needs to be watched anew;
// one that is watched already may be added again.
func (w *fileWatch) watchDir(name string) {
	if err := w.watcher.Add(filepath.Join(w.real, name)); err != nil {
		w.log.Debug("directory not watched", "name", name, "error", err)
	}
}

// pin watches what a URI names until unpin is called, even if it is not in the
// list of files.
func (f *files) pin(uri string) (unpin func(), err error) {
	name, ok := f.nameOf(uri)
	if !ok {
		return nil, fmt.Errorf("%q is not below the root", uri)
	}
	names := []string{name}
	if real, ok := below(f.real, resolved(filepath.Join(f.real, name))); ok && real != name {
		names = append(names, real) // a link changes when its target does
	}
	for i, name := range names {
		if err := f.pinName(name, uri); err != nil {
			for _, done := range names[:i] {
				f.unpinName(done, uri)
			}
			return nil, err
		}
	}
	return func() {
		for _, name := range names {
			f.unpinName(name, uri)
		}
	}, nil
}

// dirOf returns the directory whose events report changes to name: the one that
// holds it, or name itself if it is a directory.
func (f *files) dirOf(name string) string {
	if info, err := f.root.Stat(name); err == nil && info.IsDir() {
		return name
	}
	return filepath.Dir(name)
}

func (f *files) pinName(name, uri string) error {
	dir := f.dirOf(name)
	// This goes through the root first, so that no link leads the watcher
	// outside.
	if _, err := f.root.Stat(dir); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pins[name] == nil && len(f.pins) >= maxPins {
		return fmt.Errorf("more than %d files are watched", maxPins)
	}
	if err := f.watcher.Add(filepath.Join(f.real, dir)); err != nil {
		return err
	}
	if f.pins[name] == nil {
		f.pins[name] = map[string]int{}
	}
	f.pins[name][uri]++
	return nil
}

// unpinName keeps watching the directory: that costs little, the list may need
// it, and close ends it.
func (f *files) unpinName(name, uri string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pins[name][uri]--; f.pins[name][uri] <= 0 {
		delete(f.pins[name], uri)
	}
	if len(f.pins[name]) == 0 {
		delete(f.pins, name)
	}
}
