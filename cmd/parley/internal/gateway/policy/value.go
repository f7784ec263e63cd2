package policy

import (
	"strconv"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/parley-mcp/parley/internal/wire"
)

// record turns a JSON object into a record, and anything else into an empty one. The
// document was decoded before, so it is valid.
//
// Cedar has whole numbers of 64 bits and decimals with four digits; a number that is worth
// neither becomes its text, so that no policy decides about a rounded one. Members that
// are null are left out, so that "has" says whether there is a value.
func record(doc []byte) types.Record {
	members := types.RecordMap{}
	if len(doc) > 0 && doc[0] == '{' {
		for name, raw := range wire.Each(doc) {
			if v := value(raw); v != nil {
				members[types.String(name)] = v
			}
		}
	}
	return types.NewRecord(members)
}

// value returns nil for null.
func value(raw []byte) types.Value {
	switch raw[0] {
	case 'n':
		return nil
	case 't', 'f':
		return types.Boolean(raw[0] == 't')
	case '"':
		s, _ := wire.Text(raw)
		return types.String(s)
	case '{':
		return record(raw)
	case '[':
		return set(raw)
	}
	return number(string(raw))
}

func set(raw []byte) types.Value {
	var values []types.Value
	s := wire.Skim(raw)
	for s.Enter(); !s.Leave(); {
		if v := value(s.Skip()); v != nil {
			values = append(values, v)
		}
	}
	return types.NewSet(values...)
}

// number turns a JSON number into what it is worth, however it is written: a client that
// could choose would choose what a policy does not expect.
func number(text string) types.Value {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return types.Long(n)
	}
	n := scientific(text)
	if whole, ok := n.long(); ok {
		return whole
	}
	if d, ok := n.decimal(); ok {
		return d
	}
	return types.String(text)
}
