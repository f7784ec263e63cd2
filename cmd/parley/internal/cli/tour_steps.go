package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// step is one thing that a tour does. take returns what the tour shows of it,
// and an error when the server's answer is wrong.
type step struct {
	name string
	take func(w *walk, ctx context.Context) ([]string, error)
}

func steps() []step {
	return []step{
		{"tools", (*walk).tools},
		{"call", (*walk).calculate},
		{"time", (*walk).timestamp},
		{"read", (*walk).read},
		{"prompt", (*walk).prompt},
		{"complete", (*walk).complete},
		{"progress", (*walk).progress},
		{"elicit", (*walk).checkout},
		{"sample", (*walk).classify},
		{"tool error", (*walk).toolError},
		{"no such", (*walk).unknownTool},
	}
}

func say(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }

func (w *walk) tools(ctx context.Context) ([]string, error) {
	tools, err := client.Collect(w.c.Tools(ctx))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	for _, name := range []string{"calculate", "get_timestamp", "count_slowly", "checkout", "classify_log"} {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("the tool %q is missing from %v", name, names)
		}
	}
	return say("%d, among them %s", len(names), strings.Join(names[:min(6, len(names))], ", ")), nil
}

// callTool calls a tool and returns its text.
func (w *walk) callTool(ctx context.Context, name string, args map[string]any, opts ...client.CallOption) (text string, isError bool, err error) {
	r, err := w.c.CallTool(ctx, name, args, opts...)
	if err != nil {
		return "", false, err
	}
	for _, block := range r.Content {
		if t, ok := block.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text, r.IsError, nil
}

// worked is callTool for calls that must not fail.
func (w *walk) worked(ctx context.Context, name string, args map[string]any, opts ...client.CallOption) (string, error) {
	text, isError, err := w.callTool(ctx, name, args, opts...)
	if err == nil && isError {
		err = fmt.Errorf("%s failed: %s", name, text)
	}
	return text, err
}

func (w *walk) calculate(ctx context.Context) ([]string, error) {
	text, err := w.worked(ctx, "calculate", map[string]any{"expression": "2 + 3 * 4"})
	if err == nil && text != "14" {
		err = fmt.Errorf("%q is not 14", text)
	}
	return say("calculate 2 + 3 * 4 → %s", text), err
}

func (w *walk) timestamp(ctx context.Context) ([]string, error) {
	text, err := w.worked(ctx, "get_timestamp", nil)
	if err == nil && !strings.ContainsAny(text, "0123456789") {
		err = fmt.Errorf("%q is not a time", text)
	}
	return say("get_timestamp → %s", text), err
}

func (w *walk) read(ctx context.Context) ([]string, error) {
	r, err := w.c.ReadResource(ctx, "server://info")
	if err != nil {
		return nil, err
	}
	if len(r.Contents) != 1 || r.Contents[0].Text == nil || !json.Valid([]byte(*r.Contents[0].Text)) {
		return nil, errors.New("server://info is not one JSON document")
	}
	return say("server://info → %s", compact(*r.Contents[0].Text)), nil
}

// compact takes the white space out of JSON.
func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

func (w *walk) prompt(ctx context.Context) ([]string, error) {
	r, err := w.c.GetPrompt(ctx, "code_review", map[string]string{"code": "x = 1", "language": "python"})
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, m := range r.Messages {
		if t, ok := m.Content.(*mcp.TextContent); ok {
			text.WriteString(t.Text + "\n")
		}
	}
	if !strings.Contains(text.String(), "x = 1") || !strings.Contains(text.String(), "python") {
		err = errors.New("the arguments are not in the prompt")
	}
	return say("code_review of python → %s", text.String()), err
}

func (w *walk) complete(ctx context.Context) ([]string, error) {
	r, err := w.c.CompletePrompt(ctx, "code_review", "language", "py", nil)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(r.Values, "python") {
		err = fmt.Errorf("python is not among %q", r.Values)
	}
	return say("language of code_review, py… → %s", strings.Join(r.Values, ", ")), err
}

func (w *walk) progress(ctx context.Context) ([]string, error) {
	var (
		mu   sync.Mutex
		seen []string
	)
	_, err := w.worked(ctx, "count_slowly", map[string]any{"steps": 3, "delay_ms": 120}, client.WithProgress(func(p *mcp.ProgressParams) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprintf("%g/%g", p.Progress, p.Total))
	}))
	mu.Lock()
	defer mu.Unlock()
	if err == nil && (len(seen) < 2 || seen[len(seen)-1] != "3/3") {
		err = fmt.Errorf("progress does not end at 3/3: %q", seen)
	}
	return say("count_slowly → progress %s", strings.Join(seen, " … ")), err
}

