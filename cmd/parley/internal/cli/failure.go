package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// failure is an error with the code it is reported under. A failure without an
// err has been shown already.
type failure struct {
	code code
	err  error
	hint string
	mend *mend
}

// mend is what makes up for missing rights.
type mend struct {
	scopes []string // what is needed, as far as the server said so
	run    []string // the command that asks for it
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
	return &failure{code: codeUsage, err: fmt.Errorf(format, args...)}
}

// failed turns an error that is not about usage into a failure with a code and
// a hint. t is the server it is about.
func (a *app) failed(err error, t target.Target) error {
	var f *failure
	if err == nil || errors.As(err, &f) {
		return err
	}
	f = &failure{code: classify(err), err: err, hint: hint(err)}
	if f.mend = mending(f.code, err, t); f.mend != nil {
		f.hint = f.mend.hint() + when(a.hasOwnCredentials(), ", and leave out --token, "+tokenVariable+" and --header Authorization")
	}
	return f
}

// pointed makes an error about how a command was called point to the help of that
// command. Errors without a code come from parsing the command line.
func pointed(err error, path string) error {
	f := new(failure)
	if err == nil || errors.As(err, &f) && (f.code != codeUsage || f.hint != "" || f.err == nil) {
		return err
	}
	return &failure{code: codeUsage, err: err, hint: `see "` + path + ` --help"`}
}

// failureOf returns the failure that an error is reported as. Errors without a
// code come from parsing the command line.
func failureOf(ctx context.Context, err error) *failure {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{code: codeUsage, err: err}
	}
	switch {
	case f.err == nil:
	case f.code != codeUsage && ctx.Err() != nil:
		return &failure{code: codeInterrupted, err: errors.New("interrupted")}
	case f.code == codeUsage && f.hint == "":
		g := *f
		g.hint = `see "parley --help"`
		return &g
	}
	return f
}

// report shows an error and returns the exit code.
func (a *app) report(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	f := failureOf(ctx, err)
	switch {
	case f.err == nil:
	case a.jsonErrors:
		a.err.line(a.envelope(f))
	default:
		a.showFailure(f)
	}
	return f.code.exit()
}

func (a *app) showFailure(f *failure) {
	message, stderr := lastWords(f.err)
	hint := when(f.hint != "", " ("+oneLine(f.hint, 2000)+")")
	a.err.printf("%s %s%s\n", a.err.red("parley:"), oneLine(message, 2000), a.err.dim(hint))
	if !f.code.telling() {
		return
	}
	heard, junk, more := a.heard.words()
	if stderr = or(stderr, heard); stderr != "" && !a.flags.passStderr() {
		a.err.printf("%s\n", indent(stderr, "  | "))
	}
	if len(junk) > 0 {
		a.err.printf("  on standard output, where only the protocol belongs:\n%s\n", indent(strings.Join(junk, "\n"), "  | "))
	}
	if more > 0 {
		a.err.printf("  … and %d more lines like these\n", more)
	}
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
	case errors.As(err, &refused) && (refused.Status == http.StatusNotFound || refused.Status == http.StatusMethodNotAllowed):
		return "is the path of the URL right? that of many servers is /mcp"
	case errors.As(err, &refused) && refused.Status == http.StatusForbidden:
		return `the server does not say what is missing; "parley login" asks for more rights with --scope`
	case errors.Is(err, client.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return "--timeout gives it longer, --trace shows what was said"
	case errors.As(err, &undeclared):
		return `"parley info" shows what it offers`
	case errors.As(err, &rpc) && rpc.Code == mcp.CodeMissingCapability:
		return "--sampler CMD answers for a model, --root DIR offers a folder"
	case errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeInvalidParams:
		return `"parley list" shows what there is, and its arguments`
	}
	return ""
}
