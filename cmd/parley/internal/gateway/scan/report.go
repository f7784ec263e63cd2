package scan

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/jsonptr"
	"github.com/parley-mcp/parley/internal/texts"
	"github.com/parley-mcp/parley/internal/wire"
)

// Finding is something that a definition has.
type Finding struct {
	Backend string `json:"backend"`
	// Name is what the backend calls it; "" is the backend's instructions.
	Name string `json:"name,omitzero"`
	// List is the method that lists it.
	List string `json:"list,omitzero"`
	Kind Kind   `json:"kind"`
	// Rule is the kind of characters, or the row of a table.
	Rule string `json:"rule"`
	// Text says what it is, and Shows what the first of it looks like.
	Text  string `json:"text"`
	Shows string `json:"shows"`
	// Pointer is the JSON pointer to the first place, and Places is how many there are.
	Pointer string `json:"pointer,omitzero"`
	Places  int    `json:"places"`
	// Action is what the guard does because of it.
	Action Action `json:"action"`
}

// Definitions returns what some definitions have, with their instructions by backend: all
// kinds, also those that the options leave out. shown are the definitions as clients see
// them.
func (s *Scan) Definitions(definitions []*guard.Definition, shown []json.RawMessage, instructions map[string]string) []Finding {
	list := []Finding{}
	for backend, text := range instructions {
		list = s.report(list, &guard.Definition{Backend: backend}, wire.AppendText(nil, text))
	}
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Compare(a.Backend, b.Backend) })
	var known index
	for _, d := range definitions {
		known.add(d)
	}
	for i, d := range definitions {
		list = s.report(list, d, shown[i])
		v := &verdict{speaks: namesIn(d, shown[i]), looks: texts.Skeleton(d.Name)}
		if text := known.shadows(d, v); text != "" {
			list = append(list, Finding{
				Backend: d.Backend, Name: d.Name, List: d.List, Kind: Shadowing, Rule: string(Shadowing), Text: "there is " + text, Places: 1,
				Action: orOff(s.rulesFor(texts.Definition, d.Backend, d.Name).actions[Shadowing]),
			})
		}
	}
	return list
}

// everything is what is looked for where a person asks.
var everything = newRules(Actions{Hidden: Log, Instructions: Log, Secrets: Log})

// report adds what one document has.
func (s *Scan) report(list []Finding, d *guard.Definition, shown []byte) []Finding {
	found := look(shown, texts.Definition, everything)
	defer found.release()
	actions := s.rulesFor(texts.Definition, d.Backend, d.Name).actions
	for _, what := range found.order {
		c := found.counts[what]
		list = append(list, Finding{
			Backend: d.Backend, Name: d.Name, List: d.List, Kind: what.kind, Rule: what.rule, Text: saysOf(what.rule), Shows: c.shows,
			Pointer: pointer(shown, c.at), Places: c.n, Action: orOff(c.action(actions[what.kind])),
		})
	}
	return list
}

func orOff(a Action) Action {
	if a == "" {
		return Off
	}
	return a
}

// pointer returns the JSON pointer to what is at a place of a valid document.
func pointer(doc []byte, at int) string {
	s := wire.Skim(doc)
	path := ""
	for {
		var isObject bool
		switch s.Next() {
		case '{':
			isObject = true
		case '[':
		default:
			return path
		}
		s.Enter()
		found := false
		for i := 0; !found; i++ {
			if c := s.Next(); c == 0 || c == ']' || c == '}' {
				return path
			}
			step := strconv.Itoa(i)
			if isObject {
				name, _ := wire.Text(s.Skip())
				step = jsonptr.Escape(name)
				if s.At() > at {
					return path + "/" + step
				}
				s.Next()
			}
			ahead := s
			ahead.Skip()
			if ahead.At() > at {
				path += "/" + step
				found = true
			} else {
				s = ahead
			}
		}
	}
}
