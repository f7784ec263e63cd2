package config

import (
	"reflect"
	"strings"
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
	}{{"start", c.Start}, {"stop", c.Stop}, {"restart", c.Restart}, {"show otherwise", c.Show}, {"views", c.Views}, {"not before a restart of the gateway", c.Front}} {
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
	c.Front = differentFront(old, next)
	return c
}

func differentFront(old, next *Config) (keys []string) {
	if !reflect.DeepEqual(old.Listen, next.Listen) {
		keys = append(keys, "listen")
	}
	if old.Auth.None != next.Auth.None || old.Auth.same != next.Auth.same || !reflect.DeepEqual(old.Auth.Issuer, next.Auth.Issuer) {
		keys = append(keys, "auth")
	}
	return keys
}
