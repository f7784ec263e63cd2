package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// descriptions has what the gateway says of itself in views, by their names and by those of
// the backends that are mute. The zero value is ready.
type descriptions struct {
	mu   sync.Mutex
	made map[string]*description
}

// maxDescriptions bounds what is remembered; beyond that, it is begun anew.
const maxDescriptions = 100

// get returns a description that still holds, or nil.
func (k *descriptions) get(key string, of []said) *mcp.Description {
	k.mu.Lock()
	defer k.mu.Unlock()
	if d := k.made[key]; d != nil && slices.Equal(d.of, of) {
		return d.made
	}
	return nil
}

func (k *descriptions) put(key string, d *description) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.made == nil || len(k.made) >= maxDescriptions {
		k.made = map[string]*description{}
	}
	k.made[key] = d
}

// description is what the gateway says of itself while its backends say what they say, and
// guards let the same of their instructions be read.
type description struct {
	of   []said
	made *mcp.Description
}

// said is what a backend says of itself.
type said struct {
	*mcp.Description

	// mute says that its instructions are not for clients.
	mute bool
}

// says returns what a backend says of itself to a peer, or to nobody in particular; nothing
// if it is not known yet.
func (v *View) says(ctx context.Context, s *setup, m *member, peer *mcp.Peer) said {
	d := m.backend.Describe() //nolint:contextcheck // it only remembers
	if d == nil {
		return said{}
	}
	name := m.backend.Name()
	mute := slices.ContainsFunc(s.describers, func(g guard.Describer) bool { return !g.Describes(name, d) }) ||
		peer != nil && slices.ContainsFunc(s.introducers, func(g guard.Introducer) bool { return !g.Introduces(ctx, peer, v.name, name) })
	return said{d, mute}
}

// keyOf tells apart descriptions of a view that live beside each other: not everybody may
// read the instructions of all backends.
func (v *View) keyOf(of []said, members []*member) string {
	var key strings.Builder
	key.WriteString(v.name)
	for i := range of {
		if of[i].mute {
			key.WriteString("\x00" + members[i].backend.Name())
		}
	}
	return key.String()
}

const (
	// maxInstructions bounds the instructions of one backend, and allInstructions those
	// of all, in bytes: they go into the context of a model.
	maxInstructions = 8 << 10
	allInstructions = 32 << 10
)

// describe combines what backends say. Lists are offered even while no backend is known
// to have one, because the client of a session is told only once what there is.
func describe(info *mcp.Implementation, members []*member, of []said, editors []guard.Editor) *mcp.Description {
	changes := &mcp.ListCapability{ListChanged: true}
	d := &mcp.Description{Info: *info, Capabilities: mcp.ServerCapabilities{
		Tools: changes, Prompts: changes, Resources: &mcp.ResourcesCapability{Subscribe: true, ListChanged: true},
		Completions: &mcp.Empty{}, Logging: &mcp.Empty{},
	}}
	var instructions strings.Builder
	for i, b := range of {
		if b.Description == nil {
			continue
		}
		c := &b.Capabilities
		d.Capabilities.Tasks = mergeTasks(d.Capabilities.Tasks, c.Tasks)
		d.Capabilities.Extensions = mergeSettings(d.Capabilities.Extensions, c.Extensions)
		d.Capabilities.Experimental = mergeSettings(d.Capabilities.Experimental, c.Experimental)
		if b.mute {
			continue
		}
		text := b.Instructions
		for _, e := range editors {
			text = e.Instructions(members[i].backend.Name(), text)
		}
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		text = fmt.Sprintf("# %s\n\n%s\n\n", members[i].backend.Name(), cut(text, maxInstructions))
		if instructions.Len()+len(text) <= allInstructions {
			instructions.WriteString(text)
		}
	}
	d.Instructions = strings.TrimSpace(instructions.String())
	return d
}

// cut shortens a text to a number of bytes.
func cut(text string, most int) string {
	const mark = " […]"
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(mark)], "") + mark
}

// mergeTasks returns what either of two servers can do with tasks.
func mergeTasks(one, other *mcp.TasksCapability) *mcp.TasksCapability {
	if other == nil {
		return one
	}
	merged := *other
	if one == nil {
		return &merged
	}
	if one.List != nil {
		merged.List = one.List
	}
	if one.Cancel != nil {
		merged.Cancel = one.Cancel
	}
	if one.Requests.Tools != nil {
		merged.Requests.Tools = one.Requests.Tools
	}
	return &merged
}

// mergeSettings returns what either of two servers declares. Where both declare something
// with settings, what is on with one of them is on.
func mergeSettings(one, other map[string]json.RawMessage) map[string]json.RawMessage {
	if len(other) == 0 {
		return one
	}
	merged := maps.Clone(one)
	if merged == nil {
		merged = map[string]json.RawMessage{}
	}
	for _, name := range slices.Sorted(maps.Keys(other)) {
		settings, ok := merged[name]
		if !ok {
			merged[name] = other[name]
			continue
		}
		for key, value := range wire.Each(other[name]) {
			if old := wire.Find(settings, string(key)); old == nil || string(value) == "true" {
				if with, err := wire.Set(settings, string(key), value); err == nil {
					settings = with
				}
			}
		}
		merged[name] = settings
	}
	return merged
}
