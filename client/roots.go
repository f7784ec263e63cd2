package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Roots lists the folders that servers may work in.
//
// Spec: 2026-07-28 client/roots#listing-roots.
func (a *answers) Roots(ctx context.Context) (*mcp.ListRootsResult, error) {
	if a.opts.ListRoots != nil {
		return a.askRoots(ctx)
	}
	a.rootsMu.Lock()
	defer a.rootsMu.Unlock()
	if a.self.Capabilities.Roots == nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found: %s", mcp.MethodRoots)
	}
	return &mcp.ListRootsResult{Roots: a.roots}, nil
}

func (a *answers) askRoots(ctx context.Context) (*mcp.ListRootsResult, error) {
	defer a.asked(ctx)()
	roots, err := a.opts.ListRoots(ctx)
	if err == nil {
		err = checkRoots(roots, a.rules)
	}
	if err != nil {
		return nil, noAnswer(mcp.MethodRoots, err)
	}
	return &mcp.ListRootsResult{Roots: roots}, nil
}

// SetRoots replaces the roots, and notifies the server if there is a session. It
// fails when Options.Roots was nil: then roots were not declared, or another function
// in Options provides them.
//
// Revision 2026-07-28 deprecates roots (docs/deprecated.md).
//
// Spec: 2025-11-25 client/roots#root-list-changes.
func (c *Client) SetRoots(ctx context.Context, roots []*mcp.Root) error {
	if c.opts.Roots == nil {
		return fmt.Errorf("the roots are not this client's to set: set Options.Roots when connecting")
	}
	if err := checkRoots(roots, c.rules); err != nil {
		return err
	}
	c.rootsMu.Lock()
	c.roots = append([]*mcp.Root{}, roots...)
	c.rootsMu.Unlock()
	l, err := c.connected(ctx)
	if err != nil || l.session == nil {
		return err
	}
	return c.Notify(ctx, mcp.NoteRootsChanged, nil)
}

// CheckRoots returns an error that says which of the roots is none, as SetRoots and what
// takes Options.Roots do. Members of _meta that belong to extensions are refused.
//
// Revision 2026-07-28 deprecates roots (docs/deprecated.md).
func CheckRoots(roots []*mcp.Root) error { return checkRoots(roots, content.Rules{}) }

// checkRoots refuses roots that are not folders in the form of a file URI, and those
// that lead out of where they seem to be.
//
// Spec: 2026-07-28 client/roots#root.
// Spec: 2026-07-28 client/roots#security-considerations (1).
func checkRoots(roots []*mcp.Root, rules content.Rules) error {
	for i, r := range roots {
		if r == nil || !strings.HasPrefix(r.URI, "file://") {
			return fmt.Errorf("roots[%d] is not a file:// URI", i)
		}
		if err := checkRoot(r, rules); err != nil {
			return fmt.Errorf("roots[%d]: %w", i, err)
		}
	}
	return nil
}

func checkRoot(r *mcp.Root, rules content.Rules) error {
	u, err := url.Parse(r.URI)
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(u.Path, "/"):
		return fmt.Errorf("%q has no absolute path, as %q has", r.URI, "file:///home/me")
	case strings.ContainsRune(u.Path, 0):
		return fmt.Errorf("%q has a path with a null character", r.URI)
	}
	for segment := range strings.FieldsFuncSeq(u.Path, func(c rune) bool { return c == '/' || c == '\\' }) {
		if segment == ".." {
			return fmt.Errorf("%q leads out of a folder by %q", r.URI, "..")
		}
	}
	return rules.Meta(r.Meta)
}

// Folders returns a function for Options.ListRoots that offers folders of this
// machine: each time a server asks, those that can be read at that time. A path that
// is not absolute is below the working directory. When folders come or go, tell
// servers with sessions by Client.Notify(ctx, mcp.NoteRootsChanged, nil); others ask
// again with every call that needs them.
//
// Revision 2026-07-28 deprecates roots (docs/deprecated.md).
//
// Spec: 2026-07-28 client/roots#security-considerations (1).
func Folders(paths ...string) RootsFunc {
	paths = slices.Clone(paths)
	return func(context.Context) ([]*mcp.Root, error) {
		roots := []*mcp.Root{}
		for _, path := range paths {
			path, err := filepath.Abs(path)
			if err != nil {
				return nil, err
			}
			if readable(path) {
				roots = append(roots, &mcp.Root{URI: fileURI(path), Name: filepath.Base(path)})
			}
		}
		return roots, nil
	}
}

// readable reports whether a path is that of a folder whose entries can be read.
func readable(path string) bool {
	dir, err := os.Open(path) //nolint:gosec // the application names it
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }() // nothing was written
	_, err = dir.Readdirnames(1)
	return err == nil || errors.Is(err, io.EOF)
}

func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive of Windows
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
