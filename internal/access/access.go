// Package access gives packages of this module access to what its users must not
// see: unexported fields of the JSON-RPC decoder and the message types. The
// package that owns a field sets the function here when it is initialized,
// before anything can call it; nothing may set it again.
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
	// Retry is the set of members whose presence is noted.
	Retry map[string]bool
	// Methods maps the names of frequent methods to themselves, so that they
	// are not copied out of each frame.
	Methods map[string]string
}

// Notes are what a decoder noted about a message's params.
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
	// SetEntries stores the encoded forms of a list's entries with the list
	// result. An encoded form is used only if it was made from the very value
	// at its place in the list, so code that changes a list may ignore them.
	SetEntries func(list any, entries []*wire.Entry)
	// EntriesOf returns what SetEntries stored, or nil.
	EntriesOf func(list any) []*wire.Entry
	// SetEncoded marks the structured content of an mcp.CallToolResult as encoded
	// here, so that it need not be checked when it is sent. The mark has no
	// effect once the structured content has been replaced.
	SetEncoded func(result any, e wire.Encoded)
	// EncodedOf returns the mark that SetEncoded set.
	EncodedOf func(result any) wire.Encoded
	// KeepToken keeps the access token that an mcp.Authorization was read from, where
	// nothing prints or stores it.
	KeepToken func(authorization any, token string)
	// TokenOf returns what KeepToken has kept, or "".
	TokenOf func(authorization any) string
	// SetObserver gives an mcp.Exchange the connection on which its drops are
	// seen: a *tap.Conn.
	SetObserver func(exchange, observer any)
	// AddRevision adds a made-up revision to those released, for tests. It
	// returns the mcp.Revision.
	AddRevision func(date string) any
)
