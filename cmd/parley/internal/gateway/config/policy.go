package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// Policy says who may do what.
type Policy struct {
	AllowByDefault, DryRun bool

	files []Text
	rules Text
	at    func(line, column int) (int, int) // where a place in rules is in the file; 0 is unknown
}

func (p *Policy) keys() []key {
	return []key{
		{
			name: "files", value: list[Text]{&p.files, func(into *Text) value { return secret{into, notEmpty} }, 1}, example: "[policy.cedar]",
			doc: "Files of policies. Relative ones start at the folder of this file.",
		},
		{
			name: "rules", value: inline{secret{&p.rules, anything}, p}, example: `'permit(principal, action, resource) when { resource has readOnly && resource.readOnly };'`,
			doc: "Policies that stand here.",
		},
		{
			name: "default", value: choice[bool]{&p.AllowByDefault, []option[bool]{{"deny", false}, {"allow", true}}},
			doc: "What holds where no policy says anything.",
		},
		{
			name: "dry_run", value: boolean{&p.DryRun},
			doc: "Only log what would be denied, and deny nothing.",
		},
	}
}

// Sources are the policies, as they are at this moment.
func (p *Policy) Sources() ([]policy.Source, error) {
	var sources []policy.Source
	for _, file := range p.files {
		s, err := sourceOf(file)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	if !p.rules.IsZero() {
		sources = append(sources, p.inline())
	}
	return sources, nil
}

// inline are the policies that stand in the configuration itself.
func (p *Policy) inline() policy.Source {
	return policy.Source{Name: p.rules.in().at.File + " (policy.rules)", Text: p.rules.raw()}
}

// sourceOf reads a file of policies.
func sourceOf(file Text) (s policy.Source, err error) {
	if s.Name, err = file.Path(); err != nil {
		return s, err
	}
	text, err := os.ReadFile(s.Name)
	if err != nil {
		return s, file.fault(fmt.Errorf("the policies cannot be read: %w", bare(err)))
	}
	s.Text = string(text)
	return s, nil
}

// paths are those of the files.
func (p *Policy) paths() (paths []string) {
	if p == nil {
		return nil
	}
	for _, file := range p.files {
		if path, err := file.Path(); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// check reads the policies, to find all mistakes in them early.
func (p *Policy) check() (mistakes Mistakes) {
	if p == nil {
		return nil
	}
	last, all := p.rules, []policy.Source{}
	for _, file := range p.files {
		if file.IsZero() { // it was reported
			continue
		}
		s, err := sourceOf(file)
		if err == nil {
			_, err = policy.New([]policy.Source{s}, policy.Options{})
		}
		mistakes = p.add(mistakes, file, err)
		last, all = file, append(all, s)
	}
	if !p.rules.IsZero() {
		_, err := policy.New([]policy.Source{p.inline()}, policy.Options{})
		mistakes = p.add(mistakes, p.rules, err)
		last, all = p.rules, append(all, p.inline())
	}
	if len(mistakes) == 0 {
		_, err := policy.New(all, policy.Options{}) // each alone is right
		mistakes = p.add(mistakes, last, err)
	}
	return mistakes
}

// add adds what is wrong with policies that a text names, or has.
func (p *Policy) add(mistakes Mistakes, of Text, err error) Mistakes {
	if err == nil {
		return mistakes
	}
	if one, ok := errors.AsType[*target.Error](err); ok {
		return append(mistakes, one)
	}
	e := of.fault(err)
	if m, ok := errors.AsType[*policy.Mistake](err); ok && !p.rules.IsZero() && m.Source == p.inline().Name {
		if line, column := p.at(m.Line, m.Column); line > 0 {
			e.Line, e.Column, e.Err = line, column, m.Err
		}
	}
	return append(mistakes, e)
}

// inline are policies that stand in the configuration itself.
type inline struct {
	secret

	p *Policy
}

func (v inline) read(r *reader, n *yaml.Node, at where) {
	v.secret.read(r, n, at)
	text := strings.Split(n.Value, "\n")
	v.p.at = func(line, column int) (int, int) {
		if line > len(text) {
			return 0, 0
		}
		return r.within(n, line-1, text[line-1], column)
	}
}
