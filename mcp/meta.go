package mcp

import (
	"encoding/json"
	"maps"

	"github.com/parley-mcp/parley/internal/wire"
)

// The _meta keys that the protocol reserves.
//
// Spec: 2026-07-28 basic#meta.
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
	MetaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"
	MetaProgressToken      = "progressToken"
	MetaTraceParent        = "traceparent"
	MetaTraceState         = "tracestate"
	MetaBaggage            = "baggage"
)

// Meta is a _meta object: metadata that travels alongside the content of a
// message, by key, as raw JSON. Keys of your own need a prefix such as
// "com.example/".
//
// Spec: 2026-07-28 basic#meta.
type Meta map[string]json.RawMessage

// Set stores v under key, creating the map if needed. It fails when v has no
// JSON form.
func (m *Meta) Set(key string, v any) error {
	raw, err := wire.Marshal(v)
	if err != nil {
		return err
	}
	if *m == nil {
		*m = Meta{}
	}
	(*m)[key] = raw
	return nil
}

// Get decodes the value under key into v and reports whether there was one. It
// fails when the value does not fit v.
func (m Meta) Get(key string, v any) (bool, error) {
	raw, ok := m[key]
	if !ok {
		return false, nil
	}
	return true, wire.Unmarshal(raw, v)
}

// ReservedMeta reports whether a key of _meta is one that the core protocol
// itself fills in. Its value holds for one hop only: each client and each
// server sets it anew, and whoever passes a message on must leave it out. Trace
// context and the keys of extensions, some of which have the protocol's prefix,
// are not reserved.
//
// Spec: 2026-07-28 basic#meta.
func ReservedMeta(key string) bool {
	switch key {
	case MetaProtocolVersion, MetaClientInfo, MetaClientCapabilities, MetaLogLevel, MetaServerInfo, MetaSubscriptionID, MetaProgressToken:
		return true
	}
	return false
}

// WithoutReserved returns m without the keys that ReservedMeta reports, which
// is what may be passed on to the next hop. It returns m itself where there are
// none, and nil where there is nothing else.
func (m Meta) WithoutReserved() Meta {
	for key := range m {
		if ReservedMeta(key) {
			kept := maps.Clone(m)
			maps.DeleteFunc(kept, func(key string, _ json.RawMessage) bool { return ReservedMeta(key) })
			if len(kept) == 0 {
				return nil
			}
			return kept
		}
	}
	return m
}

// Trace is the context of a distributed trace that a request belongs to, in
// the formats of W3C Trace Context and W3C Baggage. Its zero value is none.
//
// Spec: 2026-07-28 basic#meta.
type Trace struct {
	Parent  string `json:"traceparent,omitzero"`
	State   string `json:"tracestate,omitzero"`
	Baggage string `json:"baggage,omitzero"`
}

// Icon is a picture for user interfaces.
//
// Spec: 2026-07-28 basic#icons.
type Icon struct {
	// Src is an http or https URL, or a data: URI with a base64 image. Clients show
	// nothing but https and data.
	Src      string `json:"src"`
	MIMEType string `json:"mimeType,omitzero"`
	// Sizes lists "WxH" in pixels, or "any".
	Sizes []string `json:"sizes,omitzero"`
	// Theme is "light", "dark" or empty for both.
	Theme string `json:"theme,omitzero"`
}

// Annotations are hints about how to use or show a piece of content.
//
// Spec: 2026-07-28 server/resources#annotations.
type Annotations struct {
	// Audience is whom the content is meant for; nil says nothing.
	Audience []Role `json:"audience,omitzero"`
	// Priority is from 0 (optional) to 1 (required); nil says nothing.
	Priority *float64 `json:"priority,omitzero"`
	// LastModified is an ISO 8601 time, for example "2025-01-12T15:00:58Z".
	LastModified string `json:"lastModified,omitzero"`
}

// Role is who speaks in a conversation with a model.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Empty is an object without members. All that a field of type *Empty says is
// whether it is nil.
type Empty struct{}
