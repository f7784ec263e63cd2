package config

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/toolname"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/internal/yamljson"
)

// draft is a server of another file.
type draft struct {
	*target.Draft

	name, original string
	tools          naming.Selection
}

// drafts reads the servers of another program's file.
func (e *Example) drafts(from string, env target.Environment) ([]draft, error) {
	f, err := target.Read(from, env.Folder)
	if err != nil {
		return nil, err
	}
	var drafts []draft
	taken := map[string]string{}
	for _, entry := range f.Entries {
		d, err := entry.Draft(env, asReference)
		name := toolname.ServerFor(entry.Name)
		other, clash := taken[name]
		switch {
		case entry.Disabled:
			e.Left = append(e.Left, entry.Mistakef("it is disabled"))
			continue
		case err != nil:
			e.Left = append(e.Left, all(err)...)
			continue
		case clash:
			e.Left = append(e.Left, entry.Mistakef("%q is called %s already: give one of them another name", other, name))
			continue
		}
		taken[name] = entry.Name
		drafts = append(drafts, draft{d, name, entry.Name, toolsOf(entry)})
		for _, beyond := range entry.Beyond {
			e.Left = append(e.Left, beyond)
		}
		for _, s := range append(d.Env[:len(d.Env):len(d.Env)], d.Headers...) {
			if s.Literal {
				e.Secrets = append(e.Secrets, name+"."+s.Name)
			}
		}
	}
	return drafts, nil
}

// asReference writes a reference to a variable.
func asReference(name, preset string, hasPreset bool) (string, error) {
	switch {
	case !variableName.MatchString(name):
		return "", fmt.Errorf("${%s} does not name a variable", name)
	case hasPreset:
		return "${env:" + name + ":-" + preset + "}", nil
	}
	return "${env:" + name + "}", nil
}

// draft writes a server that is in effect.
func (p *printer) draft(d *draft) {
	comment := ""
	if d.name != d.original {
		comment = " # " + scalar(d.original)
	}
	p.line("  " + d.name + ":" + comment)
	one := func(name, text string) {
		if text != "" {
			p.line("    " + name + ": " + scalar(text))
		}
	}
	if d.Command != nil {
		p.line("    command: " + flow(d.Command))
	}
	one("url", d.URL)
	for _, settings := range []struct {
		name string
		list []target.DraftSetting
	}{{"env", d.Env}, {"headers", d.Headers}} {
		if len(settings.list) > 0 {
			p.line("    " + settings.name + ":")
		}
		for _, s := range settings.list {
			p.line("      " + scalar(s.Name) + ": " + scalar(s.Value))
		}
	}
	one("env_file", d.EnvFile)
	one("cwd", d.Dir)
	one("revision", d.Revision)
	p.selection("tools", &d.tools)
}

// selection writes which features of a kind there are.
func (p *printer) selection(kind string, s *naming.Selection) {
	if s.Include == nil && s.Exclude == nil {
		return
	}
	p.line("    " + kind + ":")
	for _, list := range []struct {
		name  string
		names []string
	}{{"include", s.Include}, {"exclude", s.Exclude}} {
		if list.names != nil {
			p.line("      " + list.name + ": " + flow(list.names))
		}
	}
}

// flow writes a list on one line.
func flow(texts []string) string {
	words := make([]string, 0, len(texts))
	for _, text := range texts {
		words = append(words, scalar(text))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// oldBoolean is what YAML 1.1 takes for a boolean, and some editors still do.
var oldBoolean = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off)$`)

// scalar writes a text, with quotes if it would not be that text without them.
func scalar(text string) string {
	n, err := yamljson.Parse([]byte("[" + text + "]"))
	if err == nil && !oldBoolean.MatchString(text) && n.Kind == yaml.SequenceNode && len(n.Content) == 1 {
		if one := n.Content[0]; one.Kind == yaml.ScalarNode && one.ShortTag() == "!!str" && one.Value == text && one.Style == 0 && one.Anchor == "" {
			return text
		}
	}
	return string(wire.AppendText(nil, text))
}
