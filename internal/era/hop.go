package era

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// A message that a gateway passes on from one hop to the next carries members that
// are true of the first hop only. Unwrap and withoutReserved remove them, and
// stamped adds those of the next hop.

// Unwrap splits the params that a caller gives, which must be valid JSON, into the
// content and the part of _meta that may be passed on. The answers and the state
// of a multi-round request belong to the hop on which the questions were asked,
// and are removed.
//
// Spec: 2026-07-28 basic/patterns/mrtr#client-requirements-basic-workflow (4).
func Unwrap(method string, params json.RawMessage) (content json.RawMessage, meta mcp.Meta, err error) {
	if !isObject(params) {
		return nil, nil, wire.ErrNotObject
	}
	var foreign []string
	for name, value := range wire.Each(params) {
		switch string(name) {
		case "_meta":
			foreign = append(foreign, "_meta")
			if meta, err = foreignMeta(value); err != nil {
				return nil, nil, err
			}
		case "inputResponses", "requestState":
			if mayAsk(method) {
				foreign = append(foreign, string(name))
			}
		}
	}
	if len(foreign) == 0 {
		return params, nil, nil
	}
	return wire.Except(params, foreign...), meta, nil
}

// foreignMeta returns the part of _meta that may be passed on: mostly nothing, as the
// clients of the stateless era say what they must say there.
func foreignMeta(raw json.RawMessage) (meta mcp.Meta, err error) {
	if !isObject(raw) {
		if err := wire.Unmarshal(raw, &meta); err != nil { // null is none
			return nil, fmt.Errorf("_meta: %w", err)
		}
	}
	for name, value := range wire.Each(raw) {
		if mcp.ReservedMeta(string(name)) {
			continue
		}
		if meta == nil {
			meta = mcp.Meta{}
		}
		meta[string(name)] = value
	}
	return meta, nil
}

// withoutReserved returns params or a result without the reserved keys of _meta.
func withoutReserved(doc json.RawMessage) json.RawMessage {
	var meta mcp.Meta
	raw := wire.Find(doc, "_meta")
	if !isObject(raw) || wire.Unmarshal(raw, &meta) != nil {
		return doc // there are no reserved keys
	}
	kept := meta.WithoutReserved()
	if len(kept) == len(meta) {
		return doc
	}
	if len(kept) == 0 {
		return wire.Except(doc, "_meta")
	}
	text, err := wire.Marshal(kept)
	if err == nil {
		doc, err = wire.Set(doc, "_meta", text)
	}
	if err != nil {
		return wire.Except(doc, "_meta")
	}
	return doc
}

// stamped returns the _meta of a message: what the protocol says on this hop, which is
// encoded already, and what its caller puts there. nil means no _meta.
//
// Spec: 2026-07-28 basic#meta.
func (o *Outgoing) stamped(said json.RawMessage) (json.RawMessage, error) {
	meta := append(make([]byte, 0, len(said)+len(`{}`)), '{')
	meta = append(meta, trimObject(said)...)
	for _, key := range slices.Sorted(maps.Keys(o.Meta)) {
		if mcp.ReservedMeta(key) {
			continue
		}
		var err error
		if meta, err = appendMember(meta, key, o.Meta[key]); err != nil {
			return nil, fmt.Errorf("_meta: %s: %w", key, err)
		}
	}
	meta = o.appendOwn(meta, said != nil)
	if len(meta) == 1 {
		return nil, nil
	}
	return append(meta, '}'), nil
}

// appendOwn appends the protocol's keys that belong to one request.
func (o *Outgoing) appendOwn(meta []byte, stateless bool) []byte {
	if !o.ProgressToken.IsZero() {
		meta = append(nameMember(meta, mcp.MetaProgressToken), o.ProgressToken.String()...)
	}
	if o.LogLevel != "" && stateless {
		meta = wire.AppendText(nameMember(meta, mcp.MetaLogLevel), string(o.LogLevel))
	}
	return meta
}

// appendMember appends a member to an object that is not closed.
func appendMember(object []byte, name string, value json.RawMessage) ([]byte, error) {
	object = nameMember(object, name)
	if value == nil {
		return append(object, "null"...), nil
	}
	return wire.AppendRaw(object, value)
}

// nameMember begins a member of an object that is not closed.
func nameMember(object []byte, name string) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	return append(wire.AppendText(object, name), ':')
}
