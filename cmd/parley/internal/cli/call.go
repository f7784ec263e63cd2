package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

const callLong = `Call a tool and show its result.

key=value is text, unless the tool's schema says that the argument is a number, a
boolean, an array or an object; key:=JSON is JSON. --input gives all arguments as
one object; single ones replace what it holds. Arguments are checked by the
server, not here.

On a terminal, the server's questions are put to you, and progress is shown.
Elsewhere forms are declined unless --answer flags fill them in, and the sampler
runs only with --yes-sample.

A call that the server turns into a task takes until the task has ended. Ctrl-C cancels
it, or leaves it running with --on-interrupt leave. With --detach, the command prints
the task's ID and ends at once; "parley task" comes back to it.`

const callExamples = `  parley call calculate expression='2 + 3 * 4' -- parley serve --stdio
  parley call count_slowly steps=5 delay_ms=200 -- parley serve --stdio
  parley call query_database --input @query.json --output json -- parley serve --stdio
  parley call checkout --answer name=Ada --answer email=ada@example.com --answer confirm=yes -- parley serve --stdio
  parley call https://mcp.example.com/mcp annual_report --detach
  parley call classify_log entry='disk full' --sampler 'my-model --json' -- parley serve --stdio`

func (a *app) call() *cobra.Command {
	var input, save string
	var how tasking
	cmd := &cobra.Command{
		Use:     "call [URL|@NAME] TOOL [key=value | key:=JSON]... [-- COMMAND...]",
		Short:   "Call a tool",
		Long:    callLong,
		Example: callExamples,
	}
	cmd.Flags().StringVar(&input, "input", "", "all arguments as one object: `JSON|@FILE|-`")
	cmd.Flags().StringVar(&save, "save", "", "write images, sound and other binary content to files in `DIR`")
	how.register(cmd.Flags())
	honours(cmd, a.flags.reach, a.flags.format, a.flags.verbatim, a.flags.asked)
	a.completes(cmd, completeCall)
	cmd.RunE = a.onServer(1, -1, func(ctx context.Context, t target.Target, args []string) error {
		pairs, err := parsePairs(args[1:])
		if err == nil {
			err = checkInterrupt(how.onInterrupt)
		}
		if err != nil {
			return err
		}
		object, err := a.readInput(input)
		if err != nil {
			return err
		}
		return a.runCall(ctx, t, args[0], object, pairs, save, how)
	})
	return cmd
}

func (a *app) runCall(ctx context.Context, t target.Target, tool string, input json.RawMessage, pairs []pair, save string, how tasking) error {
	c, err := a.connect(ctx, t)
	if err != nil {
		return err
	}
	defer a.leave(c)
	var schema json.RawMessage
	if hasText(pairs) {
		schema = schemaOf(ctx, c, tool)
	}
	args, err := arguments(input, pairs, schema)
	if err != nil {
		return err
	}
	raw, err := a.callOrTask(ctx, t, c, tool, args, how)
	if err != nil || raw == nil {
		return err
	}
	return a.called(c, tool, raw, save)
}

// called shows the result of a tool.
func (a *app) called(c *client.Client, tool string, raw json.RawMessage, save string) error {
	result, err := decode[mcp.CallToolResult](raw)
	if err != nil {
		return malformed(mcp.MethodCallTool, err)
	}
	if err := c.CheckOutput(tool, result); err != nil {
		a.note("parley: %s", oneLine(err.Error(), 1000))
	}
	if a.flags.json() {
		a.out.json(raw)
	} else if err := a.showResult(tool, result, save); err != nil {
		return err
	}
	if result.IsError {
		return &failure{code: codeTool}
	}
	return nil
}

// schemaOf returns the input schema of a tool, or nil. A server that lists no
// tools, or not this one, may still have it.
func schemaOf(ctx context.Context, c *client.Client, tool string) json.RawMessage {
	for t, err := range c.Tools(ctx) {
		if err != nil {
			return nil
		}
		if t.Name == tool {
			return t.InputSchema
		}
	}
	return nil
}

// showResult shows the result of a tool: on standard error if it failed, so
// that a script does not take it for a result.
func (a *app) showResult(tool string, r *mcp.CallToolResult, save string) error {
	v := &viewer{app: a, out: a.out, save: save, name: tool}
	if r.IsError {
		v.out = a.err
		a.err.printf("%s tool %q failed\n", a.err.red("parley:"), tool)
	}
	hasText := false
	for _, block := range r.Content {
		if _, ok := block.(*mcp.TextContent); ok {
			hasText = true
		}
		if err := v.show(block); err != nil {
			return err
		}
	}
	if r.StructuredContent != nil && !hasText {
		v.out.printf("%s\n", pretty(r.StructuredContent))
	}
	return nil
}

func malformed(method string, err error) error {
	return fmt.Errorf("%s: the server sent a malformed result: %w", method, err)
}
