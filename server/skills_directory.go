package server

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// skillsDeclared are the settings of the extension.
//
// Spec: ext-skills/stable skills#capability-negotiation.
var skillsDeclared = json.RawMessage(`{"directoryRead":true}`)

// withSkills declares the extension, unless Options.Extensions does.
func withSkills(extensions map[string]json.RawMessage) map[string]json.RawMessage {
	if _, ok := extensions[mcp.ExtensionSkills]; ok {
		return extensions
	}
	extensions = maps.Clone(extensions)
	if extensions == nil {
		extensions = map[string]json.RawMessage{}
	}
	extensions[mcp.ExtensionSkills] = skillsDeclared
	return extensions
}

// readDirectory answers resources/directory/read.
//
// Spec: ext-skills/stable skills#reading-directories.
func (s *Server) readDirectory(ctx context.Context, x *mcp.Exchange) (any, error) {
	var params mcp.ReadDirectoryParams
	if err := decodeParams(x, &params); err != nil {
		return nil, err
	}
	listing, err := s.directory(ctx, x, params.URI)
	if err != nil {
		return nil, err
	}
	var visible func(uri string) bool
	if s.opts.Visible != nil {
		index := s.skills.index()
		visible = func(uri string) bool { return s.childVisible(ctx, x, index, uri) }
	}
	p, err := pageOf(listing, listOfDirectory, params.Cursor, s.opts.PageSize, visible)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadDirectoryResult{Resources: p.list, NextCursor: p.next}, nil
}

// directory returns what a directory contains.
func (s *Server) directory(ctx context.Context, x *mcp.Exchange, uri string) (*snapshot[mcp.Resource, *resource], error) {
	index := s.skills.index()
	if p := index.around(uri); p != nil && s.visible(ctx, x, mcp.ResourceFeature, p.skill.URI) {
		call := s.newCall(x)
		defer call.finish(ctx)
		list, err := p.children(ctx, call, uri)
		if list != nil || err != nil {
			return newListing(list), err
		}
	}
	if listing, ok := index.dirs[uri]; ok && s.childVisible(ctx, x, index, uri) {
		return listing, nil
	}
	if _, ok := s.skills.file(&s.resources, uri); ok && s.visible(ctx, x, mcp.ResourceFeature, uri) {
		return nil, notServed(uri, "%q is a file, not a directory")
	}
	return nil, notServed(uri, "no directory is served at %q; its URI has no slash at the end")
}

// childVisible reports whether the client of an exchange gets to see a file, or
// anything in a directory. One that is empty is seen by whoever may see its URI.
func (s *Server) childVisible(ctx context.Context, x *mcp.Exchange, index *skillIndex, uri string) bool {
	listing, ok := index.dirs[uri]
	if s.opts.Visible == nil || !ok || len(listing.plans) == 0 {
		return s.visible(ctx, x, mcp.ResourceFeature, uri)
	}
	return slices.ContainsFunc(listing.plans, func(r *resource) bool { return s.childVisible(ctx, x, index, r.key()) })
}

// newListing returns a directory with these children, in the order of their URIs.
func newListing(children []*resource) *snapshot[mcp.Resource, *resource] {
	slices.SortFunc(children, func(a, b *resource) int { return strings.Compare(a.key(), b.key()) })
	l := &snapshot[mcp.Resource, *resource]{
		plans: children, descs: make([]*mcp.Resource, len(children)), entries: make([]*wire.Entry, len(children)), index: map[string]int{},
	}
	for i, r := range children {
		l.descs[i], l.index[r.key()] = r.desc(), i
	}
	return l
}

// notServed says that something does not exist, in a form that clients recognize by
// the URI in its data. format has a verb for the URI, and for args.
//
// Spec: ext-skills/stable skills#error-handling.
func notServed(uri, format string, args ...any) error {
	err := jsonrpc.Errorf(jsonrpc.CodeInvalidParams, format, append([]any{shorten(uri)}, args...)...)
	err.Data, _ = wire.Marshal(struct {
		URI string `json:"uri"`
	}{shorten(uri)})
	return err
}
