package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/pins"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Request is an operation that waits for a human.
type Request struct {
	ID    string    `json:"id"`
	Asked time.Time `json:"asked"`
	// Until is when it is denied if nobody has answered.
	Until     time.Time `json:"until"`
	Principal string    `json:"principal,omitzero"`
	Client    string    `json:"client,omitzero"`
	Source    string    `json:"source,omitzero"`
	View      string    `json:"view,omitzero"`
	Backend   string    `json:"backend"`
	Method    string    `json:"method"`
	Subject   string    `json:"subject"`
	Shown     string    `json:"shown"`
	// Why are the reasons of those who demand a human.
	Why []string `json:"why,omitzero"`
	// Ask says who may decide.
	Ask Ask `json:"ask"`
	// Arguments are those of the call, exactly as the backend would get them, and Extra
	// what else is in its params, without _meta; nil if there is nothing.
	Arguments json.RawMessage `json:"arguments,omitzero"`
	Extra     json.RawMessage `json:"extra,omitzero"`
	// Unlisted says that the backend does not list what it is about, as it would a tool or a
	// prompt that it has.
	Unlisted bool `json:"unlisted,omitzero"`
	// Digest is that of the canonical arguments and of Extra.
	Digest string `json:"digest"`

	// tool identifies who may call what, and call also with which arguments.
	tool, call string
}

// besides are the members of params that do not make a call another one: what names its
// subject is known, and the rest is about how it is served.
var besides = []string{"_meta", "task", "inputResponses", "requestState"}

// newRequest describes an operation. What identifies it changes with everything that a
// human has looked at, and with what the tool is.
func newRequest(op *guard.Operation, why []string, ask Ask) (*Request, error) {
	x := op.Exchange
	r := &Request{
		Principal: x.Peer.Principal, Client: x.Peer.Info.Name, Source: x.Peer.Source, View: op.View, Backend: op.Backend,
		Method: op.Method.Name, Subject: op.Subject, Shown: op.Shown, Why: why, Ask: ask,
		Arguments: bytes.Clone(wire.Find(op.Params, "arguments")), // a client without a session has a new exchange when it is back
	}
	said := wire.Except(op.Params, besides...)
	if extra := wire.Except(said, "arguments", op.Method.Subject); len(extra) > len("{}") {
		r.Extra = extra
	}
	canonical, err := wire.Canonical(said)
	if err != nil {
		return nil, mcp.InvalidParams("params: %v", err)
	}
	r.Digest = digest(canonical)
	definition := ""
	r.Unlisted = op.Definition == nil && op.Method.Feature != mcp.ResourceFeature
	if op.Definition != nil {
		if definition, err = pins.Digest(op.Definition.Raw); err != nil {
			return nil, err
		}
	}
	program := ""
	if a := x.Peer.Authorization; a != nil {
		program = a.ClientID
	}
	if r.tool, err = identify(ownerOf(&x.Peer), program, r.Backend, r.Method, r.Subject, definition); err != nil {
		return nil, err
	}
	r.call, err = identify(r.tool, r.Digest)
	return r, err
}

// identify returns what is the same for the same parts only.
func identify(parts ...string) (string, error) {
	raw, err := wire.Marshal(parts)
	return digest(raw), err
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}
