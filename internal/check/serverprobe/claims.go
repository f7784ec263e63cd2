package serverprobe

import (
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var (
	errNotClaimed = errors.New("the server does not speak it")
	errSilent     = errors.New("the server says nothing in time")
)

// otherVersion is the answer of a server that offers another version.
type otherVersion struct{ version string }

func (o *otherVersion) Error() string {
	return fmt.Sprintf("%v: it answers initialize with %q", errNotClaimed, o.version)
}

// claims are the revisions that the server has said it speaks.
type claims map[string]bool

func (c claims) add(revision string) { c[revision] = true }

// has reports whether the server claims the revision over this transport. What
// it says over HTTP holds for one endpoint, and so not for HTTP+SSE.
func (c claims) has(x *X) bool { return c[x.Revision] && x.Transport != needsSSE }

// discover asks a stateless server whether it speaks the revision. A server
// whose answer is of no use does if it serves requests of the revision.
func (x *X) discover() error {
	r := x.Call(mcp.MethodDiscover, nil)
	if m := r.Response; m != nil && m.IsResult() {
		for _, v := range m.List("result/supportedVersions") {
			if version, ok := v.(string); ok {
				x.claims.add(version)
			}
		}
		// Some answer server/discover in versions that they do not speak, which
		// refuse all else.
		if x.claims[x.Revision] || m.Text("result/resultType") != "" && x.tryLists() {
			x.guessed = false
			x.learn(r)
			return nil
		}
		return fmt.Errorf("%w: its versions are %s", errNotClaimed, peer.Encode(m.List("result/supportedVersions")))
	}
	if r.Response != nil {
		for _, v := range r.Response.List("error/data/supported") {
			if version, ok := v.(string); ok {
				x.claims.add(version)
			}
		}
		if code, _ := r.Response.Code(); code == codeUnsupportedVersion {
			return fmt.Errorf("%w: it answers server/discover with %s", errNotClaimed, outline(r))
		}
	}
	if !x.tryLists() {
		return refusalOf(mcp.MethodDiscover, r)
	}
	return nil
}

// refusalOf is the error for a revision that could not be begun with.
func refusalOf(method string, r *peer.Reply) error {
	if r.Silent {
		return fmt.Errorf("%w to %s", errSilent, method)
	}
	return fmt.Errorf("it answers %s with %s", method, outline(r))
}

// tryLists finds out what a server offers that does not tell: by asking for the
// lists. It reports whether any request was served, in the form of the revision.
func (x *X) tryLists() bool {
	x.Offer.Capabilities, x.guessed = map[string]any{}, true
	for _, try := range [][2]string{
		{mcp.MethodListTools, "tools"}, {mcp.MethodListPrompts, "prompts"}, {mcp.MethodListResources, "resources"},
	} {
		r := x.Call(try[0], nil)
		if r.Response == nil {
			break // it does not answer, which nobody should wait for again and again
		}
		if r.Response.IsResult() && (!x.Stateless || r.Response.Text("result/resultType") != "") {
			x.Offer.Capabilities[try[1]] = map[string]any{"listChanged": true}
		}
	}
	return len(x.Offer.Capabilities) > 0
}

// undeclared is the finding for what only the capabilities tell.
func undeclared() probe.Finding {
	return probe.Unverified("the server does not say what it can do")
}

// The codes that MCP defines.
//
// Spec: 2026-07-28 basic/index#error-codes.
const (
	codeParse               = -32700
	codeInvalidRequest      = -32600
	codeMethodNotFound      = -32601
	codeInvalidParams       = -32602
	codeInternal            = -32603
	codeHeaderMismatch      = -32020
	codeMissingCapability   = -32021
	codeUnsupportedVersion  = -32022
	codeOldResourceNotFound = -32002
	codeOldElicitURL        = -32042
)
