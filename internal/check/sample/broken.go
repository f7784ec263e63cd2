package sample

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Way is how a value breaks a schema.
type Way string

// The ways.
const (
	Missing   Way = "missing member" // one that is required
	WrongType Way = "wrong type"     // of a member
	Extra     Way = "extra member"   // where the schema allows no others
)

// Broken is an object that breaks the schema in one way, and is right otherwise.
type Broken struct {
	Way Way
	// Member is the name of the member that is missing, wrong or extra.
	Member string
	// JSON is the object.
	JSON json.RawMessage
}

// extraMember is a name that no schema has.
const extraMember = "parley_check_extra"

// Broken returns objects that the schema refuses: for each required member one
// without it and one in which it has another type, and one with an extra member if
// the schema forbids those. If no member is required, members that are not are
// given other types. The error says why not even a right object could be made.
func (m *Maker) Broken() ([]Broken, error) {
	right, err := m.Value(false)
	if err != nil {
		return nil, err
	}
	all, wrong, err := m.members(right)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 { // nothing is required
		if right, err = m.Value(true); err != nil {
			return nil, err
		}
		if _, wrong, err = m.members(right); err != nil {
			return nil, err
		}
	}
	out := slices.Concat(all, wrong)
	o := object{}
	if err := json.Unmarshal(right, &o); err != nil {
		return nil, fmt.Errorf("reading the value that was made: %w", err)
	}
	o[extraMember] = json.RawMessage("true")
	if text := o.text(); !m.accepts(text) {
		out = append(out, Broken{Extra, extraMember, text})
	}
	return out, nil
}

// members breaks a right object at each of its members.
func (m *Maker) members(right json.RawMessage) (missing, wrong []Broken, err error) {
	var o object
	if err := json.Unmarshal(right, &o); err != nil || o == nil {
		return nil, nil, errors.New("the schema is not one of an object")
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		without := maps.Clone(o)
		delete(without, name)
		if text := without.text(); !m.accepts(text) {
			missing = append(missing, Broken{Missing, name, text})
		}
		if text := m.retyped(o, name); text != nil {
			wrong = append(wrong, Broken{WrongType, name, text})
		}
	}
	return missing, wrong, nil
}

// retyped returns the object with a member of a type that the schema refuses
// there, or nil if it takes all.
func (m *Maker) retyped(o object, name string) json.RawMessage {
	for _, other := range []string{`{"parley":"wrong type"}`, `"wrong type"`, `4711`, `null`} {
		if kindOf([]byte(other)) == kindOf(o[name]) {
			continue
		}
		with := maps.Clone(o)
		with[name] = json.RawMessage(other)
		if text := with.text(); !m.accepts(text) {
			return text
		}
	}
	return nil
}

// kindOf tells JSON values of different types apart.
func kindOf(v json.RawMessage) byte {
	switch {
	case len(v) == 0:
		return 0
	case v[0] == '-' || '0' <= v[0] && v[0] <= '9':
		return '0'
	}
	return v[0]
}
