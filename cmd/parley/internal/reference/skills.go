package reference

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/parley-mcp/parley/server"
)

// ownSkill is the URI of the skill that says how to use this server.
const ownSkill = skillScheme + "sample-shop/SKILL.md"

const skillScheme = "skill://"

//go:embed skills
var ownSkills embed.FS

// addSkills adds the server's own skill, and those of the folders in the options.
func (r *reference) addSkills() error {
	own, err := fs.Sub(ownSkills, "skills")
	if err != nil {
		return err
	}
	r.srv.AddSkills(own, nil)
	for _, dir := range r.opts.Skills {
		f, err := serveSkills(r.srv, dir, r.opts.Logger)
		if err != nil {
			return fmt.Errorf("folder %q: %w", dir, err)
		}
		r.skills = append(r.skills, f)
	}
	return nil
}

// skillFolder is a folder of skills that is watched.
type skillFolder struct {
	dir     string
	root    *os.Root
	set     *server.SkillSet
	log     *slog.Logger
	watcher *fsnotify.Watcher
	done    chan struct{} // closed when the watcher has ended
}

// serveSkills publishes the skills in a folder, and what becomes of them.
func serveSkills(srv *server.Server, dir string, log *slog.Logger) (_ *skillFolder, err error) {
	f := &skillFolder{log: log, done: make(chan struct{})}
	if f.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if f.root, err = os.OpenRoot(f.dir); err != nil {
		return nil, err
	}
	if f.watcher, err = fsnotify.NewWatcher(); err != nil {
		return nil, errors.Join(err, f.root.Close())
	}
	f.watchAll() // before it is read, so that nothing is missed in between
	if f.set, err = srv.TryAddSkills(f.root.FS(), &server.SkillsOptions{Prefix: f.prefix()}); err != nil {
		return nil, errors.Join(err, f.watcher.Close(), f.root.Close())
	}
	go f.run() // ends when close closes the watcher, and closes done
	return f, nil
}

// prefix returns what the URIs of the skills begin with. A folder that is a skill itself
// gives it its name.
func (f *skillFolder) prefix() string {
	if _, err := f.root.Stat("SKILL.md"); err == nil {
		return skillScheme + url.PathEscape(filepath.Base(f.dir)) + "/"
	}
	return skillScheme
}

func (f *skillFolder) close() error {
	err := f.watcher.Close()
	<-f.done
	return errors.Join(err, f.root.Close())
}

// run publishes changes. They are collected for a while: a skill is seldom one file.
func (f *skillFolder) run() {
	defer close(f.done)
	timer := time.NewTimer(settle)
	timer.Stop()
	defer timer.Stop()
	waiting := false
	for {
		select {
		case event, ok := <-f.watcher.Events:
			if !ok {
				return
			}
			if event.Op != fsnotify.Chmod && !waiting { // later events do not delay it further
				timer.Reset(settle)
				waiting = true
			}
		case err, ok := <-f.watcher.Errors:
			if !ok {
				return
			}
			f.log.Warn("watching skills", "folder", f.dir, "error", err)
			timer.Reset(settle) // events may be lost
			waiting = true
		case <-timer.C:
			waiting = false
			f.refresh()
		}
	}
}

// refresh reads the folder anew. What is not good yet, because somebody is still at work
// in it, is read again at the next change.
func (f *skillFolder) refresh() {
	f.watchAll()
	if err := f.set.Refresh(); err != nil {
		f.log.Warn("skills stay as they were", "folder", f.dir, "error", err)
		return
	}
	f.log.Debug("skills read", "folder", f.dir, "skills", len(f.set.URIs()))
}

// watchAll watches every folder; one that is watched already may be added again.
func (f *skillFolder) watchAll() {
	dirs := 0
	_ = fs.WalkDir(f.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error { // what cannot be read is refused when it is served
		switch {
		case err != nil || !entry.IsDir():
			return nil
		case name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		}
		if dirs++; dirs > maxDirs {
			return fs.SkipAll
		}
		if err := f.watcher.Add(filepath.Join(f.dir, filepath.FromSlash(name))); err != nil {
			f.log.Debug("folder not watched", "name", name, "error", err)
		}
		return nil
	})
}
