package cli

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// The exit codes.
const (
	exitOK         = 0
	exitTool       = 1 // the tool reported a failure
	exitUsage      = 2
	exitConnection = 3 // the connection or the protocol failed
)

// failure is an error with the exit code it leads to. A failure without an err
// has been shown already.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string {
	if f.err == nil {
		return "failed"
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// usagef returns an error about how the program was called.
func usagef(format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// failed turns an error that is not about usage into a failure with a hint.
func failed(err error) error {
	var f *failure
	if err == nil || errors.As(err, &f) {
		return err
	}
	return &failure{code: exitConnection, err: err, hint: hint(err)}
}

// report shows an error and returns the exit code. Errors without a code come
// from parsing the command line.
func (a *app) report(err error) int {
	if err == nil {
		return exitOK
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{code: exitUsage, err: err}
	}
	if f.err == nil {
		return f.code
	}
	if f.code == exitUsage && f.hint == "" {
		f.hint = `see "parley --help"`
	}
	message, words := lastWords(err)
	message = oneLine(message, 2000)
	if f.hint != "" {
		message += a.err.dim(" (" + f.hint + ")")
	}
	a.err.printf("%s %s\n", a.err.red("parley:"), message)
	if words != "" && !a.flags.passStderr() {
		a.err.printf("%s\n", indent(harmless(words), "  | "))
	}
	return f.code
}

// lastWords separates an error's text from what the server wrote before it
// ended, which is seldom a single line.
func lastWords(err error) (message, words string) {
	message = err.Error()
	var ended *stdio.ExitError
	if !errors.As(err, &ended) {
		return message, ""
	}
	words = strings.TrimSpace(ended.Stderr)
	return strings.Replace(message, "; its last words: "+words, "", 1), words
}

// hint says what can be done about an error.
func hint(err error) string {
	var (
		undeclared *client.NotDeclaredError
		rpc        *jsonrpc.Error
		refused    *streamable.HTTPError
	)
	switch {
	case errors.Is(err, client.ErrTimeout):
		return "--timeout gives it longer, --trace shows what was said"
	case errors.As(err, &refused) && refused.Status == http.StatusUnauthorized:
		return "it does not accept the credentials; --token and --header name others"
	case errors.As(err, &refused) && refused.Status == http.StatusForbidden:
		return `the credentials do not suffice; "parley login" can ask for more with --scope`
	case errors.As(err, &undeclared):
		return `"parley info" shows what it offers`
	case errors.As(err, &rpc) && rpc.Code == mcp.CodeMissingCapability:
		return "--sampler CMD answers for a model, --root DIR offers a folder"
	case errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeInvalidParams:
		return `"parley list" shows what there is, and its arguments`
	}
	return ""
}
