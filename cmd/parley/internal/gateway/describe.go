package gateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

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

// says returns what a backend says of itself; nothing if it is not known yet.
func (s *setup) says(m *member) said {
	d := m.backend.Describe()
	if d == nil {
		return said{}
	}
	mute := slices.ContainsFunc(s.describers, func(g guard.Describer) bool { return !g.Describes(m.backend.Name(), d) })
	return said{d, mute}
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
