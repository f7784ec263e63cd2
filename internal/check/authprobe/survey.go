package authprobe

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/challenge"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/loopback"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wellknown"
	"github.com/parley-mcp/parley/mcp"
)

// The members of _meta that each request of a stateless revision has.
const (
	metaVersion      = mcp.MetaProtocolVersion
	metaClient       = mcp.MetaClientInfo
	metaCapabilities = mcp.MetaClientCapabilities
)

// Found is what the survey found.
type Found struct {
	// Bare are requests of several kinds to the endpoint, without a token.
	Bare []*peer.Exchange
	// Guarded is set if the endpoint refused one of them with 401.
	Guarded bool
	// First is the first of them that was refused.
	First *peer.Exchange
	// Documents of the resource: the one that the challenge names, and those at
	// the well-known places. Resource is the one that counts, or nil.
	Documents []*Document
	Resource  *Document
	// Issuer is the identifier of the authorization server.
	Issuer string
	// Servers are the documents of the authorization server at all their places;
	// Metadata is the first that is one, or nil.
	Servers  []*Document
	Metadata *Document
	// Origin are the documents at the origin of the endpoint, where clients of
	// older revisions look.
	Origin *Document
}

// Document is metadata at a URL.
type Document struct {
	*peer.Exchange

	// Named is set if the challenge names it.
	Named bool
	// Value is its content, or nil if it is no JSON object.
	Value map[string]any
}

// is reports whether there is a document at all.
func (d *Document) is() bool { return d != nil && d.Status == http.StatusOK && d.Value != nil }

func (x *X) fetch(target string) *Document {
	d := &Document{Exchange: x.Get(target)}
	if d.Status == http.StatusOK {
		d.Value, _ = object(d.Exchange)
	}
	return d
}

// survey reads all that can be read, and asks what has to be refused.
func (x *X) survey() error {
	if x.endpoint != nil {
		x.knock()
		x.readResource()
	}
	if x.Issuer == "" && x.Resource != nil {
		if named := texts(x.Resource.Value, "authorization_servers"); len(named) > 0 {
			x.Issuer = named[0]
		}
	}
	if x.Issuer != "" {
		if err := x.readIssuer(); err != nil && x.endpoint == nil {
			return err
		}
	}
	if x.endpoint == nil {
		if x.Metadata == nil && !x.answers() {
			return fmt.Errorf("the authorization server %s can't be reached", x.Issuer)
		}
		return nil
	}
	switch {
	case !slices.ContainsFunc(x.Bare, func(e *peer.Exchange) bool { return e.Status != 0 }):
		return fmt.Errorf("the endpoint can't be reached: %w", x.Bare[0].Err)
	case !x.Guarded && x.Resource == nil:
		return errors.New("the endpoint asks for no authorization: it refuses no request without a token with 401, and has no metadata that names an authorization server")
	}
	return nil
}

func (x *X) answers() bool {
	return slices.ContainsFunc(x.Servers, func(d *Document) bool { return d.Status != 0 })
}

// knock sends what an MCP client may send, without a token: to be refused, all
// of it.
func (x *X) knock() {
	older, newer := revision.Default(nil, false), revision.Default(nil, true)
	outs := []*peer.Out{
		x.hello(),
		x.list(),
		x.Message(older, "tools/list", nil),
		x.Message(older, "ping", nil),
		x.Message(newer, "server/discover", nil),
		x.Message(newer, "resources/list", nil),
		{HTTPMethod: http.MethodGet},
		{HTTPMethod: http.MethodDelete},
	}
	for _, out := range outs {
		e := x.Ask(out)
		x.Bare = append(x.Bare, e)
		if e.Status == http.StatusUnauthorized {
			x.Guarded = true
			if x.First == nil {
				x.First = e
			}
		}
	}
}

// readResource finds the metadata of the endpoint.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements.
func (x *X) readResource() {
	named := ""
	if c := bearer(x.First); c != nil {
		named = c.Get("resource_metadata")
	}
	places := wellknown.Resources(x.endpoint)
	if u, err := x.endpoint.Parse(named); named != "" && err == nil {
		places = slices.Insert(places, 0, u.String())
	}
	seen := map[string]bool{}
	for _, at := range places {
		if seen[at] {
			continue
		}
		seen[at] = true
		d := x.fetch(at)
		d.Named = at == places[0] && named != ""
		x.Documents = append(x.Documents, d)
		if x.Resource == nil && d.is() {
			x.Resource = d
		}
	}
	x.Origin = x.fetch(origin(x.endpoint) + wellknown.OAuth)
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// readIssuer reads the metadata of the authorization server, everywhere.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery.
func (x *X) readIssuer() error {
	u, err := url.Parse(x.Issuer)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%q is no issuer: it must be a URL", x.Issuer)
	}
	for _, at := range wellknown.Issuers(u) {
		d := x.fetch(at)
		x.Servers = append(x.Servers, d)
		if x.Metadata == nil && d.is() {
			x.Metadata = d
		}
	}
	return nil
}

// isOpenID reports whether a document is at a place of OpenID Connect.
func (d *Document) isOpenID() bool { return strings.Contains(d.URL, wellknown.OpenID) }

// at returns an endpoint of the authorization server, or "".
func (x *X) at(member string) string {
	if x.Metadata == nil {
		return ""
	}
	return text(x.Metadata.Value, member)
}

// bearer returns the challenge of a refusal that a client of MCP understands, or
// nil.
func bearer(e *peer.Exchange) *challenge.Challenge {
	if e == nil {
		return nil
	}
	for _, c := range challenge.Parse(e.ResponseHeader.Values("WWW-Authenticate")) {
		if c.Is("Bearer") || c.Is("DPoP") {
			return &c
		}
	}
	return nil
}

// isLocal reports whether a URL is on this machine, where nobody listens in.
func isLocal(s string) bool {
	u, err := url.Parse(s)
	return err == nil && loopback.Is(u.Hostname())
}

// isOld reports whether a revision finds the authorization server at the origin
// of the endpoint.
func isOld(name string) bool {
	for _, f := range revision.All() {
		if f.Revision.String() == name {
			return !f.ResourceMetadata
		}
	}
	return false
}

// isOldFashioned reports whether the endpoint can be used by clients of such a
// revision.
func (x *X) isOldFashioned() bool { return x.endpoint != nil && (x.Origin.is() || x.Resource == nil) }
