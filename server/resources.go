package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/mcp"
)

// ResourceHandler reads a resource. Entries of the result without a URI get the
// requested one. A result that is nil, or whose Contents are nil, says that
// there is no such resource, as fs.ErrNotExist and mcp.ErrResourceNotFound do;
// Contents that are empty but not nil say that it exists and holds nothing. An
// error of any other type is logged and answered with "internal error".
//
// Spec: 2026-07-28 server/resources#reading-resources.
type ResourceHandler func(ctx context.Context, call *Call, uri string) (*mcp.ReadResourceResult, error)

// Contents returns a result of the given contents, for use in handlers.
func Contents(contents ...*mcp.ResourceContents) *mcp.ReadResourceResult {
	if contents == nil {
		contents = []*mcp.ResourceContents{}
	}
	return &mcp.ReadResourceResult{Contents: contents}
}

// resource is a plan.
type resource struct {
	resource mcp.Resource
	read     ResourceHandler
	ofSkill  bool // it came with a skill, and goes with it
}

func (r *resource) key() string         { return r.resource.URI }
func (r *resource) desc() *mcp.Resource { return &r.resource }

// AddResource adds a resource, or replaces the one with its URI, which keeps
// its place in the list. A resource takes precedence over all templates. It
// panics when the URI has no scheme or is not one of RFC 3986, the name is
// empty, the MIME type, an icon, an annotation or a key of r.Meta is not valid,
// or h is nil. What r points to must not be changed afterwards.
//
// Spec: 2026-07-28 server/resources#resource.
func (s *Server) AddResource(r mcp.Resource, h ResourceHandler) { must(s.TryAddResource(r, h)) }

// TryAddResource is AddResource for resources that are made at run time: it
// returns an error instead of panicking.
func (s *Server) TryAddResource(r mcp.Resource, h ResourceHandler) error {
	err := checkURI(r.URI)
	if err == nil {
		err = content.URI(r.URI)
	}
	if err != nil {
		return fmt.Errorf("resource %q: %w", shorten(r.URI), err)
	}
	if r.Name == "" {
		return fmt.Errorf("resource %q has no name", r.URI)
	}
	if h == nil {
		return errNoHandler("resource", r.URI)
	}
	if err := s.rules.Described(r.MIMEType, r.Icons, r.Annotations, r.Meta); err != nil {
		return fmt.Errorf("resource %q: %w", r.URI, err)
	}
	if err := checkApp(r.URI, r.MIMEType, r.Meta); err != nil {
		return fmt.Errorf("resource %q: %w", r.URI, err)
	}
	if old, ok := s.skills.file(&s.resources, r.URI); ok && old.ofSkill {
		return fmt.Errorf("resource %q is a file of a skill; SkillSet.Remove removes it", r.URI)
	}
	changed := s.resources.put(&resource{resource: r, read: h})
	s.apps.noteResource(r.URI)
	if changed {
		s.hub.Publish(mcp.Change{Kind: mcp.ResourcesChanged})
	}
	return nil
}

// RemoveResources removes resources by URI; those that do not exist are
// ignored, and so are the files of skills: see SkillSet.Remove.
//
// Spec: 2026-07-28 server/resources#list-changed-notification.
func (s *Server) RemoveResources(uris ...string) {
	uris = slices.DeleteFunc(slices.Clone(uris), func(uri string) bool {
		r, ok := s.resources.get(uri)
		return ok && r.ofSkill
	})
	if s.resources.remove(uris...) {
		s.hub.Publish(mcp.Change{Kind: mcp.ResourcesChanged})
	}
}

// Spec: 2026-07-28 server/resources#listing-resources.
func (s *Server) listResources(ctx context.Context, x *mcp.Exchange) (any, error) {
	p, err := page(ctx, s, &s.resources, mcp.ResourceFeature, x)
	if err != nil {
		return nil, err
	}
	return p.with(&mcp.ListResourcesResult{CacheFields: s.cacheFields(x.Method), Resources: p.list, NextCursor: p.next}), nil
}

// readResource answers resources/read.
func (s *Server) readResource(ctx context.Context, x *mcp.Exchange) (any, error) {
	var params mcp.ReadResourceParams
	if err := decodeParams(x, &params); err != nil {
		return nil, err
	}
	if params.URI == "" {
		return nil, mcp.InvalidParams(`params of %s must have "uri"`, x.Method)
	}
	if err := checkURI(params.URI); err != nil {
		return nil, mcp.InvalidParams("invalid uri %q: %v", shorten(params.URI), err)
	}
	call := s.newCall(x)
	defer call.finish(ctx)
	result, err := s.read(ctx, call, params.URI)
	if err == nil && (result == nil || result.Contents == nil) {
		err = mcp.ErrResourceNotFound
	}
	// Spec: 2026-07-28 server/resources#error-handling.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, mcp.ErrResourceNotFound) {
		return nil, &mcp.ResourceNotFoundError{URI: params.URI}
	}
	if err != nil {
		return nil, err
	}
	return s.completeRead(call, content.Encode(params.URI), result)
}

// read finds the handler: the resource itself, the dynamic skill that it is a file of,
// or the first template that fits.
func (s *Server) read(ctx context.Context, call *Call, uri string) (*mcp.ReadResourceResult, error) {
	if r, ok := s.skills.file(&s.resources, uri); ok && s.visible(ctx, call.x, mcp.ResourceFeature, uri) {
		return r.read(ctx, call, uri)
	}
	if p := s.skills.index().around(uri); p != nil && s.visible(ctx, call.x, mcp.ResourceFeature, uri) {
		return p.readFile(ctx, call, uri)
	}
	for _, t := range s.templates.load().plans {
		read := t.match(uri)
		if read != nil && s.visible(ctx, call.x, mcp.TemplateFeature, t.key()) {
			return read(ctx, call)
		}
	}
	return nil, &mcp.ResourceNotFoundError{URI: uri}
}

// completeRead fills in what the handler left out. The handler's result may be
// shared, so it is copied.
func (s *Server) completeRead(call *Call, uri string, result *mcp.ReadResourceResult) (any, error) {
	cache, err := s.readCache(call.x, result.CacheFields)
	if err != nil {
		return nil, fmt.Errorf("resource %q: %w", uri, err)
	}
	full := *result
	full.CacheFields = cache
	for i, c := range result.Contents {
		if c != nil && c.URI == "" {
			full.Contents = withURI(full.Contents, i, uri)
		}
		if err := s.checkContents(full.Contents[i]); err != nil {
			return nil, fmt.Errorf("resource %q: contents[%d]: %w", uri, i, err)
		}
	}
	if err := s.checkMeta(result.Meta); err != nil {
		return nil, fmt.Errorf("resource %q: %w", uri, err)
	}
	_, meta := call.added()
	full.Meta = mergeMeta(result.Meta.WithoutReserved(), meta)
	return &full, nil
}

func withURI(contents []*mcp.ResourceContents, i int, uri string) []*mcp.ResourceContents {
	contents = slices.Clone(contents)
	c := *contents[i]
	c.URI = uri
	contents[i] = &c
	return contents
}

// ResourceUpdated notifies the watchers of a resource that it changed. URIs are
// compared as they are written.
//
// Spec: 2026-07-28 server/resources#subscriptions.
func (s *Server) ResourceUpdated(uri string) {
	s.hub.Publish(mcp.Change{Kind: mcp.ResourceUpdated, URI: uri})
}
