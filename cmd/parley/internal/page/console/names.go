package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Names are those of what the gateway serves, for questions about it.
type Names struct {
	Views   []string `json:"views"`
	Entries []Named  `json:"entries"`
	// Missing is why some backends cannot be asked what they list, by their names.
	Missing map[string]string `json:"unavailable,omitzero"`
}

// Named is what a backend lists. Kind is tool, prompt or resource; Name is as the backend
// calls it, and Shown as clients do.
type Named struct {
	Backend string `json:"backend"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Shown   string `json:"shown"`
}

// decide asks the policies. The name may be the one that clients see, or the backend's.
func (c *Console) decide(ctx context.Context, asked Case) (*Decision, error) {
	names, err := c.gateway.Names(ctx)
	if err != nil {
		return nil, err
	}
	if asked.View != "" && !slices.Contains(names.Views, asked.View) {
		return nil, wrong("view", "there is no view %q; there is %s", asked.View, cmp.Or(strings.Join(names.Views, ", "), "none"))
	}
	unlisted := names.resolve(&asked)
	d, err := c.gateway.Explain(ctx, asked)
	if err != nil {
		return nil, err
	}
	d.Unlisted = unlisted
	return d, nil
}

// resolve has a case name what it is about as the backend does. It returns what is to be
// said if the backend does not list it.
func (n *Names) resolve(asked *Case) (unlisted string) {
	for kind, name := range map[string]*string{"tool": &asked.Tool, "prompt": &asked.Prompt, "resource": &asked.Resource} {
		if *name == "" {
			continue
		}
		if e := n.find(asked.Backend, kind, *name); e != nil {
			*name = e.Name
		} else if why := n.Missing[asked.Backend]; why != "" {
			unlisted = fmt.Sprintf("%s cannot be asked what it lists: %s", asked.Backend, why)
		} else if kind != "resource" { // a resource need not be listed
			unlisted = fmt.Sprintf("%s lists no %s of this name", asked.Backend, kind)
		}
	}
	return unlisted
}

// find returns what a backend lists under a name, its own or else the clients'; nil if there is nothing.
func (n *Names) find(backend, kind, name string) (found *Named) {
	for i := range n.Entries {
		switch e := &n.Entries[i]; {
		case e.Backend != backend || e.Kind != kind:
		case e.Name == name:
			return e
		case e.Shown == name:
			found = e
		}
	}
	return found
}
