package backend

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/plain"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/cmd/parley/internal/trouble"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// words says to clients what has failed: neither where the server is nor what it has
// written, since there are secrets in both, and a server that many share writes of all.
func words(err error) string {
	if own, ok := errors.AsType[*bridge.OwnError](err); ok {
		return own.Error()
	}
	if again, ok := errors.AsType[*endsError](err); ok {
		return again.about(words(again.why))
	}
	if said, ok := errors.AsType[*plain.Error](err); ok {
		return said.Error()
	}
	if ended, ok := errors.AsType[*stdio.ExitError](err); ok {
		return "it has ended: " + ended.State.String()
	}
	if refused, ok := errors.AsType[*oauth.ResponseError](err); ok {
		return fmt.Sprintf("the authorization server refuses: %.100s", refused.Code)
	}
	if status, ok := errors.AsType[*streamable.HTTPError](err); ok {
		return fmt.Sprintf("HTTP status %d %s", status.Status, http.StatusText(status.Status))
	}
	if _, ok := errors.AsType[*target.Error](err); ok {
		return "something that its configuration refers to cannot be found"
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok && (path.Op == "fork/exec" || path.Op == "chdir") {
		return kinds[trouble.CommandNotFound]
	}
	if _, ok := errors.AsType[*refusal](err); ok {
		return kinds[trouble.Refused]
	}
	if errors.Is(err, stream.ErrNoMessages) {
		return "it sends lines that are no messages"
	}
	if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok {
		return "it has sent a " + long.Error()
	}
	if text, ok := kinds[trouble.Of(err)]; ok {
		return text
	}
	return "it cannot be reached"
}

// kinds are the words for what is told by its kind alone.
var kinds = map[trouble.Kind]string{
	trouble.CommandNotFound:   "it cannot be started",
	trouble.UnknownHost:       "the name of its host is not known",
	trouble.ConnectionRefused: "connection refused",
	trouble.Untrusted:         "its certificate is not trusted",
	trouble.NotTLS:            "it does not speak TLS",
	trouble.Proxy:             "a proxy stands between that does not let the gateway through",
	trouble.Redirected:        "it has moved to another address",
	trouble.Timeout:           client.ErrTimeout.Error(),
	trouble.NotMCP:            "what is there does not speak MCP",
	trouble.NoRevision:        "it speaks no revision of the protocol that the gateway could use",
	trouble.RevisionRefused:   "it refuses the connection",
	trouble.ParamsRefused:     "it refuses the connection",
	trouble.Refused:           "it refuses the connection",
	trouble.LoginFailed:       "it demands a login",
	trouble.NoLogin:           "it demands a login",
	trouble.Disconnected:      "the connection was lost",
}

// refusal is why a server has refused a connection: what it says of that is for whoever
// has configured the connection, and no answer to what a client has asked.
type refusal struct{ err error }

// asRefusal makes an error of connecting a refusal, if the server has said it. That it
// needs a client that can do more is for the client.
func asRefusal(err error) error {
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || rpc.Code == mcp.CodeMissingCapability {
		return err
	}
	return &refusal{err}
}

func (e *refusal) Error() string { return e.err.Error() }

// Is reports what the error is otherwise.
func (e *refusal) Is(other error) bool { return errors.Is(e.err, other) }

// As reports what the error is, but for an answer of the server.
func (e *refusal) As(as any) bool {
	if _, answer := as.(**jsonrpc.Error); answer {
		return false
	}
	return errors.As(e.err, as)
}
