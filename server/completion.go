package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Completer finds values for an argument, best first. More than
// mcp.MaxCompletions are cut off, and the client is told so. It must not show
// what the client of call may not see.
//
// Spec: 2026-07-28 server/utilities/completion#completion-results.
type Completer func(ctx context.Context, call *Call, c Completing) (mcp.Completion, error)

// Completing is what is to be completed.
type Completing struct {
	// Argument is the name of the prompt's argument or template's variable.
	Argument string
	// Prefix is what was typed so far.
	Prefix string
	// Context holds the arguments that are already known; it may be nil.
	Context map[string]string
}

// CompleteFrom returns a Completer that chooses among fixed values: those that
// start with the prefix, then those that contain it, then those that contain its
// characters in the same order with others in between; without regard to case
// and otherwise in the order given.
//
// Spec: 2026-07-28 server/utilities/completion#implementation-considerations (1).
func CompleteFrom(values ...string) Completer {
	values = slices.Clone(values)
	return func(_ context.Context, _ *Call, c Completing) (mcp.Completion, error) {
		found := rank(values, strings.ToLower(c.Prefix))
		return mcp.Completion{Values: found}, nil
	}
}

func rank(values []string, typed string) []string {
	var starting, containing, scattered []string
	for _, v := range values {
		switch lower := strings.ToLower(v); {
		case strings.HasPrefix(lower, typed):
			starting = append(starting, v)
		case strings.Contains(lower, typed):
			containing = append(containing, v)
		case scatters(lower, typed):
			scattered = append(scattered, v)
		}
	}
	return slices.Concat(starting, containing, scattered)
}

// scatters reports whether s contains the characters of typed in their order.
func scatters(s, typed string) bool {
	for _, r := range typed {
		_, rest, ok := strings.Cut(s, string(r))
		if !ok {
			return false
		}
		s = rest
	}
	return true
}

// completing names an argument of a prompt or template.
type completing struct{ refType, ref, argument string }

func (c completing) String() string { return c.refType + "\x00" + c.ref + "\x00" + c.argument }

// completer is a plan.
type completer struct {
	of       completing
	complete Completer
	auto     bool // from the choices of a typed prompt
}

func (c *completer) key() string       { return c.of.String() }
func (c *completer) desc() *completing { return &c.of }

// CompletePrompt sets how an argument of a prompt completes. It panics when
// there is no such prompt or argument, or c is nil.
//
// Spec: 2026-07-28 server/utilities/completion#requesting-completions.
func (s *Server) CompletePrompt(prompt, argument string, c Completer) {
	s.setCompleter(completing{mcp.RefPrompt, prompt, argument}, c)
}

// CompleteTemplate sets how a variable of a resource template completes. It
// panics when there is no such template or variable, or c is nil.
//
// Spec: 2026-07-28 server/utilities/completion#requesting-completions.
func (s *Server) CompleteTemplate(uriTemplate, variable string, c Completer) {
	s.setCompleter(completing{mcp.RefResource, uriTemplate, variable}, c)
}

func (s *Server) setCompleter(of completing, c Completer) {
	names, ok := s.argumentsOf(of.refType, of.ref)
	if !ok || !slices.Contains(names, of.argument) {
		must(fmt.Errorf("completion: %s %q has no argument %q", of.refType, of.ref, of.argument))
	}
	if c == nil {
		must(errNoHandler("completion of", of.argument))
	}
	s.completers.put(&completer{of: of, complete: c})
}

// completeChoices makes those arguments of a prompt complete automatically that
// have fixed choices, unless they have a completer already. before are the
// arguments of the prompt that it replaces.
func (s *Server) completeChoices(prompt string, before []string, choices map[string][]string) {
	for _, argument := range before {
		key := completing{mcp.RefPrompt, prompt, argument}.String()
		if old, ok := s.completers.get(key); ok && old.auto {
			s.completers.remove(key)
		}
	}
	for argument, values := range choices {
		c := &completer{completing{mcp.RefPrompt, prompt, argument}, CompleteFrom(values...), true}
		if _, ok := s.completers.get(c.key()); !ok {
			s.completers.put(c)
		}
	}
}

