package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/internal/yamljson"
)

// Changes are what is different in a new configuration.
type Changes struct {
	// Start are the names of the backends that are new, Stop of those that are gone,
	// and Restart of those that are reached in another way, or live otherwise.
	Start, Stop, Restart []string
	// Show are the names of the backends that go on, but of which clients see something
	// else.
	Show []string
	// Views are the names of the views that are new, gone or others.
	Views []string
	// Guards are the keys of the guards that are new, gone or others.
	Guards []string
	// Settings are the keys of what holds for the whole, such as times, that are others.
	Settings []string
	// Front are the keys of what clients meet first, which stays as it is until the
	// gateway is started again.
	Front []string
}

// IsEmpty reports whether nothing is different.
func (c *Changes) IsEmpty() bool {
	return reflect.DeepEqual(*c, Changes{})
}

// String says what is different.
func (c *Changes) String() string {
	var parts []string
	for _, p := range []struct {
		what  string
		names []string
	}{{"start", c.Start}, {"stop", c.Stop}, {"restart", c.Restart}, {"show otherwise", c.Show}, {"views", c.Views}, {"guards", c.Guards}, {"settings", c.Settings}, {"not before a restart of the gateway", c.Front}} {
		if len(p.names) > 0 {
			parts = append(parts, p.what+": "+strings.Join(p.names, ", "))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// Difference says what becomes of a gateway that has read old when it reads next. What
// secrets were when the files were read counts; the order of keys does not.
func Difference(old, next *Config) Changes {
	var c Changes
	for _, b := range next.Backends {
		switch had := old.Backend(b.Name); {
		case had == nil:
			c.Start = append(c.Start, b.Name)
		case had.same != b.same:
			c.Restart = append(c.Restart, b.Name)
		case !reflect.DeepEqual(had.Rules(), b.Rules()):
			c.Show = append(c.Show, b.Name)
		}
	}
	for _, b := range old.Backends {
		if next.Backend(b.Name) == nil {
			c.Stop = append(c.Stop, b.Name)
		}
	}
	for _, v := range next.Views {
		if !reflect.DeepEqual(old.View(v.Name), v) {
			c.Views = append(c.Views, v.Name)
		}
	}
	for _, v := range old.Views {
		if next.View(v.Name) == nil {
			c.Views = append(c.Views, v.Name)
		}
	}
	c.Guards = differentGuards(old, next)
	for name, differs := range map[string]bool{"list_timeout": old.ListTimeout != next.ListTimeout, "page_size": old.PageSize != next.PageSize, "read_cache": old.ReadCache != next.ReadCache, "profiles": !reflect.DeepEqual(old.Profiles, next.Profiles)} {
		if differs {
			c.Settings = append(c.Settings, name)
		}
	}
	place, who := sameConsole(old.Console, next.Console)
	if !who {
		c.Settings = append(c.Settings, "console")
	}
	slices.Sort(c.Settings)
	if c.Front = differentFront(old, next); !place {
		c.Front = append(c.Front, "console")
	}
	return c
}

func differentGuards(old, next *Config) (keys []string) {
	for _, k := range new(Guards).keys() {
		if old.guarded[k.name] != next.guarded[k.name] {
			keys = append(keys, k.name)
		}
	}
	if old.Logins.identity() != next.Logins.identity() {
		keys = append(keys, "logins")
	}
	return keys
}

// GuardKeys are the keys of the guards that the file speaks of.
func (c *Config) GuardKeys() []string { return slices.Sorted(maps.Keys(c.guarded)) }

// rememberGuards identifies what a file says of guards.
func (c *Config) rememberGuards(top *yaml.Node) {
	guards := names(new(Guards).keys())
	c.guarded = map[string]string{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		name := origin(top.Content[i]).Value
		if !slices.Contains(guards, name) {
			continue
		}
		said, err := yamljson.Render(top.Content[i+1], 0)
		if err == nil {
			said, err = wire.Canonical(said)
		}
		c.guarded[name] = digest(string(said), fmt.Sprint(err))
	}
	if c.Policy != nil {
		sources, err := c.Policy.Sources()
		c.guarded["policy"] = digest(c.guarded["policy"], sources, fmt.Sprint(err))
	}
}

func differentFront(old, next *Config) (keys []string) {
	if !reflect.DeepEqual(old.Listen, next.Listen) {
		keys = append(keys, "listen")
	}
	if old.Auth.None != next.Auth.None || old.Auth.same != next.Auth.same || old.Auth.Issuer.identity() != next.Auth.Issuer.identity() {
		keys = append(keys, "auth")
	}
	if old.Telemetry.identity() != next.Telemetry.identity() {
		keys = append(keys, "telemetry")
	}
	return keys
}
