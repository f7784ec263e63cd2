// Package skilldir keeps skills of servers as files: each in a folder of its own, whose
// path says of which server and from which URI the skill is. A server chooses URIs, so
// nothing here takes them for paths, and no path leads out of the folder of all skills,
// whatever links there are in it.
package skilldir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/parley-mcp/parley/internal/wire"
)

// What a store keeps beside the skills.
const (
	lockName = ".parley-pull.lock"
	// stage is where a skill is made, before it takes its place as a whole.
	stage = ".parley-pull"
)

// Files and folders are for their user, and nothing is executable.
//
// Spec: ext-skills/stable skills#security-considerations.
const (
	fileMode   = 0o640
	folderMode = 0o750
)

// Store is a folder of skills. One process at a time uses it.
type Store struct {
	root *os.Root
	dir  string
	lock *flock.Flock
}

// Open opens the folder at a path, and makes it if there is none. The error is about
// usage if it is an *UnfitError.
func Open(dir string) (*Store, error) {
	if err := fit(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{root: root, dir: dir}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// UnfitError says that skills of servers must not be in a folder.
type UnfitError struct{ Dir string }

// Error says why.
func (e *UnfitError) Error() string {
	return fmt.Sprintf("%s is where programs look for skills of their user's own; skills of servers must not be among them, so name another folder", e.Dir)
}

// fit refuses folders in which programs find skills: those named skills in a hidden
// folder, such as .claude/skills.
//
// Spec: ext-skills/stable skills#security-considerations.
func fit(dir string) error {
	real, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for rest := real; ; rest = filepath.Dir(rest) { // what exists of it may be a link
		if found, err := filepath.EvalSymlinks(rest); err == nil {
			real = filepath.Join(found, strings.TrimPrefix(real, rest))
			break
		}
		if rest == filepath.Dir(rest) {
			break
		}
	}
	parts := strings.Split(filepath.ToSlash(real), "/")
	for i := range len(parts) - 1 {
		if strings.HasPrefix(parts[i], ".") && strings.EqualFold(parts[i+1], "skills") {
			return &UnfitError{Dir: dir}
		}
	}
	return nil
}

// begin locks the folder, and removes what a pull has left behind that was killed.
func (s *Store) begin() error {
	if info, err := s.root.Lstat(lockName); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file; move it away", s.Path(lockName))
	}
	s.lock = flock.New(filepath.Join(s.dir, lockName), flock.SetPermissions(fileMode))
	locked, err := s.lock.TryLock()
	if err != nil {
		return err
	}
	if !locked {
		return fmt.Errorf("another pull is at work in %s", s.dir)
	}
	return s.root.RemoveAll(stage)
}

// Close ends the use of the folder.
func (s *Store) Close() error {
	return errors.Join(s.root.RemoveAll(stage), s.lock.Close(), s.root.Close())
}

// Path returns the path of something in the folder, for people.
func (s *Store) Path(at string) string { return filepath.Join(s.dir, filepath.FromSlash(at)) }

// Outcome is what became of a skill.
type Outcome struct {
	Folder string // below the store's, with slashes
	// New says that there was no such folder before.
	New bool
	// Fetched, Kept and Removed are the paths of files: those that came from the
	// server, those that were here already, and those that the skill no longer has.
	Fetched, Kept, Removed []string
}

// Changed reports whether anything is different now.
func (o *Outcome) Changed() bool { return o.New || len(o.Fetched)+len(o.Removed) > 0 }

// ChangedHereError says that the files of a skill are no longer what was pulled, so that
// an update would destroy somebody's work.
type ChangedHereError struct {
	Folder string
	Paths  []string
}

// Error names the folder and some of the files.
func (e *ChangedHereError) Error() string {
	return fmt.Sprintf("changed in %s since it was pulled: %s", e.Folder, strings.Join(e.Paths[:min(len(e.Paths), 5)], ", "))
}

// Source has the files of a skill.
type Source interface {
	// Read returns a file, verified.
	Read(ctx context.Context, uri string) ([]byte, error)
	// Verify checks a file that is here already.
	Verify(uri string, data []byte) error
}

// Put makes the folder of a skill what a note says. Files that are there already are
// kept, the others are read from a source; all are verified. The new folder takes the
// place of the old one as a whole, and only once it is complete: an error, or the end of
// ctx, changes nothing. Unless force is set, a folder in which somebody has changed
// something is left as it is; the error is a *ChangedHereError.
func (s *Store) Put(ctx context.Context, n *Note, force bool, from Source) (*Outcome, error) {
	id := Identity{Server: n.Server, URI: n.URI}
	at, err := id.Folder()
	if err != nil {
		return nil, err
	}
	if err := n.check(); err != nil {
		return nil, &PathError{URI: n.URI, Err: err}
	}
	if err := s.makeAll(path.Dir(at)); err != nil {
		return nil, err
	}
	old, err := s.read(at, id)
	if err != nil {
		return nil, err
	}
	if old == nil {
		old = &folder{note: &Note{}}
	}
	if len(old.changed) > 0 && !force {
		return nil, &ChangedHereError{Folder: s.Path(at), Paths: old.changed}
	}
	o := &Outcome{Folder: at, New: old.note.URI == "", Removed: old.without(n)}
	for _, f := range n.Files {
		data, here := old.intact[f.Digest]
		if !here {
			continue
		}
		if err := from.Verify(f.URI, data); err != nil {
			return nil, err
		}
		o.Kept = append(o.Kept, f.Path)
	}
	if len(old.changed) == 0 && old.note.same(n) {
		return o, nil
	}
	if err := s.build(ctx, n, old, o, from); err != nil {
		return nil, errors.Join(err, s.root.RemoveAll(stage))
	}
	return o, s.replace(ctx, at, o.New)
}

// without returns the files in the folder that are not among those of a note.
func (f *folder) without(n *Note) []string {
	var gone []string
	for _, was := range f.note.Files {
		if !slices.ContainsFunc(n.Files, func(now File) bool { return now.Path == was.Path }) {
			gone = append(gone, was.Path)
		}
	}
	return gone
}

// build makes the skill in the folder stage/new.
func (s *Store) build(ctx context.Context, n *Note, old *folder, o *Outcome, from Source) error {
	if err := s.makeAll(stage + "/new"); err != nil {
		return err
	}
	for _, f := range n.Files {
		data, here := old.intact[f.Digest]
		if !here {
			var err error
			if data, err = from.Read(ctx, f.URI); err != nil {
				return err
			}
			o.Fetched = append(o.Fetched, f.Path)
		}
		if err := s.write(stage+"/new/"+f.Path, data); err != nil {
			return err
		}
	}
	note, err := wire.Marshal(n)
	if err != nil {
		return err
	}
	return s.write(stage+"/new/"+noteName, append(note, '\n'))
}

// write writes a new file, down to the disk.
func (s *Store) write(name string, data []byte) error {
	if err := s.makeAll(path.Dir(name)); err != nil {
		return err
	}
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// makeAll makes a folder and those that it is in. None of them may be a link.
func (s *Store) makeAll(at string) error {
	made := ""
	for part := range strings.SplitSeq(at, "/") {
		made = path.Join(made, part)
		if err := s.root.Mkdir(made, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := s.root.Lstat(made); err != nil {
			return err
		} else if !info.IsDir() {
			return fmt.Errorf("%s is not a folder; move it away", s.Path(made))
		}
	}
	return nil
}

// replace puts the folder that was built into its place. Between the two renames there
// is no folder at all, which the next pull mends if the program is killed there.
func (s *Store) replace(ctx context.Context, at string, isNew bool) error {
	if err := context.Cause(ctx); err != nil {
		return errors.Join(err, s.root.RemoveAll(stage))
	}
	if !isNew {
		if err := s.root.Rename(at, stage+"/old"); err != nil {
			return errors.Join(err, s.root.RemoveAll(stage))
		}
	}
	err := s.root.Rename(stage+"/new", at)
	if err != nil && !isNew {
		err = errors.Join(err, s.root.Rename(stage+"/old", at))
	}
	return errors.Join(err, s.root.RemoveAll(stage))
}
