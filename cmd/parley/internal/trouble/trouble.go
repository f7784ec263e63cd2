// Package trouble names what can go wrong between this program and a server, so that the
// command line and the page agree on it.
package trouble

// Kind names what went wrong, for programs and for whoever knows a way out.
type Kind string

// The kinds. Those of connecting come first.
const (
	CommandNotFound Kind = "command_not_found"
	NotExecutable   Kind = "not_executable"
	NoFolder        Kind = "no_folder"
	Exited          Kind = "exited" // before it spoke the protocol

	UnknownHost       Kind = "unknown_host"
	ConnectionRefused Kind = "connection_refused"
	Unreachable       Kind = "unreachable"
	Untrusted         Kind = "tls"
	NotTLS            Kind = "not_tls" // http where https was asked for
	Proxy             Kind = "proxy"
	Redirected        Kind = "redirected"
	Timeout           Kind = "timeout"

	NotMCP          Kind = "not_mcp"
	NoRevision      Kind = "no_revision"
	RevisionRefused Kind = "revision_refused"
	ParamsRefused   Kind = "params_refused"
	Refused         Kind = "refused"

	NeedsLogin  Kind = "needs_login"
	NoLogin     Kind = "no_login" // the server does not say where
	LoginFailed Kind = "login_failed"
	NeedsScope  Kind = "needs_scope"
	Forbidden   Kind = "forbidden"
	NotThere    Kind = "not_found"
	NotAllowed  Kind = "method_not_allowed"
	TooMany     Kind = "too_many_requests"
	Unavailable Kind = "server_error"
	HTTP        Kind = "http"

	Disconnected Kind = "disconnected"
	NotDeclared  Kind = "not_declared"
	Unverified   Kind = "unverified"
	Failed       Kind = "failed"
)

// Code is what the command line calls a group of kinds. Its codes are part of its
// interface; docs/cli.md says what they mean.
type Code string

// The codes.
const (
	CodeNotStarted   Code = "not_started"
	CodeUnreachable  Code = "unreachable"
	CodeDisconnected Code = "disconnected"
	CodeTimeout      Code = "timeout"
	CodeHTTP         Code = "http"
	CodeRefused      Code = "refused"
	CodeNotDeclared  Code = "not_declared"
	CodeUnverified   Code = "unverified"
	CodeFailed       Code = "failed"
	CodeLogin        Code = "needs_login"
	CodeScope        Code = "needs_scope"
)

// Code returns the code of the group that a kind belongs to.
func (k Kind) Code() Code {
	switch k {
	case CommandNotFound, NotExecutable, NoFolder, Exited:
		return CodeNotStarted
	case UnknownHost, ConnectionRefused, Unreachable, Untrusted, NotTLS, Proxy, Redirected:
		return CodeUnreachable
	case Timeout:
		return CodeTimeout
	case RevisionRefused, ParamsRefused, Refused:
		return CodeRefused
	case NeedsLogin, NoLogin, LoginFailed:
		return CodeLogin
	case NeedsScope:
		return CodeScope
	case Forbidden, NotThere, NotAllowed, TooMany, Unavailable, HTTP:
		return CodeHTTP
	case Disconnected:
		return CodeDisconnected
	case NotDeclared:
		return CodeNotDeclared
	case Unverified:
		return CodeUnverified
	case NotMCP, NoRevision, Failed:
	}
	return CodeFailed
}
