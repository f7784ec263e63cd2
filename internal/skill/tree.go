package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/mcp"
)

// Tree is the skills of a file tree, with the content of their files, as they were
// at one time. Paths have slashes; "." is the tree's root.
type Tree struct {
	// Skills are the directories that have a SKILL.md, in lexical order.
	Skills []string
	// Dirs are the directories that are skills or within one, or lead to one.
	Dirs []string
	// Files are the files of all skills, by path.
	Files map[string][]byte

	names []string // of Files, in lexical order
}

// Reader reads trees.
type Reader struct {
	// Skip says what to leave out, by path.
	Skip func(name string) bool
	// MaxBytes bounds what all files have together.
	MaxBytes int64
}

// The bounds of a tree, far above any collection of skills.
const (
	maxEntries = 100_000
	maxLevels  = 64
)

// Read reads the skills of a file tree. What is no regular file is an error, so
// that nothing outside of the tree is ever read by way of a link; so are names that
// no URI of a skill could have.
func (r Reader) Read(fsys fs.FS) (*Tree, error) {
	w := &walk{Reader: r, fsys: fsys, tree: &Tree{Files: map[string][]byte{}}, left: r.MaxBytes}
	if _, err := w.dir(".", "", 0); err != nil {
		return nil, err
	}
	slices.Sort(w.tree.Skills)
	slices.Sort(w.tree.Dirs)
	w.tree.names = slices.Sorted(maps.Keys(w.tree.Files))
	return w.tree, nil
}

type walk struct {
	Reader

	fsys    fs.FS
	tree    *Tree
	left    int64 // bytes that may still be read
	entries int
}

// dir reads a directory. within is the skill that it belongs to, or "". It reports
// whether the directory is or has anything of a skill.
func (w *walk) dir(name, within string, level int) (used bool, err error) {
	list, err := fs.ReadDir(w.fsys, name)
	if err != nil {
		return false, err
	}
	if w.entries += len(list); w.entries > maxEntries || level > maxLevels {
		return false, fmt.Errorf("%q: more than %d entries or %d levels: name a smaller folder", name, maxEntries, maxLevels)
	}
	if slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == File && !e.IsDir() && !w.Skip(path.Join(name, File)) }) {
		within = name
		w.tree.Skills = append(w.tree.Skills, name)
	}
	used = within != ""
	for _, e := range list {
		at := path.Join(name, e.Name())
		if w.Skip(at) {
			continue
		}
		below, err := w.entry(at, e, within, level)
		if err != nil {
			return false, err
		}
		used = used || below
	}
	if used {
		w.tree.Dirs = append(w.tree.Dirs, name)
	}
	return used, nil
}

func (w *walk) entry(name string, e fs.DirEntry, within string, level int) (used bool, err error) {
	switch {
	case e.IsDir():
		used, err = w.dir(name, within, level+1)
		if used && err == nil {
			err = checkFileName(name)
		}
		return used, err
	case e.Type()&fs.ModeSymlink != 0:
		return false, fmt.Errorf("%q is a symbolic link, which is not followed: put what it points to in its place, or leave it out with Skip", name)
	case within == "" && strings.EqualFold(e.Name(), File):
		return false, fmt.Errorf("%q: the file that makes a skill is called %s, in these letters", name, File)
	case within == "":
		return false, nil // beside the skills
	case !e.Type().IsRegular():
		return false, fmt.Errorf("%q is not a regular file", name)
	}
	if err := checkFileName(name); err != nil {
		return false, err
	}
	return true, w.file(name)
}

func checkFileName(name string) error {
	if !safeName(path.Base(name)) {
		return fmt.Errorf("%q: what belongs to a skill cannot have such a name", name)
	}
	return nil
}

func (w *walk) file(name string) error {
	data, err := ReadFile(w.fsys, name, min(w.left, MaxBytes))
	if errors.Is(err, ErrTooLarge) && w.left < MaxBytes {
		return fmt.Errorf("%q: the skills have more than %d bytes together: raise MaxBytes, or name a smaller folder", name, w.MaxBytes)
	}
	if err != nil {
		return err
	}
	w.left -= int64(len(data))
	w.tree.Files[name] = data
	return nil
}

// ReadFile reads a regular file of at most so many bytes. The error may be
// ErrTooLarge.
func ReadFile(fsys fs.FS, name string, most int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%q has more than %d bytes: %w", name, most, ErrTooLarge)
	}
	return data, err
}

// Names returns the paths of all files, in lexical order.
func (t *Tree) Names() []string { return t.names }

// Entry returns the entry for the skill in a directory. root is the URI of the tree's
// root. The error says what breaks the rules of Agent Skills or of serving them.
//
// Spec: ext-skills/stable skills#skill-entries.
func (t *Tree) Entry(dir, root string) (*mcp.Skill, error) {
	frontmatter, err := t.frontmatter(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(dir, File), err)
	}
	s := &mcp.Skill{URI: URI(URI(root, dir), File), Frontmatter: frontmatter}
	for _, name := range t.Within(dir) {
		data := t.Files[name]
		s.Resources.Files = append(s.Resources.Files, mcp.SkillResource{URI: URI(root, name), Digest: Digest(data), Size: int64(len(data))})
	}
	return s, CheckEntry(s)
}

func (t *Tree) frontmatter(dir string) (json.RawMessage, error) {
	frontmatter, err := Frontmatter(t.Files[path.Join(dir, File)])
	if err != nil {
		return nil, err
	}
	return frontmatter, Check(frontmatter)
}

// Within returns the paths of the files in a directory and below it: first its
// SKILL.md, if it has one, then the others in lexical order.
func (t *Tree) Within(dir string) []string {
	names := t.names
	if dir != "." {
		begin, _ := slices.BinarySearch(names, dir+"/")
		end, _ := slices.BinarySearch(names, dir+"0") // the character after the slash
		names = names[begin:end]
	}
	main := path.Join(dir, File)
	if i := slices.Index(names, main); i > 0 {
		names = slices.Concat([]string{main}, names[:i], names[i+1:])
	}
	return names
}
