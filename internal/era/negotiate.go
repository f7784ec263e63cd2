package era

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/marked"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Probe is the outcome of sending server/discover to a server of unknown era.
// At most one field is set; none means that the server did not answer in
// time, or went away.
type Probe struct {
	Result []byte
	Error  *jsonrpc.Error
}

// Decision is how to proceed with a server: stateless, in Revision; with a
// session, proposing Revision; or not at all, because of Err.
type Decision struct {
	Revision  mcp.Revision
	Stateless bool
	Discover  *mcp.DiscoverResult // the result of the probe, if there was one
	Err       error
}

// Opening says how to begin with an unknown server: whether to probe, and in
// which revision.
func Opening(ours []mcp.Revision) (probe bool, in mcp.Revision) {
	if s := revision.Stateless(ours); len(s) > 0 {
		return true, s[0]
	}
	return false, mcp.Revision{}
}

// Decide implements the compatibility matrix: what a probe's outcome means for a
// client that speaks ours.
//
// Spec: 2026-07-28 basic/versioning#compatibility-matrix.
// Spec: 2026-07-28 basic/transports/stdio#backward-compatibility.
func Decide(ours []mcp.Revision, p Probe) Decision {
	if d, ok := discovered(p.Result); ok {
		return mutual(ours, d.SupportedVersions, d)
	}
	if supported, ok := refusedVersion(p.Error); ok {
		return mutual(ours, supported, nil)
	}
	if Modern(p.Error) {
		return Decision{Err: fmt.Errorf("the server refused to be discovered: %w", p.Error)}
	}
	return Propose(ours)
}

// Propose opens a session with the newest revision that has one.
func Propose(ours []mcp.Revision) Decision {
	sessions := revision.Session(ours)
	if len(sessions) == 0 {
		return Decision{Err: marked.As(mcp.ErrNoRevision, fmt.Errorf("the server needs an initialize handshake, which none of the allowed revisions has (%s)", list(ours)))}
	}
	return Decision{Revision: sessions[0]}
}

func mutual(ours []mcp.Revision, theirs []string, d *mcp.DiscoverResult) Decision {
	r := revision.Common(ours, theirs)
	if r.IsZero() {
		return Decision{Err: fmt.Errorf("%w: the server speaks %s, this client is limited to %s", mcp.ErrNoRevision, strings.Join(theirs, ", "), list(ours))}
	}
	return Decision{Revision: r, Stateless: revision.Of(r).Stateless, Discover: d}
}

// discovered decodes a DiscoverResult. A result without the required members comes
// from a server that does not know the method.
func discovered(result []byte) (*mcp.DiscoverResult, bool) {
	if result == nil {
		return nil, false
	}
	d := new(mcp.DiscoverResult)
	if wire.Unmarshal(result, d) != nil || len(d.SupportedVersions) == 0 {
		return nil, false
	}
	return d, true
}

func refusedVersion(e *jsonrpc.Error) ([]string, bool) {
	if e == nil || e.Code != mcp.CodeUnsupportedVersion {
		return nil, false
	}
	named := supported(e)
	return named, len(named) > 0
}

// Modern reports whether this is an error that only a server of the stateless era sends.
func Modern(e *jsonrpc.Error) bool {
	return e != nil && e.Code <= mcp.CodeHeaderMismatch && e.Code >= mcp.CodeUnsupportedVersion
}

// Renegotiate returns the revision to propose instead when a server has refused
// one for a session. ok is false when the refusal names none that helps.
//
// Spec: 2025-11-25 basic/lifecycle#error-handling.
func Renegotiate(ours []mcp.Revision, refused mcp.Revision, err error) (r mcp.Revision, ok bool) {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return mcp.Revision{}, false
	}
	r = revision.Common(revision.Session(ours), supported(rpc))
	return r, !r.IsZero() && r != refused && !revision.Of(r).Stateless
}

// supported returns the revisions that a refusal names, or nil.
func supported(refusal *jsonrpc.Error) []string {
	var data struct {
		Supported []string `json:"supported"`
	}
	if wire.Unmarshal(refusal.Data, &data) != nil {
		return nil
	}
	return data.Supported
}

// Older returns the revision to propose instead when a server has refused one for a
// session without naming any that it speaks: the next older one. Some servers refuse
// what they should ignore, such as capabilities that they do not know.
func Older(ours []mcp.Revision, refused mcp.Revision, err error) (r mcp.Revision, ok bool) {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || Modern(rpc) || len(supported(rpc)) > 0 {
		return mcp.Revision{}, false
	}
	sessions := revision.Session(ours)
	if next := slices.Index(sessions, refused) + 1; next > 0 && next < len(sessions) {
		return sessions[next], true
	}
	return mcp.Revision{}, false
}

// Late recognizes the refusal of a handshake by a server that has no sessions, but
// was too slow to answer the probe. The decision says how to proceed.
//
// Spec: 2026-07-28 basic/versioning#compatibility-matrix.
func Late(ours []mcp.Revision, err error) (Decision, bool) {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return Decision{}, false
	}
	supported, ok := refusedVersion(rpc)
	if !ok {
		return Decision{}, false
	}
	d := mutual(ours, supported, nil)
	return d, d.Err == nil && d.Stateless
}

// StatelessRevision reports whether a revision has no sessions.
func StatelessRevision(r mcp.Revision) bool {
	f := revision.Of(r)
	return f != nil && f.Stateless
}

func list(revisions []mcp.Revision) string {
	return strings.Join(names(revision.Newest(revisions)), ", ")
}
