package streamable

import (
	"context"
	"net/http"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

func (h *Handler) revisions(ctx context.Context) []mcp.Revision {
	return era.Revisions(ctx, h.handler, h.opts.Logger)
}

// hasSessions reports whether the server speaks a revision with sessions.
func (h *Handler) hasSessions(ctx context.Context) bool {
	return revision.HasSession(h.revisions(ctx))
}

// ofNoSession reports whether the version header names a revision without sessions,
// or an unknown one. A request whose body lacks its version is thus still refused
// by the rules of its era.
func ofNoSession(r *http.Request) bool {
	version := fieldVersion.get(r.Header)
	return version != "" && !isSession(version) && fieldSession.get(r.Header) == ""
}

func isSession(version string) bool {
	r, ok := mcp.ParseRevision(version)
	return ok && !era.StatelessRevision(r)
}

// checkUnnamed says what is wrong with the version of a message of the stateless era
// whose body names none. If the header names a good one, nothing is: the front then
// finds that the body lacks it.
//
// Spec: 2026-07-28 basic/transports/streamable-http#protocol-version-header.
func (h *Handler) checkUnnamed(r *http.Request, m *jsonrpc.Message) error {
	allowed := h.revisions(r.Context())
	values := fieldVersion.values(r.Header)
	switch {
	case m.Method == mcp.MethodInitialize:
		return era.NoInitialize(m, allowed)
	case len(values) != 1:
		return era.NamingVersions(notOnce(fieldVersion, len(values)), allowed)
	}
	if v, ok := mcp.ParseRevision(values[0]); !ok || !era.StatelessRevision(v) || !revision.Permits(allowed, v) {
		return era.UnsupportedVersion(values[0], allowed)
	}
	return nil
}

// versionOK checks that the version header names a revision with sessions, and
// answers the request if not.
func (ss *sessions) versionOK(w http.ResponseWriter, r *http.Request, id jsonrpc.ID) bool {
	err := httpserve.CheckVersion(r, ss.h.revisions(r.Context()))
	if err != nil {
		ss.h.refuseMessage(w, http.StatusBadRequest, id, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%v", err))
	}
	return err == nil
}

// opened checks that a message names a session, and answers it if not. Its sender
// may be a client of either era.
func (ss *sessions) opened(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) bool {
	if len(fieldSession.values(r.Header)) > 0 || m.Kind != jsonrpc.Request {
		return true
	}
	err := era.Unopened(m, ss.h.revisions(r.Context()))
	if err.Code == jsonrpc.CodeInvalidRequest {
		err = jsonrpc.Errorf(err.Code, "%s is missing: %s", fieldSession, err.Message)
	}
	ss.h.refuseMessage(w, http.StatusBadRequest, m.ID, err)
	return false
}