// checkout asks twice where servers can ask the user, and elsewhere must say
// that it cannot.
func (w *walk) checkout(ctx context.Context) ([]string, error) {
	text, isError, err := w.callTool(ctx, "checkout", nil)
	asked := w.talk.take()
	refusal, refused := errors.AsType[*jsonrpc.Error](err)
	switch {
	case !w.chapter.elicits && refused && len(asked) == 0:
		return say("checkout → cannot ask in this revision: %s", refusal.Message), nil
	case err != nil:
		return nil, err
	case !w.chapter.elicits:
		return nil, errors.New("this revision has no elicitation, but checkout did not fail")
	case isError:
		err = fmt.Errorf("checkout failed: %s", text)
	case len(asked) != 4:
		err = fmt.Errorf("checkout asked %d times, not twice", len(asked)/2)
	}
	return append(append(say("checkout asks twice, and charges once:"), asked...), "→ "+text), err
}

func (w *walk) classify(ctx context.Context) ([]string, error) {
	text, err := w.worked(ctx, "classify_log", map[string]any{"entry": "Failed to connect after 3 retries"})
	asked := w.talk.take()
	switch {
	case err != nil:
	case len(asked) != 2:
		err = errors.New("classify_log did not ask for a model")
	case !strings.Contains(text, "ERROR"):
		err = fmt.Errorf("ERROR is not in %q", text)
	}
	return append(append(say("classify_log asks for a model, which this tour replaces by a rule:"), asked...), "→ "+text), err
}

func (w *walk) toolError(ctx context.Context) ([]string, error) {
	text, isError, err := w.callTool(ctx, "calculate", map[string]any{"expression": "1 / 0"})
	if err == nil && !isError {
		err = errors.New("1 / 0 did not fail")
	}
	return say("calculate 1 / 0 → isError: %s", text), err
}

func (w *walk) unknownTool(ctx context.Context) ([]string, error) {
	_, _, err := w.callTool(ctx, "no_such_tool", nil)
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
		return nil, fmt.Errorf("an unknown tool was not refused with %d: %w", jsonrpc.CodeInvalidParams, orError(err, errors.New("the call succeeded")))
	}
	return say("no_such_tool → error %d: %s", rpc.Code, rpc.Message), nil
}

// conversation answers the server's questions from a script, and records both.
type conversation struct {
	mu   sync.Mutex
	said []string
}

// take returns what was said since the last time.
func (c *conversation) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := c.said
	c.said = nil
	return said
}

func (c *conversation) add(question, answer string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, "Q "+question, "A "+answer)
}

func (c *conversation) elicit(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	var content form
	for _, f := range properties(p.RequestedSchema) {
		if value := scripted(f); value != nil {
			content.set(f.Name, value)
		}
	}
	c.add(p.Message, "accept "+string(content.json()))
	return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: content.json()}, nil
}

// scripted is the tour's answer to a field: its default, the first choice, or
// yes.
func scripted(f property) json.RawMessage {
	switch {
	case f.Default != nil:
		return nil // the default is filled in anyway
	case f.Multiple:
		return f.value(f.Choices[0].Value)
	case len(f.Choices) > 0:
		return jsonString(f.Choices[0].Value)
	case slices.Contains(f.Types, "boolean"):
		return json.RawMessage("true")
	case slices.Contains(f.Types, "integer"), slices.Contains(f.Types, "number"):
		return json.RawMessage(or(string(f.Minimum), "1"))
	case f.Format == "email":
		return jsonString("ada@example.com")
	}
	return jsonString("Ada Lovelace")
}

// sample stands in for a model: an entry that says "failed" is an error.
func (c *conversation) sample(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	var question strings.Builder
	for _, m := range p.Messages {
		question.WriteString(messageText(m.Content))
	}
	answer := "INFO"
	if strings.Contains(strings.ToLower(question.String()), "failed") {
		answer = "ERROR"
	}
	c.add(question.String(), answer)
	return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Content: mcp.OneOrMany{mcp.Text(answer)}, Model: "tour", StopReason: "endTurn"}, nil
}
