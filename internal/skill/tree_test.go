package skill

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// page returns a SKILL.md.
func page(name string) *fstest.MapFile {
	return data("---\nname: " + name + "\ndescription: d\n---\nBody\n")
}

func data(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

var everything = Reader{Skip: func(string) bool { return false }, MaxBytes: 1 << 30}

func TestTree(t *testing.T) {
	tree, err := everything.Read(fstest.MapFS{
		"README.md":                     data("beside the skills"),
		"docs/a.md":                     data("beside the skills"),
		"pdf/SKILL.md":                  page("pdf"),
		"pdf/A.md":                      data("before it in order"),
		"pdf/templates/x.md":            data("x"),
		"pdf/empty":                     &fstest.MapFile{Mode: fs.ModeDir},
		"pdf-0/SKILL.md":                page("pdf-0"),
		"acme/billing/refunds/SKILL.md": page("refunds"),
		"acme/billing/refunds/more/deep/SKILL.md": page("deep"),
		"acme/notes.txt": data("beside the skills"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"acme/billing/refunds", "acme/billing/refunds/more/deep", "pdf", "pdf-0"}; !slices.Equal(tree.Skills, want) {
		t.Errorf("skills %q", tree.Skills)
	}
	if want := []string{".", "acme", "acme/billing", "acme/billing/refunds", "acme/billing/refunds/more", "acme/billing/refunds/more/deep", "pdf", "pdf-0", "pdf/empty", "pdf/templates"}; !slices.Equal(tree.Dirs, want) {
		t.Errorf("directories %q", tree.Dirs)
	}
	if want := []string{"pdf/SKILL.md", "pdf/A.md", "pdf/templates/x.md"}; !slices.Equal(tree.Within("pdf"), want) {
		t.Errorf("files %q", tree.Within("pdf"))
	}
	e, err := tree.Entry("acme/billing/refunds", "skill:/")
	if err != nil {
		t.Fatal(err)
	}
	files := e.Resources.Files
	// From the enclosing skill's perspective a nested one consists of supporting files.
	//
	// Spec: ext-skills/stable skills#resources.
	if e.URI != "skill://acme/billing/refunds/SKILL.md" || len(files) != 2 || files[1].URI != "skill://acme/billing/refunds/more/deep/SKILL.md" ||
		files[0].Digest != Digest(page("refunds").Data) || files[0].Size != int64(len(page("refunds").Data)) {
		t.Errorf("%+v", e)
	}
}

// A tree whose root is the skill itself.
func TestTreeOfOneSkill(t *testing.T) {
	tree, err := everything.Read(fstest.MapFS{"SKILL.md": page("pdf"), "b/c.md": data("c")})
	if err != nil {
		t.Fatal(err)
	}
	e, err := tree.Entry(".", "skill://x/pdf")
	if err != nil || e.URI != "skill://x/pdf/SKILL.md" || len(e.Resources.Files) != 2 || e.Resources.Files[1].URI != "skill://x/pdf/b/c.md" {
		t.Errorf("%+v (%v)", e, err)
	}
	if _, err := tree.Entry(".", "skill:/"); err == nil || !strings.Contains(err.Error(), "a directory must stand before") {
		t.Errorf("without a directory: %v", err)
	}
}

func TestTreeRefused(t *testing.T) {
	many := fstest.MapFS{"a/SKILL.md": page("a")}
	for i := range MaxFiles {
		many["a/"+strings.Repeat("x", i%200+1)+string(rune('a'+i/200))] = data("")
	}
	for _, tt := range []struct {
		name string
		fsys fstest.MapFS
		want string
	}{
		{"link", fstest.MapFS{"a/SKILL.md": page("a"), "a/b": {Mode: fs.ModeSymlink, Data: []byte("SKILL.md")}}, `"a/b" is a symbolic link`},
		{"link to a skill", fstest.MapFS{"b": {Mode: fs.ModeSymlink, Data: []byte("a")}}, `"b" is a symbolic link`},
		{"SKILL.md is a link", fstest.MapFS{"x": data(""), "a/SKILL.md": {Mode: fs.ModeSymlink, Data: []byte("../x")}}, `"a/SKILL.md" is a symbolic link`},
		{"device", fstest.MapFS{"a/SKILL.md": page("a"), "a/b": {Mode: fs.ModeDevice}}, `"a/b" is not a regular file`},
		{"wrong case", fstest.MapFS{"a/skill.md": page("a")}, "is called SKILL.md, in these letters"},
		{"backslash", fstest.MapFS{"a/SKILL.md": page("a"), `a/b\c`: data("")}, "cannot have such a name"},
		{"line break in a directory", fstest.MapFS{"a\nb/c/SKILL.md": page("c")}, "cannot have such a name"},
		{"large file", fstest.MapFS{"a/SKILL.md": page("a"), "a/b": data(strings.Repeat("x", MaxBytes+1))}, "larger than hosts have to accept"},
		{"large skill", fstest.MapFS{"a/SKILL.md": page("a"), "a/b": data(strings.Repeat("x", MaxBytes))}, "larger than hosts have to accept"},
		{"many files", many, "513 files"},
		{"wrong name", fstest.MapFS{"a/SKILL.md": page("b")}, `the directory must have the skill's name, which is "b"`},
		{"no frontmatter", fstest.MapFS{"a/SKILL.md": data("# A")}, "a/SKILL.md: it must begin with YAML frontmatter"},
		{"no description", fstest.MapFS{"a/SKILL.md": data("---\nname: a\n---\n")}, `a/SKILL.md: "description" is missing`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree, err := everything.Read(tt.fsys)
			for i := 0; err == nil && i < len(tree.Skills); i++ {
				_, err = tree.Entry(tree.Skills[i], "skill:/")
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestTreeBounds(t *testing.T) {
	r := everything
	r.MaxBytes = 100
	if _, err := r.Read(fstest.MapFS{"a/SKILL.md": page("a"), "b/SKILL.md": page("b"), "b/x": data(strings.Repeat("x", 50))}); err == nil || !strings.Contains(err.Error(), "more than 100 bytes together") {
		t.Errorf("too large: %v", err)
	}
	deep := strings.Repeat("d/", maxLevels+1)
	if _, err := everything.Read(fstest.MapFS{deep + "a/SKILL.md": page("a")}); err == nil || !strings.Contains(err.Error(), "name a smaller folder") {
		t.Errorf("too deep: %v", err)
	}
	r = Reader{MaxBytes: 1 << 20, Skip: func(name string) bool { return name == "a/link" || name == "b/SKILL.md" }}
	tree, err := r.Read(fstest.MapFS{"a/SKILL.md": page("a"), "a/link": {Mode: fs.ModeSymlink, Data: []byte("/etc/passwd")}, "b/SKILL.md": page("b")})
	if err != nil || len(tree.Files) != 1 || len(tree.Skills) != 1 {
		t.Errorf("%+v (%v)", tree, err)
	}
}

// A folder on disk gives away nothing from outside of it.
func TestTreeOnDisk(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "skills", "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "secret")
	for name, content := range map[string][]byte{secret: []byte("hunter2"), filepath.Join(dir, "skills", "a", File): page("a").Data} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fsys := os.DirFS(filepath.Join(dir, "skills"))
	if _, err := everything.Read(fsys); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "skills", "a", "notes.md")); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no symbolic links here")
	} else if err != nil {
		t.Fatal(err)
	}
	if _, err := everything.Read(fsys); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a link out of the folder: %v", err)
	}
}

// Whatever a file tree looks like, each skill in it has a good entry or an error.
func FuzzTree(f *testing.F) {
	f.Add("a", "b/c.md", "name: a\ndescription: d", true)
	f.Add("x/y", "../z", "name: y\ndescription: d", true)
	f.Add(".", "a\\b", "name: y", false)
	f.Add("a b", "%2e%2e/x", "name: a b\ndescription: d", true)
	f.Fuzz(func(t *testing.T, dir, name, frontmatter string, nested bool) {
		fsys := fstest.MapFS{}
		doc := data("---\n" + frontmatter + "\n---\n")
		for _, at := range []string{dir + "/" + File, dir + "/" + name} {
			if fs.ValidPath(at) {
				fsys[at] = doc
			}
		}
		if at := dir + "/" + name + "/" + File; nested && fs.ValidPath(at) {
			delete(fsys, dir+"/"+name)
			fsys[at] = doc
		}
		tree, err := everything.Read(fsys)
		if err != nil {
			return
		}
		for _, skill := range tree.Skills {
			e, err := tree.Entry(skill, "skill://x")
			if err != nil {
				continue
			}
			root, err := Root(e.URI)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range e.Resources.Files {
				name, err := Path(root, file.URI)
				if err != nil || CheckDigest(file.Digest) != nil || Digest(tree.Files[strings.TrimPrefix(skill+"/"+name, "./")]) != file.Digest {
					t.Fatalf("%+v in %+v (%v)", file, e, err)
				}
			}
		}
	})
}
