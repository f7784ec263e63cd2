package skilldir

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/skill"
)

const refunds = "skill://acme/refunds/SKILL.md"

// source has files by URI, and remembers which were read.
type source struct {
	files map[string]string
	read  []string
	hook  func(uri string) error // called before a file is read
}

func (s *source) Read(_ context.Context, uri string) ([]byte, error) {
	if s.hook != nil {
		if err := s.hook(uri); err != nil {
			return nil, err
		}
	}
	s.read = append(s.read, uri)
	return []byte(s.files[uri]), nil
}

func (s *source) Verify(uri string, data []byte) error {
	if string(data) != s.files[uri] {
		return errors.New("not what the server has")
	}
	return nil
}

// newSource has files of the skill refunds by their paths.
func newSource(files map[string]string) *source {
	s := &source{files: map[string]string{}}
	for name, text := range files {
		s.files["skill://acme/refunds/"+name] = text
	}
	return s
}

func (s *source) note() *Note {
	n := &Note{Server: "shop", URI: refunds}
	for _, uri := range slices.Sorted(maps.Keys(s.files)) {
		data := s.files[uri]
		n.Files = append(n.Files, File{Path: strings.TrimPrefix(uri, "skill://acme/refunds/"), URI: uri, Digest: skill.Digest([]byte(data)), Size: int64(len(data))})
		n.Approval += data
	}
	return n
}

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// tree returns the files below a folder by their paths; links and folders with nothing in
// them as such.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		switch info, _ := d.Info(); {
		case strings.HasSuffix(name, noteName) || name == lockName:
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			found[name] = string(data)
			if info.Mode()&0o111 != 0 && runtime.GOOS != "windows" {
				t.Errorf("%s has the mode %v", name, info.Mode())
			}
			return err
		case !d.IsDir():
			found[name] = d.Type().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func want(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if got := tree(t, dir); !maps.Equal(got, files) {
		t.Errorf("there is\n%q, want\n%q", got, files)
	}
}

const at = "shop/skill=acme+/refunds/"

func TestPut(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	from := newSource(map[string]string{"SKILL.md": "one", "a/b.md": "b", "run.sh": "#!"})
	steps := []struct {
		name                   string
		change                 func()
		fetched, kept, removed int
		isNew                  bool
	}{
		{"first", func() {}, 3, 0, 0, true},
		{"again", func() {}, 0, 3, 0, false},
		{"one changed, one removed, one added", func() {
			delete(from.files, "skill://acme/refunds/a/b.md")
			from.files[refunds] = "two"
			from.files["skill://acme/refunds/c.md"] = "c"
		}, 2, 1, 1, false},
		{"moved", func() {
			delete(from.files, "skill://acme/refunds/c.md")
			from.files["skill://acme/refunds/d.md"] = "c"
		}, 0, 3, 1, false},
	}
	for _, step := range steps {
		step.change()
		from.read = nil
		o, err := s.Put(t.Context(), from.note(), false, from)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if len(o.Fetched) != step.fetched || len(o.Kept) != step.kept || len(o.Removed) != step.removed || o.New != step.isNew || len(from.read) != step.fetched {
			t.Errorf("%s: %+v, and read were %q", step.name, o, from.read)
		}
		if o.Changed() != (step.fetched+step.removed > 0) {
			t.Errorf("%s: changed is %v", step.name, o.Changed())
		}
		files := map[string]string{}
		for uri, text := range from.files {
			files[at+strings.TrimPrefix(uri, "skill://acme/refunds/")] = text
		}
		want(t, dir, files)
	}
}

