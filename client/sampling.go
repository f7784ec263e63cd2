package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Sample runs a model.
//
// Spec: 2026-07-28 client/sampling#creating-messages.
func (a *answers) Sample(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	defer a.asked(ctx)()
	if a.opts.Sample == nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found: %s", mcp.MethodSample)
	}
	// An empty list of tools is one.
	// Spec: 2025-11-25 client/sampling#tools-in-sampling.
	if (p.Tools != nil || p.ToolChoice != nil) && !a.opts.SampleTools {
		return nil, mcp.InvalidParams("sampling with tools was not declared by this client")
	}
	if err := underRate(a.samples, "requests for sampling"); err != nil {
		return nil, err
	}
	if err := checkTools(p.Messages); err != nil {
		return nil, err
	}
	r, err := a.opts.Sample(ctx, p)
	if err != nil || r == nil {
		return nil, noAnswer(mcp.MethodSample, err)
	}
	if err := checkSampled(r, a.rules); err != nil {
		return nil, noAnswer(mcp.MethodSample, err)
	}
	return r, nil
}

// CheckSample returns an error that says what is wrong with the answer of a model. What
// Options.Sample returns is checked in the same way before it is sent; with CheckSample, a
// program can do that while whoever wrote the answer can still mend it. Members of _meta
// that belong to extensions are refused, although a client that has declared the
// extension may send them.
//
// Revision 2026-07-28 deprecates sampling (docs/deprecated.md).
func CheckSample(r *mcp.CreateMessageResult) error { return checkSampled(r, content.Rules{}) }

// checkSampled checks what is about to be sent.
//
// Spec: 2026-07-28 client/sampling#result-fields.
func checkSampled(r *mcp.CreateMessageResult, rules content.Rules) error {
	if len(r.Content) == 0 {
		return errors.New("the model's answer has no content")
	}
	if r.Role != "" && r.Role != mcp.RoleUser && r.Role != mcp.RoleAssistant {
		return fmt.Errorf("the role %.100q of the model's answer is neither %q nor %q", string(r.Role), mcp.RoleAssistant, mcp.RoleUser)
	}
	for i, block := range r.Content {
		if err := rules.Sampled(block); err != nil {
			return fmt.Errorf("content[%d]: %w", i, err)
		}
	}
	return rules.Meta(r.Meta)
}

// checkTools refuses a conversation in which a message does not hold exactly
// the results of the tools that the message before it uses.
//
// Spec: 2025-11-25 client/sampling#error-handling.
func checkTools(messages []*mcp.SamplingMessage) error {
	open := map[string]bool{}
	for i, m := range messages {
		if m == nil {
			return mcp.InvalidParams("messages[%d] is null", i)
		}
		results, uses := 0, map[string]bool{}
		for _, block := range m.Content {
			switch block := block.(type) {
			case *mcp.ToolResultContent:
				if !open[block.ToolUseID] {
					return mcp.InvalidParams("messages[%d]: nothing asked for the tool result %q", i, block.ToolUseID)
				}
				delete(open, block.ToolUseID)
				results++
			case *mcp.ToolUseContent:
				uses[block.ID] = true
			}
		}
		if results > 0 && results != len(m.Content) {
			return mcp.InvalidParams("messages[%d]: tool results mixed with other content", i)
		}
		if len(open) > 0 {
			return mcp.InvalidParams("messages[%d]: tool result missing in request", i)
		}
		open = uses
	}
	if len(open) > 0 {
		return mcp.InvalidParams("tool result missing in request")
	}
	return nil
}
