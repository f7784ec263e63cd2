package skilldir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/skill"
	"github.com/parley-mcp/parley/internal/wire"
)

// noteName is the file in the folder of a skill that says where the skill is from. No
// file of a skill can have its name, which begins with a dot.
const noteName = ".parley.json"

// Note says where the files of a folder are from, and what they were when they came.
type Note struct {
	// Server and URI are the skill's identity.
	Server string `json:"server"`
	URI    string `json:"uri"`
	// Approval is the value to which an approval of these files is bound.
	Approval string `json:"approval"`
	Files    []File `json:"files"`
}

// File is a file of a skill.
type File struct {
	// Path is where it is in the skill's folder, with slashes; see FilePath.
	Path string `json:"path"`
	// URI, Digest and Size are what the server says of it.
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// check refuses files that cannot all have their paths.
func (n *Note) check() error {
	taken := collisions{}
	for _, f := range n.Files {
		if err := taken.add(f.Path); err != nil {
			return err
		}
	}
	return nil
}

// same reports whether two notes are about the same files.
func (n *Note) same(other *Note) bool {
	byPath := func(files []File) []File {
		return slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	}
	return n.Approval == other.Approval && slices.Equal(byPath(n.Files), byPath(other.Files))
}

// folder is what is in the folder of a skill already.
type folder struct {
	note   *Note
	intact map[string][]byte // the files that are as they came, by digest
	// changed are the paths that differ from what came: other content, added, removed.
	changed []string
}

// read returns what is in the folder of a skill, or nil if there is no such folder. It
// trusts nothing that it finds: each file is hashed again.
//
// Spec: ext-skills/stable skills#security-considerations.
func (s *Store) read(at string, id Identity) (*folder, error) {
	info, err := s.root.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // there is none, and that is fine
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a folder; move it away", s.Path(at))
	}
	note, err := s.readNote(at)
	if err != nil || note.Server != id.Server || note.URI != id.URI {
		return nil, fmt.Errorf("the folder %s is there already, and not from a pull of this skill; move it away", s.Path(at))
	}
	f := &folder{note: note, intact: map[string][]byte{}}
	expected := map[string]File{}
	for _, file := range note.Files {
		expected[file.Path] = file
	}
	if err := s.walk(at, "", func(name string, info fs.FileInfo) { f.look(s, at, name, info, expected) }); err != nil {
		return nil, err
	}
	for name := range expected {
		f.changed = append(f.changed, name)
	}
	slices.Sort(f.changed)
	return f, nil
}

// look compares what is at a path with what came, which it removes from expected.
func (f *folder) look(s *Store, at, name string, info fs.FileInfo, expected map[string]File) {
	file, known := expected[name]
	delete(expected, name)
	if !known || !info.Mode().IsRegular() || info.Size() != file.Size {
		f.changed = append(f.changed, name)
		return
	}
	data, err := s.root.ReadFile(path.Join(at, name))
	if err != nil || skill.Digest(data) != file.Digest {
		f.changed = append(f.changed, name)
		return
	}
	f.intact[file.Digest] = data
}

// walk calls visit for everything below a folder that is not a folder itself, but for
// the note. Links are not followed.
func (s *Store) walk(at, below string, visit func(name string, info fs.FileInfo)) error {
	entries, err := fs.ReadDir(s.root.FS(), path.Join(at, below))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(below, e.Name())
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case info.IsDir():
			if err := s.walk(at, name, visit); err != nil {
				return err
			}
		case name != noteName:
			visit(name, info)
		}
	}
	return nil
}

const maxNote = 1 << 20

func (s *Store) readNote(at string) (*Note, error) {
	info, err := s.root.Lstat(path.Join(at, noteName))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxNote {
		return nil, os.ErrInvalid
	}
	data, err := s.root.ReadFile(path.Join(at, noteName))
	if err != nil {
		return nil, err
	}
	n := new(Note)
	return n, wire.Unmarshal(data, n)
}
