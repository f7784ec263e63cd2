package reference

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

const (
	fileTemplate = "file:///{+path}"
	maxFileBytes = 8 << 20 // of a file that is read
	maxDirNames  = 10_000  // of a directory that is listed
)

// files are the files below a root. All access goes through os.Root, which
// does not leave it, whatever links there are.
type files struct {
	root *os.Root
	base string // the root as it was given, absolute
	real string // the same without symbolic links

	watcher *fsnotify.Watcher
	done    chan struct{} // closed when the watcher has ended; nil before it starts

	mu   sync.Mutex                // guards pins
	pins map[string]map[string]int // by name, how often each of its URIs is watched
}

func openFiles(dir string) (*files, error) {
	base, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f := &files{base: base, pins: map[string]map[string]int{}}
	if f.real, err = filepath.EvalSymlinks(base); err != nil {
		return nil, err
	}
	if f.root, err = os.OpenRoot(f.real); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *files) close() error {
	var err error
	if f.watcher != nil {
		err = f.watcher.Close()
	}
	if f.done != nil {
		<-f.done
	}
	return errors.Join(err, f.root.Close())
}

func (r *reference) addFiles() {
	server.AddTemplate(r.srv, mcp.ResourceTemplate{
		URITemplate: fileTemplate,
		Name:        "Files",
		Title:       "Files",
		Description: "Files and directories below " + r.files.slashBase() + ", and within the roots of the client if it has any. Reading a directory lists it.",
	}, func(ctx context.Context, call *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
		return r.files.readResource(ctx, call, uri)
	})
	r.srv.CompleteTemplate(fileTemplate, "path", r.files.complete)
}

// readResource reads a file or lists a directory.
func (f *files) readResource(ctx context.Context, call *server.Call, uri string) (*mcp.ReadResourceResult, error) {
	name, ok := f.nameOf(uri)
	if !ok {
		return nil, &mcp.ResourceNotFoundError{URI: uri}
	}
	if err := f.allowed(ctx, call, name); err != nil {
		return nil, readFailure(uri, err)
	}
	info, err := f.root.Stat(name)
	if err != nil {
		return nil, readFailure(uri, err)
	}
	if info.IsDir() {
		listing, err := f.list(name)
		if err != nil {
			return nil, readFailure(uri, err)
		}
		return server.Contents(mcp.TextResource(uri, dirType, listing)), nil
	}
	data, err := f.read(name, maxFileBytes)
	if err != nil {
		return nil, readFailure(uri, err)
	}
	mimeType := typeByName(name)
	if mimeType == "" {
		mimeType = typeByContent(data)
	}
	if isText(data) {
		return server.Contents(mcp.TextResource(uri, mimeType, string(data))), nil
	}
	return server.Contents(mcp.BlobResource(uri, mimeType, data)), nil
}

var (
	errTooLarge  = errors.New("too large")
	errNoRegular = errors.New("not a regular file")
	errOutside   = errors.New("outside the client's roots")
)

// readFailure is the error that the client gets. A file outside the root is
// reported as not found, like one that does not exist, so that nobody can tell
// the two apart.
func readFailure(uri string, err error) error {
	switch {
	case errors.Is(err, errTooLarge), errors.Is(err, errNoRegular), errors.Is(err, fs.ErrPermission):
		return jsonrpc.Errorf(jsonrpc.CodeInternalError, "cannot read %q: %s", uri, reason(err))
	case isRootsFailure(err):
		return err
	}
	return &mcp.ResourceNotFoundError{URI: uri}
}

// reason leaves out the path that package os adds.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

// read reads a regular file of at most limit bytes.
func (f *files) read(name string, limit int64) ([]byte, error) {
	// It is checked before it is opened, because opening a named pipe would
	// block.
	info, err := f.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoRegular
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", errTooLarge, limit)
	}
	return data, nil
}

// list writes a line for each entry: its URI, type and size.
func (f *files) list(name string) (string, error) {
	entries, err := f.entries(name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range entries {
		path := filepath.Join(name, e.Name())
		info, err := f.root.Stat(path)
		switch {
		case err != nil:
			continue // a link that leads nowhere, or outside
		case info.IsDir():
			fmt.Fprintf(&b, "%s/\t%s\n", f.uri(path), dirType)
		case info.Mode().IsRegular():
			fmt.Fprintf(&b, "%s\t%s\t%d\n", f.uri(path), f.typeOf(path), info.Size())
		}
	}
	return b.String(), nil
}

// entries returns what is in a directory, sorted by name.
func (f *files) entries(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.root.FS(), filepath.ToSlash(name))
	if err == nil && len(entries) > maxDirNames {
		return nil, fmt.Errorf("%w: more than %d entries", errTooLarge, maxDirNames)
	}
	return entries, err
}

// readNamed reads a file for a tool, by its URI or its path from the root.
func (f *files) readNamed(ctx context.Context, call *server.Call, file string, limit int64) ([]byte, error) {
	name, ok := filepath.Clean(filepath.FromSlash(file)), filepath.IsLocal(filepath.FromSlash(file))
	if isFileURI(file) {
		name, ok = f.nameOf(file)
	} else if filepath.IsAbs(file) {
		name, ok = f.nameOfPath(file)
	}
	if !ok {
		return nil, fmt.Errorf("file %q is outside the server's root; give a path relative to it, such as %q", file, "data/people.csv")
	}
	if err := f.allowed(ctx, call, name); err != nil {
		if errors.Is(err, errOutside) {
			return nil, fmt.Errorf("file %q is %w; ask the user to add its folder, or use another file", file, err)
		}
		return nil, err
	}
	data, err := f.read(name, limit)
	if err != nil {
		return nil, fmt.Errorf("file %q: %s", file, reason(err))
	}
	return data, nil
}
