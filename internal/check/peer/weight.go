package peer

import "encoding/json"

// What parts of a message take in memory, in bytes, on a machine of 64 bits.
const (
	messageWeight = 400 // with its place in lists and maps
	sliceWeight   = 40
	emptyWeight   = 50 // a map without members
	mapWeight     = 300
	memberWeight  = 60
	stringWeight  = 24
	slotWeight    = 16
)

// weight is about what a message takes in memory. The values that a text is decoded to
// may take many times what the text does.
func (m *Message) weight() int {
	w := messageWeight + cap(m.Raw)
	if m.Batch == nil { // else it is a part of the value of its batch
		w += weigh(m.Value)
	}
	return w
}

func weigh(v any) int {
	switch v := v.(type) {
	case string:
		return stringWeight + len(v)
	case json.Number:
		return stringWeight + len(v)
	case []any:
		w := sliceWeight + slotWeight*cap(v)
		for _, one := range v {
			w += weigh(one)
		}
		return w
	case map[string]any:
		if len(v) == 0 {
			return emptyWeight
		}
		w := mapWeight
		for name, one := range v {
			w += memberWeight + len(name) + weigh(one)
		}
		return w
	default:
		return 0
	}
}
