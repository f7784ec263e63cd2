package auth

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/challenge"
	"github.com/parley-mcp/parley/internal/dpop"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/jsonrpc"
)

// refusal is why a request is refused, in the terms of RFC 6750, section 3.1,
// and RFC 9449, section 7.
type refusal struct {
	status int
	code   string // "" when there were no credentials
	reason string
	dpop   bool // whether the credentials used the scheme DPoP
	scopes []string
}

const (
	codeInvalidRequest = "invalid_request"
	codeInvalidToken   = "invalid_token"
	codeInvalidProof   = "invalid_dpop_proof"
	codeUseNonce       = "use_dpop_nonce"
	codeScope          = "insufficient_scope"
)

func malformed(reason string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: codeInvalidRequest, reason: reason}
}

func badToken(reason string) *refusal {
	return &refusal{status: http.StatusUnauthorized, code: codeInvalidToken, reason: reason}
}

func badProof(reason string) *refusal {
	return &refusal{status: http.StatusUnauthorized, code: codeInvalidProof, reason: reason, dpop: true}
}

// trouble is for failures that are not the client's fault.
var trouble = &refusal{status: http.StatusServiceUnavailable, reason: "the token cannot be verified now; come back later"}

// worse returns the more significant of two errors about a token: one that is
// not the token's fault, because the token may be good after all.
func worse(a, b error) error {
	if _, ok := errors.AsType[*TokenError](a); ok {
		return b
	}
	return a
}

// refuse answers a request that is not let in. The body is a JSON-RPC error
// without an id, like those of the transports.
//
// Spec: 2026-07-28 basic/authorization#error-handling.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, no *refusal) {
	g.log.InfoContext(r.Context(), "request refused", "status", no.status, "reason", no.reason, "remote", r.RemoteAddr)
	h := w.Header()
	if no.status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "5")
	} else {
		h.Set("WWW-Authenticate", g.challenge(no))
	}
	if no.code == codeUseNonce {
		h.Set("DPoP-Nonce", g.nonces.New())
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/json")
	defer httpserve.LimitRest(w, r, 30*time.Second)
	body, err := jsonrpc.AppendNoID(nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%s", no.reason))
	w.WriteHeader(no.status)
	if err == nil {
		_, _ = w.Write(body) //nolint:gosec,nolintlint // it is JSON, and says so; gosec does not always see this. A client that is gone does not matter
	}
}

// challenge returns the value of WWW-Authenticate: a challenge for each
// accepted scheme, with the error in that of the scheme that was used.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements.
func (g *Guard) challenge(no *refusal) string {
	var all []string
	if g.opts.DPoP != DPoPRequired {
		all = append(all, g.oneChallenge("Bearer", no, !no.dpop))
	}
	if g.opts.DPoP != DPoPOff {
		all = append(all, g.oneChallenge("DPoP", no, no.dpop || g.opts.DPoP == DPoPRequired))
	}
	return strings.Join(all, ", ")
}

func (g *Guard) oneChallenge(scheme string, no *refusal, used bool) string {
	c := challenge.Challenge{Scheme: scheme}
	// A scope that is missing is missing in every scheme.
	if no.code != "" && (used || no.code == codeScope) {
		c = c.With("error", no.code).With("error_description", no.reason)
	}
	if no.code != codeInvalidRequest {
		c = c.With("scope", strings.Join(no.scopes, " "))
	}
	c = c.With("resource_metadata", g.metadataURL)
	if scheme == "DPoP" {
		c = c.With("algs", strings.Join(dpop.Algorithms(), " "))
	}
	return c.String()
}
