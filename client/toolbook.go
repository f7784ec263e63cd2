package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// toolbook holds what has to be known of a tool when it is called, from the last time
// it was listed: about tools that were never listed, it knows nothing. The zero value
// is ready.
type toolbook struct {
	mu    sync.Mutex
	tools map[string]*toolNote
	size  int // bytes of schemas
}

// toolNote is what the toolbook holds of one tool.
type toolNote struct {
	output   json.RawMessage                // the output schema; nil if there is none
	compiled func() (*schema.Schema, error) // compiles it once; nil if nothing can be checked
	support  mcp.TaskSupport                // TaskRequired or TaskOptional; "" otherwise
}

// The bounds of a toolbook. Of tools beyond them it knows nothing.
const (
	maxNotedTools  = 10_000
	maxNotedSchema = 16 << 20
)

// learn notes the tools of a page.
func (b *toolbook) learn(tools []*mcp.Tool, log *slog.Logger) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range tools {
		support := supportOf(t)
		if support == mcp.TaskForbidden {
			support = "" // like tools of which nothing is known
		}
		old := b.tools[t.Name]
		if old != nil && old.support == support && bytes.Equal(old.output, t.OutputSchema) {
			continue
		}
		if old != nil {
			b.size -= len(old.output)
			delete(b.tools, t.Name)
		}
		if t.OutputSchema == nil && support == "" || len(b.tools) >= maxNotedTools || b.size+len(t.OutputSchema) > maxNotedSchema {
			continue
		}
		b.add(t, support, log)
	}
}

func (b *toolbook) add(t *mcp.Tool, support mcp.TaskSupport, log *slog.Logger) {
	n := &toolNote{support: support}
	if t.OutputSchema != nil {
		n.output = bytes.Clone(t.OutputSchema)
		n.compiled = sync.OnceValues(func() (*schema.Schema, error) { return compileOutput(t.Name, n.output, log) })
	}
	if b.tools == nil {
		b.tools = map[string]*toolNote{}
	}
	b.tools[t.Name] = n
	b.size += len(n.output)
}

// compileOutput compiles an output schema. One that is fine but for a regular
// expression that only others can match does not make the tool unusable: it is not
// applied, and that is logged.
func compileOutput(tool string, output json.RawMessage, log *slog.Logger) (*schema.Schema, error) {
	s, err := schema.Compile(output)
	if errors.Is(err, schema.ErrPattern) {
		log.Warn("the results of a tool are not checked against its output schema", "tool", tool, "reason", err)
		return nil, nil //nolint:nilnil // nothing can be checked, and that is not an error
	}
	return s, err
}

// of returns what is known of a tool.
func (b *toolbook) of(name string) toolNote {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := b.tools[name]; n != nil {
		return *n
	}
	return toolNote{}
}

// forget forgets everything, because the tools may have changed.
func (b *toolbook) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tools, b.size = nil, 0
}

// forget forgets what was fetched from the server, because anything may have changed.
func (c *Client) forget() {
	c.cache.forgetAll()
	c.tools.forget()
}

// CheckOutput returns an *OutputError if a result of a tool does not fit the tool's
// output schema. It is for those who call tools by Do; CallTool does it by itself. Of
// a tool that was not listed by this client, no schema is known, and so any result
// fits.
//
// Spec: 2026-07-28 server/tools#output-schema.
func (c *Client) CheckOutput(name string, result *mcp.CallToolResult) error {
	if result.IsError {
		return nil
	}
	n := c.tools.of(name)
	if l := c.current(); n.output == nil || l.session != nil && !l.session.Facts().StructuredContent {
		return nil
	}
	if err := n.check(result.StructuredContent); err != nil {
		return &OutputError{Tool: name, Result: result, Err: err}
	}
	return nil
}

func (n *toolNote) check(structured json.RawMessage) error {
	s, err := n.compiled()
	switch {
	case err != nil:
		return fmt.Errorf("the tool's output schema cannot be used: %w", err)
	case structured == nil:
		return errors.New("the tool has an output schema, but its result has no structuredContent")
	case s == nil:
		return nil
	}
	return s.Validate(structured)
}

// checkDialects logs tools whose schemas are in a dialect that cannot be understood.
// They are listed all the same: it is the server that checks the arguments.
//
// Spec: 2025-11-25 basic#implementation-requirements.
func (c *Client) checkDialects(tools []*mcp.Tool) {
	for _, t := range tools {
		for member, raw := range map[string]json.RawMessage{"inputSchema": t.InputSchema, "outputSchema": t.OutputSchema} {
			dialect, ok := wire.Text(wire.Find(raw, "$schema"))
			if ok && !schema.Supported(dialect) {
				c.opts.Logger.Warn("the dialect of a tool's schema is not supported", "tool", t.Name, "schema", member, "dialect", dialect)
			}
		}
	}
}
