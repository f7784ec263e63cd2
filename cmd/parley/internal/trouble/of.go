package trouble

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/challenge"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// Starting returns the kind of an error of connecting to a target.
func Starting(t *target.Target, err error) Kind {
	var ended *stdio.ExitError
	switch {
	case t.URL != "":
	case errors.Is(err, fs.ErrNotExist) && !isFolder(t.Dir): // the system does not say which of the two is missing
		return NoFolder
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot), errors.Is(err, fs.ErrNotExist):
		return CommandNotFound
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return NotExecutable
	case errors.As(err, &ended):
		return Exited
	}
	return Of(err)
}

func isFolder(dir string) bool {
	info, err := os.Stat(dir)
	return dir == "" || err == nil && info.IsDir()
}

// Of returns the kind of an error.
func Of(err error) Kind {
	var (
		undeclared *client.NotDeclaredError
		rpc        *jsonrpc.Error
		refused    *streamable.HTTPError
		ended      *stdio.ExitError
		login      *oauth.ResponseError
		network    net.Error
		unfit      *client.SkillError
	)
	switch {
	case errors.As(err, &refused):
		return ofHTTP(refused)
	case errors.Is(err, oauth.ErrNoAuthorization):
		return NoLogin
	case errors.Is(err, mcp.ErrUnauthorized), errors.As(err, &login):
		return LoginFailed
	case errors.Is(err, client.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return Timeout
	case errors.As(err, &undeclared):
		return NotDeclared
	case errors.As(err, &unfit):
		return Unverified
	case errors.Is(err, mcp.ErrNoRevision):
		return NoRevision
	case errors.As(err, &rpc):
		return ofRPC(rpc)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot):
		return CommandNotFound
	case errors.As(err, &ended), errors.Is(err, jsonrpc.ErrClosed), errors.Is(err, client.ErrKeepAlive), errors.Is(err, io.ErrUnexpectedEOF):
		return Disconnected
	case errors.Is(err, mcp.ErrNotMCP):
		return NotMCP
	case errors.As(err, &network):
		return ofNetwork(err)
	}
	return Failed
}

// ofHTTP returns the kind of a status.
func ofHTTP(e *streamable.HTTPError) Kind {
	switch {
	case e.Status == http.StatusUnauthorized:
		return NeedsLogin
	case e.Status == http.StatusForbidden && Scopes(e.Header) != nil:
		return NeedsScope
	case e.Status == http.StatusForbidden:
		return Forbidden
	case e.Status == http.StatusNotFound:
		return NotThere
	case e.Status == http.StatusMethodNotAllowed:
		return NotAllowed
	case e.Status == http.StatusTooManyRequests:
		return TooMany
	case e.Status == http.StatusProxyAuthRequired:
		return Proxy
	case e.Status >= 500:
		return Unavailable
	}
	return HTTP
}

// ofRPC returns the kind of an error of the protocol.
func ofRPC(e *jsonrpc.Error) Kind {
	switch e.Code {
	case mcp.CodeUnsupportedVersion:
		return RevisionRefused
	case jsonrpc.CodeInvalidParams:
		return ParamsRefused
	}
	return Refused
}

// ofNetwork returns the kind of an error below HTTP.
func ofNetwork(err error) Kind {
	var (
		redirect    *httpcall.RedirectError
		host        *net.DNSError
		operation   *net.OpError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		network     net.Error
	)
	switch {
	case errors.As(err, &redirect):
		return Redirected
	case errors.As(err, &operation) && operation.Op == "proxyconnect":
		return Proxy
	case errors.As(err, &host):
		return UnknownHost
	case errors.Is(err, syscall.ECONNREFUSED):
		return ConnectionRefused
	case errors.As(err, &certificate), errors.As(err, &alert):
		return Untrusted
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return NotTLS
	case errors.As(err, &network) && network.Timeout():
		return Timeout
	}
	return Unreachable
}

// Scopes returns the scopes that a 403 demands: nil when scopes are not
// what is missing, and not nil but empty when the server does not say which.
//
// Spec: 2026-07-28 basic/authorization#runtime-insufficient-scope-errors.
func Scopes(h http.Header) []string {
	for _, c := range challenge.Parse(h.Values("WWW-Authenticate")) {
		if c.Get("error") == "insufficient_scope" || c.Get("scope") != "" {
			return append([]string{}, strings.Fields(c.Get("scope"))...)
		}
	}
	return nil
}
