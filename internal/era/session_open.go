package era

import (
	"context"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

var errInitialized = jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the session is already initialized")

// initialize negotiates the revision: the one the client asks for, or else the newest.
//
// Spec: 2025-11-25 basic/lifecycle#version-negotiation.
func (s *Session) initialize(ctx context.Context, m *jsonrpc.Message, sender Sender, desc *mcp.Description) (any, error) {
	offered := revision.Session(desc.Revisions)
	if len(offered) == 0 {
		return nil, NoInitialize(m, desc.Revisions)
	}
	var p mcp.InitializeParams
	if err := readInitialize(m, &p); err != nil {
		return nil, err
	}
	chosen, ok := mcp.ParseRevision(p.ProtocolVersion)
	if !ok || !contains(offered, chosen) {
		chosen = offered[0]
	}
	a := &agreement{facts: revision.Of(chosen), declared: &desc.Capabilities}
	// What the revision lacks was not negotiated, whatever the client has declared.
	// Spec: 2025-11-25 basic/lifecycle#operation.
	declared := shapeClientCapabilities(p.Capabilities, a.facts)
	a.peer = mcp.Peer{Revision: chosen, Info: p.ClientInfo, Capabilities: declared, Principal: sender.Principal, SessionID: sender.SessionID}
	a.session, a.over = mcp.NewSession(a.with(sender))
	if !s.agreed.CompareAndSwap(nil, a) {
		return nil, errInitialized
	}
	if desc.OnSession != nil {
		s.tellOpened(ctx, a, desc.OnSession)
	}
	return &mcp.InitializeResult{
		ProtocolVersion: chosen.String(),
		Capabilities:    shapeServerCapabilities(desc.Capabilities, a.facts),
		ServerInfo:      shapeImplementation(desc.Info, a.facts),
		Instructions:    desc.Instructions,
	}, nil
}

// tellOpened tells the handler that the session is open. A panic there is not a reason to
// refuse the client.
func (s *Session) tellOpened(ctx context.Context, a *agreement, tell func(context.Context, *mcp.Session)) {
	var result any // there is none
	var err error  // it has been logged
	defer rescue(ctx, s.handler, mcp.MethodInitialize, s.opts.Logger, &result, &err)
	ctx, done := context.WithCancel(ctx)
	defer done()
	tell(ctx, a.session)
}

// readInitialize decodes the params of initialize, all of which are required.
//
// Spec: 2025-11-25 basic/lifecycle#initialization.
func readInitialize(m *jsonrpc.Message, p *mcp.InitializeParams) error {
	capabilities, info := wire.Find(m.Params, "capabilities"), wire.Find(m.Params, "clientInfo")
	if err := boundDeclared(capabilities); err != nil {
		return mcp.InvalidParams("params: capabilities: %v", err)
	}
	if err := boundDeclared(info); err != nil {
		return mcp.InvalidParams("params: clientInfo: %v", err)
	}
	if err := wire.Unmarshal(orEmpty(m.Params), p); err != nil {
		return mcp.InvalidParams("params: %v", err)
	}
	if p.ProtocolVersion == "" {
		return mcp.InvalidParams("params must have a protocolVersion")
	}
	if !isObject(capabilities) {
		return mcp.InvalidParams("params must have capabilities, an object")
	}
	if !isObject(info) {
		return mcp.InvalidParams("params must have clientInfo, an object")
	}
	if lacking := unnamedPart(info); lacking != "" {
		return mcp.InvalidParams("params: clientInfo must have a %s", lacking)
	}
	return nil
}

// unnamedPart returns the first required member that the text of an
// mcp.Implementation lacks, or "".
func unnamedPart(info []byte) string {
	for _, name := range []string{"name", "version"} {
		if _, ok := wire.Text(wire.Find(info, name)); !ok {
			return name
		}
	}
	return ""
}
