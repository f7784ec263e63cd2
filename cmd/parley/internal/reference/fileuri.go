package reference

import (
	"context"
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

const fileScheme = "file:///"

func isFileURI(uri string) bool { return strings.HasPrefix(uri, fileScheme) }

// slashBase returns the root as URIs write it.
func (f *files) slashBase() string { return slashPath(f.base) }

// slashPath returns an absolute path with slashes, including one before a drive
// letter.
func slashPath(name string) string { return "/" + strings.TrimPrefix(filepath.ToSlash(name), "/") }

// uri returns the URI of a file, given its path from the root.
func (f *files) uri(name string) string {
	u := url.URL{Scheme: "file", Path: slashPath(filepath.Join(f.base, name))}
	return u.String()
}

// pathOf returns the absolute path that a file URI names. Dots and double
// slashes are refused rather than resolved: each file has one path.
func pathOf(uri string) (string, bool) {
	if !isFileURI(uri) {
		return "", false
	}
	text, err := url.PathUnescape(uri[len(fileScheme)-1:])
	if err != nil || strings.ContainsRune(text, 0) || strings.ContainsRune(text, '\\') && filepath.Separator == '\\' {
		return "", false
	}
	if text != "/" {
		text = strings.TrimSuffix(text, "/") // of a directory
	}
	if path.Clean(text) != text {
		return "", false
	}
	if name := filepath.FromSlash(text); filepath.IsAbs(name) {
		return name, true
	}
	name := filepath.FromSlash(strings.TrimPrefix(text, "/")) // a drive letter
	return name, filepath.IsAbs(name)
}

// nameOf returns the path from the root of what a URI names, if that is below
// the root.
func (f *files) nameOf(uri string) (string, bool) {
	name, ok := pathOf(uri)
	if !ok {
		return "", false
	}
	return f.nameOfPath(name)
}

func (f *files) nameOfPath(abs string) (string, bool) {
	for _, base := range []string{f.base, f.real} {
		if name, ok := below(base, abs); ok {
			return name, true
		}
	}
	return "", false
}

// below returns path relative to base, if it is base or below it.
func below(base, path string) (string, bool) {
	name, err := filepath.Rel(base, path)
	return name, err == nil && filepath.IsLocal(name)
}

// rootsError is a failure to get the client's roots. It must reach the server
// unchanged, because it may carry the question for them.
type rootsError struct{ error }

func (e *rootsError) Unwrap() error { return e.error }

func isRootsFailure(err error) bool {
	var failure *rootsError
	return errors.As(err, &failure)
}

// bounds asks for the client's roots, once, and returns a function that says
// whether a file is in one of them. A client that has not declared roots sets
// no bounds.
func (f *files) bounds(ctx context.Context, call *server.Call) (inside func(name string) bool, err error) {
	if call.Peer().Capabilities.Roots == nil {
		return func(string) bool { return true }, nil
	}
	roots, err := server.Roots(ctx, call)
	if err != nil {
		return nil, &rootsError{err}
	}
	return func(name string) bool { return f.within(roots, name) }, nil
}

// allowed returns errOutside if the client has roots and none of them holds
// the file.
func (f *files) allowed(ctx context.Context, call *server.Call, name string) error {
	inside, err := f.bounds(ctx, call)
	if err == nil && !inside(name) {
		err = errOutside
	}
	return err
}

// within follows links first: what counts is where a file really is.
func (f *files) within(roots []*mcp.Root, name string) bool {
	file := resolved(filepath.Join(f.real, name))
	for _, root := range roots {
		if root == nil {
			continue
		}
		dir, ok := pathOf(root.URI)
		if !ok {
			continue
		}
		if _, ok := below(resolved(dir), file); ok {
			return true
		}
	}
	return false
}

// resolved follows links as far as they lead somewhere.
func resolved(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}
