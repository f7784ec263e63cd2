// Package who says how people name those who use a gateway, in its configuration and on
// its command line. Wherever a user is named, it is asked; so a name means the same in
// views, policies, approvals and the console.
//
// A principal, as the protocol's kit makes it, is "ISSUER user SUBJECT" or "ISSUER client
// CLIENT". A gateway has one issuer, so people leave it out:
//
//	SUBJECT, or ISSUER user SUBJECT           a user
//	client CLIENT, or ISSUER client CLIENT    a program that acts for itself
//
// No name is that of two: a subject that reads like one of the other forms is named in full.
package who

import (
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
)

// Kind is what somebody is.
type Kind int

// The kinds.
const (
	Nobody  Kind = iota // whom no issuer knows: without a login, or with a token that all share
	User                // a person, as a rule
	Program             // an OAuth client that acts for itself (client credentials)
)

// One is somebody who uses a gateway.
type One struct {
	Kind Kind
	// Issuer knows them by their ID, which is the subject of a user, and the client ID of
	// a program.
	Issuer, ID string

	principal string
}

// The words between the issuer and the ID, in a principal.
const (
	user   = " user "
	client = " client "
)

// Of returns whose principal this is. One in another form, of a connection that was told who
// is at its other end, is the ID of a user.
func Of(principal string) One {
	issuer, id, _ := strings.Cut(principal, " ") // that of an issuer has no space
	kind, id, _ := strings.Cut(id, " ")
	switch {
	case principal == "":
		return One{}
	case id != "" && kind == strings.TrimSpace(user):
		return One{User, issuer, id, principal}
	case id != "" && kind == strings.TrimSpace(client):
		return One{Program, issuer, id, principal}
	}
	return One{Kind: User, ID: principal, principal: principal}
}

// Named returns who has a name at a gateway of this issuer; "" names nobody.
func Named(name, issuer string) One {
	if id, ok := strings.CutPrefix(name, client[1:]); ok {
		return Of(issuer + client + id)
	}
	if _, ok := isFull(name, issuer); name == "" || ok {
		return Of(name)
	}
	return Of(issuer + user + name)
}

// isFull reports whether a name has the issuer before it, and which: this one, or the URL of
// another.
func isFull(name, issuer string) (of string, full bool) {
	of, rest, _ := strings.Cut(name, " ")
	rest = " " + rest
	full = (of == issuer || strings.Contains(of, "://")) && (strings.HasPrefix(rest, user) || strings.HasPrefix(rest, client))
	return of, full
}

// Stranger returns the issuer that a name gives, if it is another one than this: nobody has
// the name then.
func Stranger(name, issuer string) string {
	if of, full := isFull(name, issuer); full && of != issuer {
		return of
	}
	return ""
}

// Authorization is what a token of theirs says of them, without claims and scopes; nil for
// nobody.
func (o One) Authorization() *mcp.Authorization {
	switch o.Kind {
	case User:
		return &mcp.Authorization{Issuer: o.Issuer, Subject: o.ID}
	case Program:
		return &mcp.Authorization{Issuer: o.Issuer, ClientID: o.ID}
	case Nobody:
	}
	return nil
}

// Name is the short name; that of nobody is "". It is the principal where a shorter one could
// be somebody else's.
func (o One) Name() string {
	switch {
	case o.Kind == Program:
		return client[1:] + o.ID
	case strings.HasPrefix(o.ID, client[1:]):
		return o.principal
	}
	if _, full := isFull(o.ID, o.Issuer); full {
		return o.principal
	}
	return o.ID
}

// In reports whether somebody is among those who are named.
func In(names []string, principal string) bool {
	return slices.Contains(names, principal) || slices.Contains(names, Of(principal).Name())
}

// Fits reports whether a pattern fits a name of somebody: * stands for any characters, and ?
// for one.
func Fits(pattern, principal string) bool {
	s := naming.Selection{Include: []string{pattern}}
	return s.Has(principal) || s.Has(Of(principal).Name())
}
