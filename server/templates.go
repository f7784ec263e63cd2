package server

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/mcp"
)

// TemplateHandler reads a resource that a template stands for; vars are the
// template's variables as they occur in uri. What RFC 3986 does not allow in a URI,
// but some clients send, has been percent-encoded. See ResourceHandler for the
// result.
type TemplateHandler[Vars any] func(ctx context.Context, call *Call, uri string, vars Vars) (*mcp.ReadResourceResult, error)

// template is a plan.
type template struct {
	template mcp.ResourceTemplate
	vars     []string
	// match returns how to read uri, or nil if the template does not fit it.
	match func(uri string) func(ctx context.Context, call *Call) (*mcp.ReadResourceResult, error)
}

func (t *template) key() string                 { return t.template.URITemplate }
func (t *template) desc() *mcp.ResourceTemplate { return &t.template }

// AddTemplate adds a family of resources by an RFC 6570 template, or replaces
// the one with the same template, which keeps its place. Templates are tried in
// the order of registration, after the resources themselves.
//
// Vars is a map[string]string, or a struct with a field for each variable that
// matters: of type string, integer, float, bool, []string (for lists such as
// {/path*}), any encoding.TextUnmarshaler, or a pointer to one. The variable's
// name is in a uri tag or a json tag, or else is the field's own name. Values
// are percent-decoded. A URI with a value that does not convert does not match
// the template; a variable that is absent leaves its field unchanged.
//
// {name} does not match a slash as such, but an encoded one ("%2F") decodes to
// one, and {+name} matches both: a handler that opens files must use os.Root,
// fs.ValidPath or the like.
//
// It panics when the template, a field of Vars, the MIME type, an icon, an
// annotation or a key of t.Meta is not valid, the name is empty, or h is nil.
//
// Spec: 2026-07-28 server/resources#resource-templates.
func AddTemplate[Vars any](s *Server, t mcp.ResourceTemplate, h TemplateHandler[Vars]) {
	must(TryAddTemplate(s, t, h))
}

// TryAddTemplate is AddTemplate for templates that are made at run time: it
// returns an error instead of panicking.
func TryAddTemplate[Vars any](s *Server, t mcp.ResourceTemplate, h TemplateHandler[Vars]) error {
	if t.Name == "" {
		return fmt.Errorf("template %q has no name", t.URITemplate)
	}
	if h == nil {
		return errNoHandler("template", t.URITemplate)
	}
	if err := s.rules.Described(t.MIMEType, t.Icons, t.Annotations, t.Meta); err != nil {
		return fmt.Errorf("template %q: %w", t.URITemplate, err)
	}
	if err := checkApp(t.URITemplate, t.MIMEType, t.Meta); err != nil {
		return fmt.Errorf("template %q: %w", t.URITemplate, err)
	}
	m, err := newMatcher(t.URITemplate)
	if err != nil {
		return fmt.Errorf("template %q: %w", t.URITemplate, err)
	}
	bind, err := varsBinder(reflect.TypeFor[Vars](), m.names())
	if err != nil {
		return fmt.Errorf("template %q: %w", t.URITemplate, err)
	}
	plan := &template{template: t, vars: m.names()}
	plan.match = func(uri string) func(context.Context, *Call) (*mcp.ReadResourceResult, error) {
		found, ok := m.match(uri)
		var vars Vars
		if !ok || bind(reflect.ValueOf(&vars).Elem(), found) != nil {
			return nil
		}
		return func(ctx context.Context, call *Call) (*mcp.ReadResourceResult, error) {
			return h(ctx, call, content.Encode(uri), vars)
		}
	}
	changed := s.templates.put(plan)
	s.apps.noteResource(t.URITemplate)
	if changed {
		s.hub.Publish(mcp.Change{Kind: mcp.ResourcesChanged})
	}
	return nil
}

// RemoveTemplates removes templates, with their completions, by URI template;
// those that do not exist are ignored.
func (s *Server) RemoveTemplates(uriTemplates ...string) {
	if s.templates.remove(uriTemplates...) {
		s.removeCompleters(mcp.RefResource, uriTemplates)
		s.hub.Publish(mcp.Change{Kind: mcp.ResourcesChanged})
	}
}

// Spec: 2026-07-28 server/resources#resource-templates.
func (s *Server) listTemplates(ctx context.Context, x *mcp.Exchange) (any, error) {
	p, err := page(ctx, s, &s.templates, mcp.TemplateFeature, x)
	if err != nil {
		return nil, err
	}
	return p.with(&mcp.ListResourceTemplatesResult{CacheFields: s.cacheFields(x.Method), ResourceTemplates: p.list, NextCursor: p.next}), nil
}

// binder puts the variables of a URI into a value.
type binder func(v reflect.Value, found map[string]value) error

// varsBinder prepares the fields of t once.
func varsBinder(t reflect.Type, names []string) (binder, error) {
	if t == reflect.TypeFor[map[string]string]() {
		return bindMap, nil
	}
	fields, err := textFields(t, "uri", "json")
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		if !slices.Contains(names, f.name) {
			return nil, fmt.Errorf("%s has a field for %q, but the variables are %s", t, f.name, quoteAll(names))
		}
	}
	return func(v reflect.Value, found map[string]value) error { return bindFields(v, fields, found) }, nil
}

func bindMap(v reflect.Value, found map[string]value) error {
	vars := make(map[string]string, len(found))
	for name, value := range found {
		vars[name] = value.text()
	}
	v.Set(reflect.ValueOf(vars))
	return nil
}

func bindFields(v reflect.Value, fields []textField, found map[string]value) error {
	for i := range fields {
		f := &fields[i]
		value, ok := found[f.name]
		if !ok && f.fallback != nil {
			value, ok = textValue(*f.fallback), true
		}
		if !ok {
			continue
		}
		if f.list {
			v.Field(f.index).Set(reflect.ValueOf(value.list()))
			continue
		}
		if err := f.put(v.Field(f.index), value.text()); err != nil {
			return err
		}
	}
	return nil
}