// What somebody has changed in a skill is not replaced, unless that is asked for.
func TestPutKeepsWhatWasChangedHere(t *testing.T) {
	edits := map[string]func(root string) error{
		"SKILL.md": func(root string) error { return os.WriteFile(root+"SKILL.md", []byte("ONE"), 0o600) },
		"added.md": func(root string) error { return os.WriteFile(root+"added.md", nil, 0o600) },
		"a/b.md":   func(root string) error { return os.Remove(root + "a/b.md") },
		"link.md":  func(root string) error { return os.Symlink("/etc/hostname", root+"link.md") },
		"other.md": func(root string) error { // a link in place of a file, with the right content behind it
			return errors.Join(os.Rename(root+"other.md", root+"../moved"), os.Symlink("../moved", root+"other.md"))
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			from := newSource(map[string]string{"SKILL.md": "one", "a/b.md": "b", "other.md": "x"})
			if _, err := s.Put(t.Context(), from.note(), false, from); err != nil {
				t.Fatal(err)
			}
			if err := edit(dir + "/" + at); err != nil {
				t.Fatal(err)
			}
			before := tree(t, dir)
			_, err := s.Put(t.Context(), from.note(), false, from)
			changed, ok := errors.AsType[*ChangedHereError](err)
			if !ok || !slices.Equal(changed.Paths, []string{name}) || !strings.Contains(err.Error(), name) {
				t.Errorf("error: %v", err)
			}
			want(t, dir, before)
			if _, err := s.Put(t.Context(), from.note(), true, from); err != nil {
				t.Fatal(err)
			}
			after := tree(t, dir)
			delete(after, "shop/skill=acme+/moved")
			if !maps.Equal(after, map[string]string{at + "SKILL.md": "one", at + "a/b.md": "b", at + "other.md": "x"}) {
				t.Errorf("with force: %q", after)
			}
		})
	}
}

// An error in the middle changes nothing, nor does the end of the context; and nothing is
// left behind.
func TestPutIsAtomic(t *testing.T) {
	for _, old := range []bool{false, true} {
		dir := t.TempDir()
		s := open(t, dir)
		from := newSource(map[string]string{"SKILL.md": "one", "a.md": "a", "b.md": "b"})
		if old {
			if _, err := s.Put(t.Context(), from.note(), false, from); err != nil {
				t.Fatal(err)
			}
		}
		before := tree(t, dir)
		from.files[refunds], from.files["skill://acme/refunds/b.md"] = "two", "B"
		ctx, cancel := context.WithCancelCause(t.Context())
		errLost := errors.New("lost")
		from.hook = func(uri string) error {
			if uri == "skill://acme/refunds/b.md" {
				return errLost
			}
			return nil
		}
		if _, err := s.Put(ctx, from.note(), false, from); !errors.Is(err, errLost) {
			t.Errorf("error: %v", err)
		}
		want(t, dir, before)
		from.hook = func(string) error { cancel(errLost); return nil }
		if _, err := s.Put(ctx, from.note(), false, from); !errors.Is(err, errLost) {
			t.Errorf("error: %v", err)
		}
		want(t, dir, before)
		if _, err := os.Lstat(filepath.Join(dir, stage)); err == nil {
			t.Error("the staging folder is left behind")
		}
	}
}

// What is in the destination and not from a pull of this skill stays as it is, and links
// in it lead nowhere.
func TestPutAmongOtherThings(t *testing.T) {
	tests := map[string]func(dir, outside string) error{
		"a folder": func(dir, _ string) error { return os.MkdirAll(filepath.Join(dir, at), 0o700) },
		"a file":   func(dir, _ string) error { return put(filepath.Join(dir, at[:len(at)-1]), "x") },
		"a link":   func(dir, outside string) error { return link(outside, filepath.Join(dir, at[:len(at)-1])) },
		"a link in place of the server": func(dir, outside string) error {
			return link(outside, filepath.Join(dir, "shop"))
		},
		"a link within, in place of the server": func(dir, _ string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "elsewhere"), 0o700), link("elsewhere", filepath.Join(dir, "shop")))
		},
		"a link in place of the stage": func(dir, outside string) error {
			return link(outside, filepath.Join(dir, stage))
		},
		"the note of another skill": func(dir, _ string) error {
			return put(filepath.Join(dir, at, noteName), `{"server":"other","uri":"`+refunds+`","files":[]}`)
		},
		"a note that is none": func(dir, _ string) error { return put(filepath.Join(dir, at, noteName), `{`) },
		"a note that is a link": func(dir, outside string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, at), 0o700), link(filepath.Join(outside, "keep"), filepath.Join(dir, at, noteName)))
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			if err := put(filepath.Join(outside, "keep"), "kept"); err != nil {
				t.Fatal(err)
			}
			s := open(t, dir)
			if err := prepare(dir, outside); err != nil {
				t.Fatal(err)
			}
			before := tree(t, dir)
			from := newSource(map[string]string{"SKILL.md": "one"})
			if _, err := s.Put(t.Context(), from.note(), true, from); err == nil || !strings.Contains(err.Error(), "move it away") {
				t.Errorf("error: %v", err)
			}
			delete(before, stage)
			want(t, dir, before)
			want(t, outside, map[string]string{"keep": "kept"})
		})
	}
}

