package reference

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// The list of files is bounded; files that it leaves out can still be read.
const (
	maxListed = 1000
	maxDirs   = 500
	maxDepth  = 8
)

// scan finds the files to list, in the order of their names. Hidden files and
// directories are left out. Files that have not changed are taken from before.
// enter is called for each directory before it is read.
func (f *files) scan(before map[string]mcp.Resource, enter func(name string)) (map[string]mcp.Resource, error) {
	found, dirs := map[string]mcp.Resource{}, 0
	err := fs.WalkDir(f.root.FS(), ".", func(slashName string, entry fs.DirEntry, err error) error {
		name := filepath.FromSlash(slashName)
		switch {
		case name != "." && strings.HasPrefix(entry.Name(), "."):
			return skip(entry)
		case err != nil && name != ".":
			return skip(entry) // it has vanished, or may not be read
		case err != nil:
			return err
		case entry.IsDir():
			if dirs++; dirs > maxDirs || strings.Count(slashName, "/") >= maxDepth {
				return fs.SkipDir
			}
			enter(name)
			return nil
		case len(found) == maxListed:
			return fs.SkipAll
		}
		if r, ok := f.describe(name, before); ok {
			found[name] = r
		}
		return nil
	})
	return found, err
}

func skip(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// describe returns the resource for a regular file, or for a link to one.
func (f *files) describe(name string, before map[string]mcp.Resource) (mcp.Resource, bool) {
	info, err := f.root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return mcp.Resource{}, false
	}
	modified := info.ModTime().UTC().Format(iso8601)
	if old, ok := before[name]; ok && *old.Size == info.Size() && old.Annotations.LastModified == modified {
		return old, true
	}
	return mcp.Resource{
		URI:         f.uri(name),
		Name:        filepath.ToSlash(name),
		MIMEType:    f.typeOf(name),
		Size:        new(info.Size()),
		Annotations: &mcp.Annotations{LastModified: modified},
	}, true
}

// complete completes the variable of the template: an absolute path without the
// first slash. A value that does not begin like the root's path is taken as
// relative to the root.
func (f *files) complete(_ context.Context, _ *server.Call, c server.Completing) (mcp.Completion, error) {
	typed, base := "/"+strings.TrimPrefix(c.Prefix, "/"), f.slashBase()
	rest, inside := strings.CutPrefix(typed, strings.TrimSuffix(base, "/")+"/")
	if !inside && strings.HasPrefix(base, typed) {
		return mcp.Completion{Values: []string{base[1:] + "/"}}, nil
	}
	if !inside {
		rest = typed[1:]
	}
	dir, start := path.Split(rest)
	name := filepath.Clean(filepath.FromSlash("./" + dir))
	if !filepath.IsLocal(name) {
		return mcp.Completion{}, nil
	}
	entries, err := f.entries(name)
	if err != nil {
		return mcp.Completion{}, nil //nolint:nilerr // there is nothing to propose
	}
	var values []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(start, ".")
		if !hidden && strings.HasPrefix(e.Name(), start) {
			values = f.propose(values, filepath.Join(name, e.Name()))
		}
	}
	return mcp.Completion{Values: values}, nil
}

// propose appends the template's variable for a file, unless it is a link that
// leads nowhere or outside the root. Directories end in a slash, so that their
// contents can be completed next.
func (f *files) propose(values []string, name string) []string {
	info, err := f.root.Stat(name)
	if err != nil {
		return values
	}
	value := slashPath(filepath.Join(f.base, name))[1:]
	if info.IsDir() {
		value += "/"
	}
	return append(values, value)
}
