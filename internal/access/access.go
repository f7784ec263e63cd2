// Package access is the door between packages of this module to what its users
// are not to see: fields that the JSON-RPC decoder and the message types keep to
// themselves. The package that owns something sets the function here when it is
// initialized, before anything can call it; it is not to be set again.
//
// Arguments of type any are pointers to the type that the function names.
package access

import "github.com/parley-mcp/parley/internal/wire"

// Rules tell a decoder what to look for in params. They must not be changed
// once they are in use.
type Rules struct {
	// Reserved maps the lower-case form of names of params members to the names
	// themselves: members that differ from one of them in case only are noted.
	Reserved map[string]string
	// Retry are the members whose presence is noted.
	Retry map[string]bool
	// Methods maps names of methods that come often to themselves: they are not
	// copied out of each frame.
	Methods map[string]string
}

// Notes are what a decoder noted of a message's params.
type Notes struct {
	// CaseVariant is the first member that differs in case only from one of
	// Rules.Reserved, or "".
	CaseVariant string
	// Retry says that there is a member of Rules.Retry.
	Retry bool
}

// Set by package jsonrpc.
var (
	// SetRules gives rules to a jsonrpc.Decoder.
	SetRules func(decoder any, r *Rules)
	// NotesOf returns the notes of a jsonrpc.Message.
	NotesOf func(message any) Notes
)

// Set by package mcp.
var (
	// SetEntries keeps with a result that is a list the encoded forms of its
	// entries. An entry that is not of the very value at its place in the list
	// counts for nothing, so a list may be changed without regard to them.
	SetEntries func(list any, entries []*wire.Entry)
	// EntriesOf returns them, or nil.
	EntriesOf func(list any) []*wire.Entry
	// SetEncoded says of the structured content of an mcp.CallToolResult that it
	// was encoded here, and need not be checked while it is sent. That counts for
	// nothing when the structured content was replaced.
	SetEncoded func(result any, e wire.Encoded)
	// EncodedOf returns what SetEncoded said.
	EncodedOf func(result any) wire.Encoded
	// SetObserver gives an mcp.Exchange the connection on which its drops are
	// seen: a *tap.Conn.
	SetObserver func(exchange, observer any)
	// AddRevision adds a made-up revision to those released, for tests. It
	// returns the mcp.Revision.
	AddRevision func(date string) any
)
