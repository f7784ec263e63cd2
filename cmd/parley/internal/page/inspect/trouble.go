package inspect

import (
	"errors"
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/cmd/parley/internal/trouble"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// waysOut says what can be done about what goes wrong in connecting.
var waysOut = map[trouble.Kind]string{
	trouble.CommandNotFound: "Is it installed, and in the PATH of the terminal that parley was started in? A path to the program works as well.",
	trouble.NotExecutable:   "Is this the path of a program, and may it be executed?",
	trouble.NoFolder:        "Choose a folder that exists, or leave the folder empty.",
	trouble.Exited:          "Does this command start an MCP server on its standard input and output? What it wrote is below.",

	trouble.UnknownHost:       "Is the name of the host spelled right, and are you online?",
	trouble.ConnectionRefused: "Nothing listens there. Is the server running, and is the port right?",
	trouble.Unreachable:       "Is the host right, and can it be reached from here?",
	trouble.Untrusted:         "The server's certificate is not trusted. SSL_CERT_FILE names a file with your own authority's certificate when parley is started.",
	trouble.NotTLS:            "The server does not speak TLS on this port. Try http:// if it is on this machine.",
	trouble.Proxy:             "The proxy refused. HTTP_PROXY, HTTPS_PROXY and NO_PROXY say which one is used when parley is started.",
	trouble.Redirected:        "Connect to the new URL if you trust it.",
	trouble.Timeout:           "Is the server busy or still starting? Try again; the traffic shows what was said.",

	trouble.NotMCP:          "This is the address of something else. That of many servers ends in /mcp.",
	trouble.NoRevision:      "Let parley choose the revision, or choose one that the server speaks.",
	trouble.RevisionRefused: "Choose one of the revisions that the server names.",
	trouble.ParamsRefused:   "The server refused the connection itself. Try another revision; the traffic shows what was said.",
	trouble.Refused:         "The traffic shows what was said. Another revision may help.",

	trouble.NeedsLogin:  "The server wants credentials, and does not say how to get them by logging in. Give it a header such as Authorization.",
	trouble.NoLogin:     "The server does not say where to log in. Give it a header such as Authorization.",
	trouble.LoginFailed: "Log in again. The steps of the login show where it stopped.",
	trouble.NeedsScope:  "Ask for the scopes that are missing.",
	trouble.Forbidden:   "The server does not let this login or these headers in, and does not say why.",
	trouble.NotThere:    "Is the path of the URL right? That of many servers is /mcp.",
	trouble.NotAllowed:  "Is the path of the URL right? That of many servers is /mcp. An old server may need the transport sse.",
	trouble.TooMany:     "The server wants fewer requests. Wait a moment, then reconnect.",
	trouble.Unavailable: "The server has a problem of its own. Its log may say which; then reconnect.",
	trouble.HTTP:        "Is this the URL of an MCP server?",

	trouble.Disconnected: "The server went away. Reconnect; the traffic shows what was said last.",
	trouble.Failed:       "The traffic shows what was said.",
}

// waysOn says what can be done about what goes wrong on a connection that is up, where that
// is something else.
var waysOn = map[trouble.Kind]string{
	trouble.Timeout:       "Is the server busy? Allow more time, or look at the traffic.",
	trouble.ParamsRefused: "The server does not take these params; the traffic shows what was sent.",
	trouble.Refused:       "The traffic shows what was said.",
	trouble.NotThere:      "The URL may have moved, or the server has forgotten the session. Reconnect.",
	trouble.NotAllowed:    "The URL may have moved. Reconnect.",
	trouble.NotDeclared:   "The overview shows what the server declares.",
	trouble.Unverified:    "Nothing of it was used.",
}

// explain says why something did not work on a connection that is up, or was, and what can
// be done about it.
func (c *Connection) explain(err error) *web.Error {
	kind := trouble.Of(err)
	e := c.troubled(kind, err)
	if way := waysOn[kind]; way != "" {
		e.Hint = way
	}
	return e
}

// notConnected says why there is no connection, and what can be done about it.
func (c *Connection) notConnected(err error) *web.Error {
	return c.troubled(trouble.Starting(&c.wished().Target, err), err)
}

func (c *Connection) troubled(kind trouble.Kind, err error) *web.Error {
	wished := c.wished()
	if kind == trouble.LoginFailed && !partOf[login](c).informed() {
		kind = trouble.NoLogin
	}
	e := web.Errorf(http.StatusBadGateway, string(kind), "%s", wished.redactor().Text(lastWords(err)))
	e.Hint = waysOut[kind]
	var (
		redirect *httpcall.RedirectError
		refused  *streamable.HTTPError
	)
	_, own := wished.header("Authorization")
	switch {
	case errors.As(err, &redirect):
		e.Hint = "Connect to " + redirect.URL.Redacted() + " if you trust it."
	case wished.Over == target.OverSSE && (kind.Code() == trouble.CodeHTTP || kind == trouble.NotMCP):
		e.Hint = "This is no HTTP+SSE server, the transport sse. Let parley choose the transport."
	case kind == trouble.NeedsLogin && own:
		e.Hint = "The server does not take the Authorization header that it was given. Give it another, or leave it out to log in."
	case kind == trouble.NeedsScope && errors.As(err, &refused):
		if scopes := trouble.Scopes(refused.Header); len(scopes) > 0 {
			e.Hint = "Ask for the scopes that are missing: " + strings.Join(scopes, " ")
		}
	case kind == trouble.RevisionRefused:
		if list := revisionsIn(err); list != "" {
			e.Hint = "The server speaks " + list + ". Let parley choose, or choose one of these."
		}
	case kind == trouble.NoRevision && c.asked() != "auto":
		e.Hint = "The server does not speak " + c.asked() + ". Let parley choose the revision, or choose one that the server speaks."
	}
	return e
}

// revisionsIn returns the revisions that a refusal names.
func revisionsIn(err error) string {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return ""
	}
	var data struct {
		Supported []string `json:"supported"`
	}
	_ = wire.Unmarshal(rpc.Data, &data) // without it, there is a more general hint
	return strings.Join(data.Supported[:min(len(data.Supported), 10)], ", ")
}

// asked returns the revision that was asked for.
func (c *Connection) asked() string { return c.wished().asked().Revision }

// lastWords is an error without what a command wrote last, which the connection has.
func lastWords(err error) string {
	var ended *stdio.ExitError
	if !errors.As(err, &ended) {
		return err.Error()
	}
	return strings.Replace(err.Error(), "; its last words: "+strings.TrimSpace(ended.Stderr), "", 1)
}
