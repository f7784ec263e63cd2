package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/parley-mcp/parley/mcp"
)

// RawPromptHandler fills in a prompt. args has all required arguments and no
// unknown ones. Messages of the result may be nil. An error of a type that is
// not the protocol's is logged and answered with "internal error".
//
// Spec: 2026-07-28 server/prompts#getting-a-prompt.
type RawPromptHandler func(ctx context.Context, call *Call, args map[string]string) (*mcp.GetPromptResult, error)

// prompt is a plan.
type prompt struct {
	prompt mcp.Prompt
	get    RawPromptHandler
}

func (p *prompt) key() string       { return p.prompt.Name }
func (p *prompt) desc() *mcp.Prompt { return &p.prompt }

// AddRawPrompt adds a prompt with the arguments that p.Arguments describes, or
// replaces the one with its name, which keeps its place in the list. It panics
// when the name is empty, an argument's name is empty or used twice, an icon or
// a key of p.Meta is not valid, or h is nil. What p points to must not be changed afterwards.
//
// Spec: 2026-07-28 server/prompts#prompt.
func (s *Server) AddRawPrompt(p mcp.Prompt, h RawPromptHandler) { must(s.TryAddRawPrompt(p, h)) }

// TryAddRawPrompt is AddRawPrompt for prompts that are made at run time: it
// returns an error instead of panicking.
func (s *Server) TryAddRawPrompt(p mcp.Prompt, h RawPromptHandler) error {
	return s.addPrompt(&prompt{p, h}, h == nil, nil)
}

// AddPrompt adds a prompt with typed arguments, or replaces the one with its
// name, which keeps its place in the list.
//
// Args is a struct. Each exported field is an argument: its name is in the
// json tag, a title and a description in tags of these names. It is required
// unless it is a pointer, is tagged omitempty or omitzero, or has a default
// tag. Fields are strings, integers, floats, bools or any
// encoding.TextUnmarshaler; an enum tag (`enum:"red,green"`) limits the values
// and makes the argument complete by itself, as bools do. A text that does not
// convert is answered as invalid params.
//
// It panics when Args does not qualify, p.Arguments is not nil, the name is
// empty, an icon or a key of p.Meta is not valid, or h is nil.
//
// Spec: 2026-07-28 server/prompts#prompt.
func AddPrompt[Args any](s *Server, p mcp.Prompt, h func(ctx context.Context, call *Call, args Args) (*mcp.GetPromptResult, error)) {
	must(TryAddPrompt(s, p, h))
}

// TryAddPrompt is AddPrompt for prompts that are made at run time: it returns
// an error instead of panicking.
func TryAddPrompt[Args any](s *Server, p mcp.Prompt, h func(ctx context.Context, call *Call, args Args) (*mcp.GetPromptResult, error)) error {
	if p.Arguments != nil {
		return fmt.Errorf("prompt %q: the arguments are inferred, but Arguments is set", p.Name)
	}
	fields, err := promptFields(reflect.TypeFor[Args]())
	if err != nil {
		return fmt.Errorf("prompt %q: %w", p.Name, err)
	}
	choices := map[string][]string{}
	for _, f := range fields {
		p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: f.name, Title: f.title, Description: f.description, Required: !f.optional})
		if f.choices != nil {
			choices[f.name] = f.choices
		}
	}
	get := func(ctx context.Context, call *Call, texts map[string]string) (*mcp.GetPromptResult, error) {
		var args Args
		if err := bindArgs(reflect.ValueOf(&args).Elem(), fields, p.Name, texts); err != nil {
			return nil, err
		}
		return h(ctx, call, args)
	}
	return s.addPrompt(&prompt{p, get}, h == nil, choices)
}

func promptFields(t reflect.Type) ([]textField, error) {
	fields, err := textFields(t, "json")
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		if f.list {
			return nil, fmt.Errorf("argument %q: prompts have no list arguments", f.name)
		}
	}
	return fields, nil
}

func bindArgs(v reflect.Value, fields []textField, name string, texts map[string]string) error {
	for i := range fields {
		f := &fields[i]
		text, ok := texts[f.name]
		if !ok && f.fallback != nil {
			text, ok = *f.fallback, true
		}
		if !ok {
			continue
		}
		if err := f.put(v.Field(f.index), text); err != nil {
			return mcp.InvalidParams("argument %q of prompt %q: %v", f.name, name, err)
		}
	}
	return nil
}

func (s *Server) addPrompt(p *prompt, noHandler bool, choices map[string][]string) error {
	if p.prompt.Name == "" {
		return errors.New("prompt without a name")
	}
	if noHandler {
		return errNoHandler("prompt", p.prompt.Name)
	}
	if err := s.rules.Described("", p.prompt.Icons, nil, p.prompt.Meta); err != nil {
		return fmt.Errorf("prompt %q: %w", p.prompt.Name, err)
	}
	seen := map[string]bool{}
	for _, a := range p.prompt.Arguments {
		if a == nil || a.Name == "" || seen[a.Name] {
			return fmt.Errorf("prompt %q: arguments need names, each a different one", p.prompt.Name)
		}
		seen[a.Name] = true
	}
	var before []string
	if old, ok := s.prompts.get(p.prompt.Name); ok {
		before = old.argumentNames()
	}
	changed := s.prompts.put(p)
	s.completeChoices(p.prompt.Name, before, choices)
	if changed {
		s.hub.Publish(mcp.Change{Kind: mcp.PromptsChanged})
	}
	return nil
}

