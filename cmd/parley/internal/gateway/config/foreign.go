package config

import (
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/toolname"
)

// readForeign reads another program's file. An entry that cannot be used costs only
// itself.
func readForeign(path string, env target.Environment) (*Config, error) {
	env.Ask = nil // a gateway has nobody to ask
	f, err := target.Read(path, env.Folder)
	if err != nil {
		var one *target.Error
		if errors.As(err, &one) && one.Line > 0 {
			return nil, Mistakes{one}
		}
		return nil, err
	}
	c := &Config{Path: path, env: &env}
	object{c}.preset()
	names := map[string]*target.Entry{}
	var clashes Mistakes
	for _, e := range f.Entries {
		name := toolname.ServerFor(e.Name)
		switch other := names[name]; {
		case e.Disabled:
			continue
		case e.Err != nil:
			c.warn(leftOut(e.Err, e.Name))
			continue
		case other != nil:
			clashes = append(clashes, e.Mistakef("%q and %q would both be called %s: give one of them another name", other.Name, e.Name, name))
			continue
		}
		names[name] = e
		c.Backends = append(c.Backends, c.newForeign(name, e))
	}
	switch {
	case len(clashes) > 0:
		return nil, clashes
	case len(c.Backends) == 0 && len(c.Warnings) == 0:
		return nil, Mistakes{{File: path, Line: 1, Column: 1, Err: errors.New("it has no server that is enabled; if this is the gateway's own format, its name must end in .yaml")}}
	}
	c.probe()
	return c, nil
}

// newForeign returns the backend of an entry.
func (c *Config) newForeign(name string, e *target.Entry) *Backend {
	b := &Backend{Name: name, entry: e, outside: c.env}
	object{b}.preset()
	b.Login = true // the other program logs in by itself, too
	b.tools = toolsOf(e)
	for _, beyond := range e.Beyond {
		c.warn(beyond)
	}
	if name != e.Name {
		b.Original = e.Name
	}
	return b
}

// toolsOf are the tools of a server that the other program uses.
func toolsOf(e *target.Entry) naming.Selection {
	return naming.Selection{Include: e.Tools, Exclude: e.NoTools}
}

// leftOut says what comes of a mistake in an entry.
func leftOut(err error, name string) error {
	if one, ok := errors.AsType[*target.Error](err); ok {
		e := *one
		e.Err = fmt.Errorf("%w; the server %q is left out", one.Err, name)
		return &e
	}
	return err
}
