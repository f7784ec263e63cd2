package mcp

import (
	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/wire"
)

// encodedEntries saves a list from being encoded anew for each answer: package
// server keeps the encoded form of each entry.
type encodedEntries struct{ entries []*wire.Entry }

func (e *encodedEntries) kept() *encodedEntries { return e }

type entryKeeper interface{ kept() *encodedEntries }

//nolint:gochecknoinits // the other packages of the module reach unexported fields through this door alone
func init() {
	access.SetEntries = func(list any, entries []*wire.Entry) {
		if k, ok := list.(entryKeeper); ok {
			k.kept().entries = entries
		}
	}
	access.EntriesOf = func(list any) []*wire.Entry {
		if k, ok := list.(entryKeeper); ok {
			return k.kept().entries
		}
		return nil
	}
	access.SetEncoded = func(result any, e wire.Encoded) {
		if r, ok := result.(*CallToolResult); ok {
			r.encoded = e
		}
	}
	access.EncodedOf = func(result any) wire.Encoded {
		if r, ok := result.(*CallToolResult); ok {
			return r.encoded
		}
		return wire.Encoded{}
	}
	access.KeepToken = func(authorization any, token string) {
		if a, ok := authorization.(*Authorization); ok {
			a.token = func() string { return token }
		}
	}
	access.TokenOf = func(authorization any) string {
		if a, ok := authorization.(*Authorization); ok && a != nil && a.token != nil {
			return a.token()
		}
		return ""
	}
	access.SetObserver = func(exchange, observer any) {
		x, ok := exchange.(*Exchange)
		if o, observes := observer.(dropObserver); ok && observes {
			x.observer = o
		}
	}
	access.AddRevision = func(date string) any {
		r := Revision{date}
		released = append(released, r)
		return r
	}
}
