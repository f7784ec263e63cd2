package config

import (
	"errors"
	"maps"
	"slices"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
)

// checkNames reports names that backends give and that clash with others.
func (c *Config) checkNames(r *reader) {
	var rules []naming.Rules
	for _, b := range c.Backends {
		if backendName.check(b.Name) { // another one was reported
			one := b.Rules()
			maps.DeleteFunc(one.RenameTools, unread)
			maps.DeleteFunc(one.RenamePrompts, unread)
			rules = append(rules, one)
		}
	}
	for {
		_, err := naming.New(rules)
		clash, ok := errors.AsType[*naming.RenameError](err)
		if !ok {
			return
		}
		b := c.Backend(clash.Backend)
		list, given := b.renameTools, func(rules *naming.Rules) map[string]string { return rules.RenameTools }
		if clash.Prompt {
			list, given = b.renamePrompts, func(rules *naming.Rules) map[string]string { return rules.RenamePrompts }
		}
		for _, n := range list {
			if n.own == clash.Own {
				e := *n.at
				e.Err = clash.Err
				r.mistakes = append(r.mistakes, &e)
			}
		}
		i := slices.IndexFunc(rules, func(rules naming.Rules) bool { return rules.Backend == clash.Backend })
		delete(given(&rules[i]), clash.Own) // to find the next
	}
}

// unread are new names that do not fit, which was reported.
func unread(_, shown string) bool { return shown == "" }
