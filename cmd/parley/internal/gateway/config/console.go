package config

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/who"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Role is what somebody may do in the console. Each may do what those before it may.
type Role string

// The roles.
const (
	NoRole   Role = ""
	Viewer   Role = "viewer"   // looks
	Approver Role = "approver" // decides about calls and definitions
	Operator Role = "operator" // runs the gateway
)

// Roles are all that there are, the most first.
func Roles() []Role { return []Role{Operator, Approver, Viewer} }

// Console says where the console of the gateway is, and who may do what there.
type Console struct {
	// Listen is the address to listen on; "" leaves it to the command line.
	Listen string
	// PublicURL is the origin at which browsers reach it, if that is not its own address.
	PublicURL string

	bearer  Role
	holders map[Role]*holders
}

// holders are those who have a role.
type holders struct {
	principals []string
	claims     []claim
}

// claim is a claim of a token, with values of which it must have one.
type claim struct {
	name   string
	values []string
}

// consoled is the section of a configuration.
type consoled struct {
	*Console

	c *Config
}

func (c *consoled) keys() []key {
	return []key{
		{
			name: "listen", value: word{&c.Listen, isListen}, example: "127.0.0.1:7332",
			doc: "The address of the console. --console of the command line wins; without either, there is no console.",
		},
		{
			name: "public_url", value: word{&c.PublicURL, isURL}, example: "https://console.example.com",
			doc: "The origin at which browsers reach the console, if that is not its own address.",
		},
		{
			name: "bearer", value: choice[Role]{&c.bearer, []option[Role]{{"viewer", Viewer}, {"approver", Approver}, {"operator", Operator}}},
			doc: "The role of whoever logs in with the token of auth.bearer. All clients of the gateway have it, and so may programs that a model drives.",
		},
		{
			name: "roles", value: object{&roles{c}},
			doc: "Who has which role when they log in at auth.issuer. Without an entry, nobody of its users comes in.",
		},
	}
}

// roles are the sections of the roles.
type roles struct{ *consoled }

func (r *roles) keys() []key {
	r.holders = map[Role]*holders{}
	docs := map[Role]string{
		Viewer:   "Who may look at everything.",
		Approver: "Who may also approve and refuse calls and changed definitions.",
		Operator: "Who may also read the configuration again, restart servers, and forget logins.",
	}
	var keys []key
	for _, role := range []Role{Viewer, Approver, Operator} {
		h := new(holders)
		r.holders[role] = h
		keys = append(keys, key{name: string(role), value: held{object{h}, r.c}, doc: docs[role]})
	}
	return keys
}

func (h *holders) keys() []key {
	return []key{
		{
			name: "principals", value: list[string]{&h.principals, pattern, 1}, example: `["*@example.com"]`,
			doc: "Patterns of users, by the subject of their token. * stands for any characters.",
		},
		{
			name: "claims", value: table[claim]{&h.claims, func(name string, into *claim) value {
				into.name = name
				return list[string]{&into.values, pattern, 1}
			}, "CLAIM", notEmpty}, example: "{groups: [ops]}",
			doc: "Claims of tokens with patterns of values. One that fits is enough.",
		},
	}
}

// held is the section of a role, which makes sense only where users have names.
type held struct {
	object

	c *Config
}

func (v held) read(r *reader, n *yaml.Node, at where) {
	v.object.read(r, n, at)
	r.later = append(r.later, func() {
		if v.c.Auth.Issuer == nil {
			v.c.warn(r.mistake(n.Line, n.Column, at, errors.New("without auth.issuer nobody has a name, so nobody has the role by this")))
		}
	})
}

var isListen = rule{is: "an address such as 127.0.0.1:7332", pattern: "^[^/]*:[0-9]+$", check: isAddress}

// Bearer is the role of whoever has the token of all clients.
func (c *Console) Bearer() Role {
	if c == nil || c.bearer == NoRole {
		return Viewer
	}
	return c.bearer
}

// Role is the most that somebody may do whom the issuer of the gateway knows.
func (c *Console) Role(a *mcp.Authorization) Role {
	if c == nil || a == nil || a.Subject == "" {
		return NoRole
	}
	for _, role := range Roles() {
		if h := c.holders[role]; h != nil && h.has(a) {
			return role
		}
	}
	return NoRole
}

func (h *holders) has(a *mcp.Authorization) bool {
	principal := a.Principal()
	if slices.ContainsFunc(h.principals, func(pattern string) bool { return who.Fits(pattern, principal) }) {
		return true
	}
	return slices.ContainsFunc(h.claims, func(c claim) bool {
		wanted := naming.Selection{Include: c.values}
		return slices.ContainsFunc(textsOf(wire.Find(a.Claims, c.name)), wanted.Has)
	})
}

// textsOf are the values of a claim: itself, or the members of a list. Scopes are a list
// with spaces between them.
func textsOf(raw []byte) (texts []string) {
	var value any
	if len(raw) == 0 || wire.Unmarshal(raw, &value) != nil {
		return nil
	}
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	for _, v := range values {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
			if !ok && strings.Contains(v, " ") {
				texts = append(texts, strings.Fields(v)...)
			}
		case bool:
			texts = append(texts, strconv.FormatBool(v))
		}
	}
	return texts
}

// sameConsole reports whether two sections say the same of where the console is, and of
// who may do what there.
func sameConsole(old, next *Console) (place, who bool) {
	if old == nil || next == nil {
		return old == next, old == next
	}
	return old.Listen == next.Listen && old.PublicURL == next.PublicURL, old.bearer == next.bearer && reflect.DeepEqual(old.holders, next.holders)
}