func (s *Server) removeCompleters(refType string, refs []string) {
	for _, c := range s.completers.load().plans {
		if c.of.refType == refType && slices.Contains(refs, c.of.ref) {
			s.completers.remove(c.key())
		}
	}
}

// argumentsOf returns the names of the arguments of a prompt or template. A
// resource counts as known, too; it has no arguments.
func (s *Server) argumentsOf(refType, ref string) (names []string, ok bool) {
	if refType == mcp.RefPrompt {
		p, ok := s.prompts.get(ref)
		if !ok {
			return nil, false
		}
		return p.argumentNames(), true
	}
	if t, ok := s.templates.get(ref); ok {
		return t.vars, true
	}
	_, ok = s.resources.get(ref)
	return nil, ok
}

// complete answers completion/complete.
//
// Spec: 2026-07-28 server/utilities/completion#error-handling.
// Spec: 2026-07-28 server/utilities/completion#implementation-considerations (1).
func (s *Server) complete(ctx context.Context, x *mcp.Exchange) (any, error) {
	if err := underRate(s.bounds.completions, x, "completion requests"); err != nil {
		return nil, err
	}
	var params mcp.CompleteParams
	if err := decodeParams(x, &params); err != nil {
		return nil, err
	}
	if params.Ref.Type == "" || params.Argument.Name == "" || !hasValue(x.Params) {
		return nil, mcp.InvalidParams(`params of %s must have "ref" with a type and "argument" with a name and a value`, x.Method)
	}
	of, err := s.findReference(ctx, x, &params)
	if err != nil {
		return nil, err
	}
	c, ok := s.completers.get(of.String())
	if !ok {
		return &mcp.CompleteResult{Completion: mcp.Completion{Values: []string{}}}, nil
	}
	what := Completing{Argument: params.Argument.Name, Prefix: params.Argument.Value}
	if params.Context != nil {
		what.Context = params.Context.Arguments
	}
	call := s.newCall(x)
	defer call.finish(ctx)
	found, err := c.complete(ctx, call, what)
	if err != nil {
		return nil, err
	}
	_, meta := call.added()
	return &mcp.CompleteResult{ResultFields: mcp.ResultFields{Meta: meta}, Completion: limit(found)}, nil
}

// hasValue reports whether the params of a request for completion say what was
// typed, be it nothing.
func hasValue(params []byte) bool {
	_, ok := wire.Text(wire.Find(wire.Find(params, "argument"), "value"))
	return ok
}

func (s *Server) findReference(ctx context.Context, x *mcp.Exchange, params *mcp.CompleteParams) (completing, error) {
	of := completing{params.Ref.Type, params.Ref.Name, params.Argument.Name}
	kind := mcp.PromptFeature
	switch params.Ref.Type {
	case mcp.RefPrompt:
	case mcp.RefResource:
		of.ref, kind = params.Ref.URI, mcp.TemplateFeature
		if _, ok := s.templates.get(of.ref); !ok {
			kind = mcp.ResourceFeature
		}
	default:
		return of, mcp.InvalidParams("unknown type of reference %q", shorten(params.Ref.Type))
	}
	names, ok := s.argumentsOf(of.refType, of.ref)
	if !ok || !s.visible(ctx, x, kind, of.ref) {
		return of, mcp.InvalidParams("unknown %s: %q", of.refType, shorten(of.ref))
	}
	if kind != mcp.ResourceFeature && !slices.Contains(names, of.argument) {
		return of, mcp.InvalidParams("%s %q: unknown argument %q; known are: %s", of.refType, of.ref, shorten(of.argument), quoteAll(names))
	}
	return of, nil
}

// limit cuts a completion to what one answer may hold.
//
// Spec: 2026-07-28 server/utilities/completion#completion-results.
func limit(c mcp.Completion) mcp.Completion {
	if c.Values == nil {
		c.Values = []string{}
	}
	if n := int64(len(c.Values)); n > mcp.MaxCompletions {
		if c.Total == nil {
			c.Total = &n
		}
		c.Values, c.HasMore = c.Values[:mcp.MaxCompletions:mcp.MaxCompletions], true
	}
	return c
}