// A note that somebody made up reaches nothing outside of its folder.
func TestNoteNamesFilesOutside(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := put(filepath.Join(dir, "secret"), "x"); err != nil {
		t.Fatal(err)
	}
	made := `{"server":"shop","uri":"` + refunds + `","files":[{"path":"../../../secret","uri":"x","digest":"` + skill.Digest([]byte("x")) + `","size":1}]}`
	if err := put(filepath.Join(dir, at, noteName), made); err != nil {
		t.Fatal(err)
	}
	from := newSource(map[string]string{"SKILL.md": "x"})
	o, err := s.Put(t.Context(), from.note(), true, from)
	if err != nil || len(o.Fetched) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	want(t, dir, map[string]string{"secret": "x", at + "SKILL.md": "x"})
}

// A file of a skill that is named after another server's is no longer kept for it, even if
// both have the same URI.
func TestSameURIOfTwoServers(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for server, text := range map[string]string{"shop": "one", "Shop": "two", "other": "three"} {
		from := newSource(map[string]string{"SKILL.md": text})
		n := from.note()
		n.Server = server
		if _, err := s.Put(t.Context(), n, false, from); err != nil {
			t.Fatal(err)
		}
	}
	want(t, dir, map[string]string{
		"shop/skill=acme+/refunds/SKILL.md": "one", "!shop/skill=acme+/refunds/SKILL.md": "two", "other/skill=acme+/refunds/SKILL.md": "three",
	})
}

// Files that would take each other's place are refused before anything is read.
func TestPutRefusesCollisions(t *testing.T) {
	dir := t.TempDir()
	from := newSource(map[string]string{"SKILL.md": "one", "skill.md": "two"})
	_, err := open(t, dir).Put(t.Context(), from.note(), false, from)
	if _, ok := errors.AsType[*PathError](err); !ok || len(from.read) != 0 {
		t.Errorf("error: %v; read were %q", err, from.read)
	}
	want(t, dir, map[string]string{})
}

func TestOpen(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "new", "skills")
	s := open(t, dir)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "another pull") {
		t.Errorf("a second use of the folder: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := put(filepath.Join(dir, stage, "new", "SKILL.md"), "left behind"); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	want(t, dir, map[string]string{})
	if err := os.MkdirAll(filepath.Join(home, ".claude", "skills"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := link(filepath.Join(home, ".claude"), filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".claude/skills", ".claude/skills/mine", ".other/Skills/x", "link/skills/x", ".claude/x/../skills"} {
		_, err := Open(filepath.Join(home, filepath.FromSlash(name)))
		if _, ok := errors.AsType[*UnfitError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := link(filepath.Join(home, "nowhere"), filepath.Join(home, "x", lockName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(home, "x")); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("a link in place of the lock: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(home, "nowhere")); err == nil {
		t.Error("the link was followed")
	}
}

func put(name, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600))
}

func link(to, name string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.Symlink(to, name))
}
