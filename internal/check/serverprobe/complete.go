package serverprobe

import (
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/parley-mcp/parley/internal/check/sample"
	"github.com/parley-mcp/parley/mcp"
)

// Kinds of references, and how many the survey completes.
const (
	refPrompt       = mcp.RefPrompt
	refTemplate     = mcp.RefResource
	mostCompletions = 20
)

// Completed is an argument with the values that the server suggested for it.
type Completed struct {
	Type, Of string // the type of the reference, and the name or template
	Argument string
	Values   []string
}

// values are what the server suggested for an argument.
func (o *Offer) values(kind, of, argument string) []string {
	for _, c := range o.Completed {
		if c.Type == kind && c.Of == of && c.Argument == argument {
			return c.Values
		}
	}
	return nil
}

// Completes reports whether the server may be asked for completions. The first
// revision has no capability for that.
func (x *X) Completes() bool { return !x.Facts.Completions || x.Offer.Has("completions") }

// complete asks for the values of the arguments of prompts and templates.
func (x *X) complete() {
	if !x.Completes() {
		return
	}
	for _, p := range x.Offer.Prompts {
		name, _ := p["name"].(string)
		for _, argument := range argumentsOf(p) {
			x.suggest(refPrompt, name, argument)
		}
	}
	for _, t := range x.Offer.Templates {
		text, _ := t["uriTemplate"].(string)
		for _, variable := range sample.Variables(text) {
			x.suggest(refTemplate, text, variable)
		}
	}
}

func (x *X) suggest(kind, of, argument string) {
	if len(x.Offer.Completed) >= mostCompletions {
		return
	}
	r := x.Call(mcp.MethodComplete, completion(kind, of, argument))
	if r.Response == nil || !r.Response.IsResult() {
		return
	}
	c := Completed{Type: kind, Of: of, Argument: argument}
	for _, v := range r.Response.List("result/completion/values") {
		if text, ok := v.(string); ok {
			c.Values = append(c.Values, text)
		}
	}
	x.Offer.Completed = append(x.Offer.Completed, c)
}

// completion are the params of completion/complete for an argument of which
// nothing is typed yet.
func completion(kind, of, argument string) map[string]any {
	ref := map[string]any{"type": kind, "name": of}
	if kind == refTemplate {
		ref = map[string]any{"type": kind, "uri": of}
	}
	return map[string]any{"ref": ref, "argument": map[string]any{"name": argument, "value": ""}}
}

// expansions are the URIs of templates for which the server suggests values, unless
// the user gives some.
func (x *X) expansions() []string {
	var all []string
	for _, t := range x.Offer.Templates[:min(mostResources, len(x.Offer.Templates))] {
		text, _ := t["uriTemplate"].(string)
		if len(x.examples().Templates[text]) > 0 {
			continue
		}
		if uri, ok := x.expand(text); ok {
			all = append(all, uri)
		}
	}
	return all
}

func (x *X) expand(text string) (string, bool) {
	t, err := uritemplate.New(text)
	if err != nil {
		return "", false
	}
	values := uritemplate.Values{}
	for _, name := range t.Varnames() {
		suggested := x.Offer.values(refTemplate, text, name)
		if len(suggested) == 0 {
			return "", false
		}
		values.Set(name, uritemplate.String(suggested[0]))
	}
	uri, err := t.Expand(values)
	return uri, err == nil && !strings.ContainsAny(uri, "{}")
}

// argumentsOf are the names of the arguments that a prompt declares.
func argumentsOf(prompt map[string]any) []string {
	list, _ := prompt["arguments"].([]any)
	var all []string
	for _, v := range list {
		argument, _ := v.(map[string]any)
		if name, ok := argument["name"].(string); ok {
			all = append(all, name)
		}
	}
	return all
}
