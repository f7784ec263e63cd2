package cli

import (
	"fmt"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/trouble"
)

// code says what went wrong, to programs. The codes are part of the program's
// interface: outcomes lists them, and docs/cli.md repeats the list.
type code string

const (
	codeTool         code = "tool_failed"
	codeCard         code = "bad_card"
	codeCheck        code = "requirement_failed"
	codeDefinitions  code = "bad_definitions"
	codeConfig       code = "bad_config"
	codePins         code = "not_approved"
	codeScan         code = "scan_found"
	codePolicy       code = "policy_failed"
	codeUsage        code = "usage"
	codeNotStarted   code = code(trouble.CodeNotStarted)
	codeNotRunning   code = "not_running"
	codeUnreachable  code = code(trouble.CodeUnreachable)
	codeDisconnected code = code(trouble.CodeDisconnected)
	codeTimeout      code = code(trouble.CodeTimeout)
	codeHTTP         code = code(trouble.CodeHTTP)
	codeRefused      code = code(trouble.CodeRefused)
	codeNotDeclared  code = code(trouble.CodeNotDeclared)
	codeUnverified   code = code(trouble.CodeUnverified)
	codeFailed       code = code(trouble.CodeFailed)
	codeLogin        code = code(trouble.CodeLogin)
	codeScope        code = code(trouble.CodeScope)
	codeInterrupted  code = "interrupted"
	// Those of tasks.
	codeTaskCancelled code = "task_cancelled"
	codeTaskGone      code = "task_gone"
)

// The exit codes.
const (
	exitOK          = 0
	exitTool        = 1
	exitUsage       = 2
	exitUnreachable = 3
	exitLogin       = 4
	exitInterrupted = 130
)

// exits says what each exit code means.
func exits() []struct {
	exit  int
	about string
} {
	return []struct {
		exit  int
		about string
	}{
		{exitOK, "success"},
		{exitTool, "the tool failed, or a check found errors"},
		{exitUsage, "wrong usage"},
		{exitUnreachable, "the server is unreachable or gave no usable answer"},
		{exitLogin, "a login is needed, or one with more rights"},
		{exitInterrupted, "interrupted"},
	}
}

// outcome is a way in which a run can fail.
type outcome struct {
	code  code
	exit  int
	about string
}

// outcomes is the one table of codes, and of the exit code of each.
func outcomes() []outcome {
	return []outcome{
		{codeCard, exitTool, "the server card has errors, or differs from the server; they are on standard output"},
		{codeCheck, exitTool, "a MUST of the specification was seen broken; the report has the evidence"},
		{codeDefinitions, exitTool, "definitions have errors; they are on standard output"},
		{codeConfig, exitTool, "the configuration has mistakes; they are on standard output"},
		{codePins, exitTool, "what servers say of themselves has changed, and waits for approval; it is on standard output"},
		{codeScan, exitTool, "a scan has found what models should not read; it is on standard output"},
		{codePolicy, exitTool, "the policies deny it, or decide otherwise than a test expects; it is on standard output"},
		{codeTool, exitTool, "the tool reported a failure; with --output json, its result says so itself"},
		{codeUsage, exitUsage, "the command line is wrong, and nothing was asked of the server"},
		{codeNotStarted, exitUnreachable, "the server's command could not be started, or ended before it spoke the protocol"},
		{codeNotRunning, exitUnreachable, "no gateway runs that the command could speak to"},
		{codeUnreachable, exitUnreachable, "no connection to the URL: no such host, refused, not encrypted as it should be"},
		{codeDisconnected, exitUnreachable, "the connection ended before the answer came"},
		{codeTimeout, exitUnreachable, "there was no answer in the time of --timeout"},
		{codeHTTP, exitUnreachable, `the URL answered with a status that is not a success; "http" has it`},
		{codeRefused, exitUnreachable, `the server answered with an error of the protocol; "rpc" has it`},
		{codeNotDeclared, exitUnreachable, "the server does not have what was asked for"},
		{codeUnverified, exitUnreachable, "a skill is not what the server says of it, or cannot be kept as files; nothing of it was used"},
		{codeTaskCancelled, exitUnreachable, "the task was cancelled, so that there is no result"},
		{codeTaskGone, exitUnreachable, "the server does not know the task, or no longer"},
		{codeFailed, exitUnreachable, "anything else, such as a malformed answer or a file that cannot be written"},
		{codeLogin, exitLogin, `the server demands a login; "run" has the command for it`},
		{codeScope, exitLogin, `the login does not suffice; "scopes" has what is needed, "run" the command that asks for it`},
		{codeInterrupted, exitInterrupted, "a signal ended the command"},
	}
}

// exit returns the exit code that a code leads to.
func (c code) exit() int {
	for _, o := range outcomes() {
		if o.code == c {
			return o.exit
		}
	}
	return exitUnreachable
}

// exitHelp is the table of exit codes as a line of help.
func exitHelp() string {
	parts := make([]string, 0, 6)
	for _, e := range exits() {
		parts = append(parts, fmt.Sprintf("%3d  %s", e.exit, e.about))
	}
	return "Exit codes:\n  " + strings.Join(parts, "\n  ")
}

// classify finds the code of an error that has none yet.
func classify(err error) code { return code(trouble.Of(err).Code()) }