// RemovePrompts removes prompts, with their completions, by name; those that
// do not exist are ignored.
//
// Spec: 2026-07-28 server/prompts#list-changed-notification.
func (s *Server) RemovePrompts(names ...string) {
	if s.prompts.remove(names...) {
		s.removeCompleters(mcp.RefPrompt, names)
		s.hub.Publish(mcp.Change{Kind: mcp.PromptsChanged})
	}
}

// Spec: 2026-07-28 server/prompts#listing-prompts.
func (s *Server) listPrompts(ctx context.Context, x *mcp.Exchange) (any, error) {
	p, err := page(ctx, s, &s.prompts, mcp.PromptFeature, x)
	if err != nil {
		return nil, err
	}
	return p.with(&mcp.ListPromptsResult{CacheFields: s.cacheFields(x.Method), Prompts: p.list, NextCursor: p.next}), nil
}

// getPrompt answers prompts/get.
func (s *Server) getPrompt(ctx context.Context, x *mcp.Exchange) (any, error) {
	var params mcp.GetPromptParams
	if err := decodeParams(x, &params); err != nil {
		return nil, err
	}
	if params.Name == "" {
		return nil, mcp.InvalidParams(`params of %s must have "name"`, x.Method)
	}
	p, ok := s.prompts.get(params.Name)
	if !ok || !s.visible(ctx, x, mcp.PromptFeature, params.Name) {
		return nil, mcp.InvalidParams("unknown prompt: %q", shorten(params.Name))
	}
	if err := p.check(params.Arguments); err != nil {
		return nil, err
	}
	call := s.newCall(x)
	defer call.finish(ctx)
	result, err := p.get(ctx, call, params.Arguments)
	if err != nil {
		return nil, err
	}
	return s.completePrompt(ctx, call, params.Name, result)
}

// check compares the arguments given with those declared.
//
// Spec: 2026-07-28 server/prompts#error-handling.
func (p *prompt) check(args map[string]string) error {
	known := 0
	for _, a := range p.prompt.Arguments {
		if _, ok := args[a.Name]; ok {
			known++
		} else if a.Required {
			return mcp.InvalidParams("prompt %q: missing required argument %q", p.prompt.Name, a.Name)
		}
	}
	if known == len(args) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(p.argumentNames(), name) {
			return mcp.InvalidParams("prompt %q: unknown argument %q; known are: %s", p.prompt.Name, shorten(name), quoteAll(p.argumentNames()))
		}
	}
	return nil
}

func (p *prompt) argumentNames() []string {
	names := make([]string, len(p.prompt.Arguments))
	for i, a := range p.prompt.Arguments {
		names[i] = a.Name
	}
	return names
}

// completePrompt checks and fills in a result. It may be shared, so it is
// copied before it is changed.
func (s *Server) completePrompt(ctx context.Context, call *Call, name string, result *mcp.GetPromptResult) (any, error) {
	if result == nil {
		return nil, fmt.Errorf("prompt %q: no result", name)
	}
	if err := s.checkMeta(result.Meta); err != nil {
		return nil, fmt.Errorf("prompt %q: %w", name, err)
	}
	full := *result
	for i, m := range result.Messages {
		if m == nil || m.Content == nil || m.Role != mcp.RoleUser && m.Role != mcp.RoleAssistant {
			return nil, fmt.Errorf("prompt %q: messages[%d] lacks a role or content", name, i)
		}
		if err := s.checkBlock(ctx, "prompt", name, m.Content); err != nil {
			return nil, fmt.Errorf("prompt %q: messages[%d]: content: %w", name, i, err)
		}
		if e, ok := m.Content.(*mcp.EmbeddedResource); ok && e.Resource.MIMEType == "" {
			full.Messages = withMIMEType(full.Messages, i, e)
		}
	}
	if full.Messages == nil {
		full.Messages = []*mcp.PromptMessage{}
	}
	_, meta := call.added()
	full.Meta = mergeMeta(result.Meta.WithoutReserved(), meta)
	return &full, nil
}

// withMIMEType says of the resource in a message what is true of any: that it is
// text, or bytes.
//
// Spec: 2026-07-28 server/prompts#embedded-resources.
func withMIMEType(messages []*mcp.PromptMessage, i int, e *mcp.EmbeddedResource) []*mcp.PromptMessage {
	block, resource := *e, *e.Resource
	resource.MIMEType = "text/plain"
	if resource.Text == nil {
		resource.MIMEType = "application/octet-stream"
	}
	block.Resource = &resource
	message := *messages[i]
	message.Content = &block
	messages = slices.Clone(messages)
	messages[i] = &message
	return messages
}
