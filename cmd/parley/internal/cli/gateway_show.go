package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/profile"
	"github.com/parley-mcp/parley/internal/wire"
)

// shownBackend is a server behind a gateway, as --output json shows it.
type shownBackend struct {
	Name     string   `json:"name"`
	Original string   `json:"original,omitzero"`
	Server   string   `json:"server"`
	Shows    []string `json:"shows"`
}

// shownView is a view of a gateway, as --output json shows it.
type shownView struct {
	Name       string   `json:"name"`
	Path       string   `json:"path"`
	Backends   []string `json:"backends"`
	Principals []string `json:"principals,omitzero"`
	Shows      []string `json:"shows,omitzero"`
}

func (a *app) validJSON(c *config.Config) error {
	doc := struct {
		OK       bool             `json:"ok"`
		File     string           `json:"file"`
		Problems []gatewayProblem `json:"problems"`
		Clients  string           `json:"clients"`
		Guards   []string         `json:"guards,omitzero"`
		Profiles []string         `json:"profiles,omitzero"`
		Backends []shownBackend   `json:"backends"`
		Views    []shownView      `json:"views"`
	}{true, c.Path, gatewayProblems(c.Warnings, true), clientsOf(c), c.GuardKeys(), profilesOf(c), []shownBackend{}, []shownView{}}
	for _, b := range c.Backends {
		doc.Backends = append(doc.Backends, backendOf(b))
	}
	for _, v := range c.Views {
		doc.Views = append(doc.Views, viewOf(c, v))
	}
	raw, err := wire.Marshal(doc)
	a.out.json(raw)
	return err
}

// showConfig says what a configuration means.
func (a *app) showConfig(c *config.Config) {
	a.out.printf("%s  %s\n", a.out.bold("clients"), clientsOf(c))
	if guards := c.GuardKeys(); len(guards) > 0 {
		a.out.printf("%s  %s\n", a.out.bold("guards"), strings.Join(guards, ", "))
	}
	if profiles := profilesOf(c); len(profiles) > 0 {
		a.out.printf("%s  %s\n", a.out.bold("profiles"), label(strings.Join(profiles, ", "), 500))
	}
	for _, b := range c.Backends {
		s := backendOf(b)
		original := when(s.Original != "", fmt.Sprintf("  [%q in the file]", label(s.Original, 100)))
		a.out.printf("%s  %s%s\n", a.out.bold(s.Name), label(s.Server, 500), a.out.dim(original))
		for _, line := range s.Shows {
			a.out.printf("    %s\n", a.out.dim(label(line, 500)))
		}
	}
	for _, v := range c.Views {
		s := viewOf(c, v)
		a.out.printf("%s  %s\n", a.out.bold("view "+s.Path), label(strings.Join(s.Backends, ", "), 500))
		if len(s.Principals) > 0 {
			a.out.printf("    %s\n", a.out.dim(label("only for "+strings.Join(s.Principals, ", "), 500)))
		}
		for _, line := range s.Shows {
			a.out.printf("    %s\n", a.out.dim(label(line, 500)))
		}
	}
}

// profilesOf says which clients see tools in the form of a profile.
func profilesOf(c *config.Config) (lines []string) {
	for _, p := range c.Profiles.Clients {
		lines = append(lines, p.Pattern+": "+p.Profile)
	}
	if d := c.Profiles.Default; d != "" && d != profile.None {
		lines = append(lines, string(d))
	}
	return lines
}

// clientsOf says who may use the gateway.
func clientsOf(c *config.Config) string {
	who := "everybody on this machine"
	switch {
	case c.Auth.Issuer != nil:
		who = "who has a token of " + c.Auth.Issuer.URL
	case !c.Auth.Bearer.IsZero():
		who = "who has the bearer token"
	case c.Auth.None:
		who = "everybody who reaches the address"
	}
	if c.Listen.HTTP == "" {
		return "who starts the gateway; with --http, " + who
	}
	return fmt.Sprintf("over HTTP at %s, %s", c.Listen.HTTP, who)
}

func backendOf(b *config.Backend) shownBackend {
	rules := b.Rules()
	s := shownBackend{Name: b.Name, Original: b.Original, Server: b.String(), Shows: []string{}}
	if how := b.LogsIn(); how != "" {
		s.Shows = append(s.Shows, "login: "+how)
	}
	s.Shows = append(s.Shows, selected("tools", &rules.Tools, rules.RenameTools)...)
	s.Shows = append(s.Shows, selected("prompts", &rules.Prompts, rules.RenamePrompts)...)
	s.Shows = append(s.Shows, selected("resources", &rules.Resources, nil)...)
	s.Shows = append(s.Shows, replaced("tool", rules.OverrideTools)...)
	s.Shows = append(s.Shows, replaced("prompt", rules.OverridePrompts)...)
	s.Shows = append(s.Shows, replaced("resource", rules.OverrideResources)...)
	return s
}

// replaced says of which features of a kind the configuration replaces what they say of
// themselves.
func replaced(kind string, overrides map[string]naming.Override) (lines []string) {
	for _, own := range slices.Sorted(maps.Keys(overrides)) {
		lines = append(lines, fmt.Sprintf("%s %s: what it says of itself is replaced", kind, own))
	}
	return lines
}

func viewOf(c *config.Config, v *config.View) shownView {
	s := shownView{Name: v.Name, Path: c.Listen.ViewPath(v.Name), Backends: v.Backends, Principals: v.Principals}
	if s.Backends == nil {
		for _, b := range c.Backends {
			s.Backends = append(s.Backends, b.Name)
		}
	}
	for _, kind := range []struct {
		name string
		of   *naming.Selection
	}{{"tools", &v.Tools}, {"prompts", &v.Prompts}, {"resources", &v.Resources}} {
		s.Shows = append(s.Shows, selected(kind.name, kind.of, nil)...)
	}
	if v.Profile() != "" {
		s.Shows = append(s.Shows, "tools: in the form of the profile "+string(v.Profile()))
	}
	if v.Search {
		s.Shows = append(s.Shows, "tools: three that find, describe and call the others")
	}
	return s
}

// selected says which features of a kind there are, if not all as they are.
func selected(kind string, s *naming.Selection, renamed map[string]string) (lines []string) {
	if s.Include != nil || s.Exclude != nil {
		line := kind + ": " + cmp.Or(strings.Join(s.Include, ", "), map[bool]string{true: "all", false: "none"}[s.Include == nil])
		if len(s.Exclude) > 0 {
			line += ", but not " + strings.Join(s.Exclude, ", ")
		}
		lines = append(lines, line)
	}
	for _, own := range slices.Sorted(maps.Keys(renamed)) {
		lines = append(lines, fmt.Sprintf("%s: %s is called %s", kind, own, renamed[own]))
	}
	return lines
}
