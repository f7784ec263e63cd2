package era

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// What came over one hop and is passed on over the next, as a gateway does,
// carries what the protocol says of the first hop only. Unwrap and
// withoutReserved take it away, and stamped puts there what the next one says.

// Unwrap takes params, which are valid JSON, apart as a caller gives them: the content, and what of
// _meta may go on. The answers and the state of a request that was asked
// questions belong to the hop on which they were asked.
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
			if err := wire.Unmarshal(value, &meta); err != nil {
				return nil, nil, fmt.Errorf("_meta: %w", err)
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
	return wire.Except(params, foreign...), meta.WithoutReserved(), nil
}

// withoutReserved returns params or a result with what of its _meta may go on.
func withoutReserved(doc json.RawMessage) json.RawMessage {
	var meta mcp.Meta
	raw := wire.Find(doc, "_meta")
	if !isObject(raw) || wire.Unmarshal(raw, &meta) != nil {
		return doc // nothing that is reserved
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

// stamped returns the _meta of a message: what its caller puts there, and what
// the protocol says on this hop. nil is none.
//
// Spec: 2026-07-28 basic#meta.
func (o *Outgoing) stamped(said mcp.Meta) (json.RawMessage, error) {
	meta := make(mcp.Meta, len(o.Meta)+len(said)+2)
	for key, value := range o.Meta {
		if !mcp.ReservedMeta(key) {
			meta[key] = value
		}
	}
	maps.Copy(meta, said)
	if !o.ProgressToken.IsZero() {
		meta[mcp.MetaProgressToken] = json.RawMessage(o.ProgressToken.String())
	}
	if o.LogLevel != "" && said != nil {
		if err := meta.Set(mcp.MetaLogLevel, o.LogLevel); err != nil {
			return nil, err
		}
	}
	if len(meta) == 0 {
		return nil, nil
	}
	raw, err := wire.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("_meta: %w", err)
	}
	return raw, nil
}
