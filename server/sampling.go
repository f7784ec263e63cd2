package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
)

// Sample runs one of the client's models. key names the question within the
// exchange: the same question must have the same key each time the handler
// runs. Messages that break the rules of the protocol are refused before they
// are sent.
//
// Revision 2026-07-28 deprecates sampling: a new server should call a model
// provider's API instead. Clients of every revision that declare it still have it.
//
// Spec: 2026-07-28 client/sampling#creating-messages.
func Sample(ctx context.Context, call *Call, key string, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	return askOne[*mcp.CreateMessageResult](ctx, call, SampleQuestion(key, p))
}

// SampleText is Sample with one message of the user, and returns the text of
// the answer. maxTokens is the most the model may produce.
func SampleText(ctx context.Context, call *Call, key, prompt string, maxTokens int64) (string, error) {
	result, err := Sample(ctx, call, key, &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text(prompt)}}},
		MaxTokens: maxTokens,
	})
	if err != nil {
		return "", err
	}
	return result.Text(), nil
}

// SampleQuestion returns the question that Sample asks. Its answer is an
// *mcp.CreateMessageResult.
func SampleQuestion(key string, p *mcp.CreateMessageParams) Question {
	return Question{key, mcp.MethodSample, func(*Server) (any, reader, error) {
		if err := checkSampling(p); err != nil {
			return nil, nil, err
		}
		return p, func(raw json.RawMessage) (any, error) {
			result := new(mcp.CreateMessageResult)
			err := readAnswer(key, raw, result)
			return result, err
		}, nil
	}}
}

// checkSampling checks a conversation against the protocol's rules.
//
// Spec: 2026-07-28 client/sampling#message-content-constraints.
func checkSampling(p *mcp.CreateMessageParams) error {
	switch {
	case p == nil || len(p.Messages) == 0:
		return errors.New("no messages")
	case p.MaxTokens <= 0:
		return fmt.Errorf("MaxTokens is %d", p.MaxTokens)
	}
	if c := p.ToolChoice; c != nil && c.Mode != "" && c.Mode != "auto" && c.Mode != "required" && c.Mode != "none" {
		return fmt.Errorf("unknown tool choice %q", c.Mode)
	}
	var open map[string]bool // tool uses without a result
	for i, m := range p.Messages {
		next, err := checkMessage(m, open)
		if err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
		open = next
	}
	if len(open) > 0 {
		return errors.New("the last message uses tools, and no results follow")
	}
	return nil
}

// checkMessage checks a message that follows one with open tool uses. It
// returns those that it opens itself.
//
// Spec: 2026-07-28 client/sampling#tool-use-and-result-balance.
func checkMessage(m *mcp.SamplingMessage, open map[string]bool) (map[string]bool, error) {
	if m == nil || len(m.Content) == 0 {
		return nil, errors.New("no content")
	}
	if m.Role != mcp.RoleUser && m.Role != mcp.RoleAssistant {
		return nil, fmt.Errorf("unknown role %q", m.Role)
	}
	results, uses := 0, map[string]bool{}
	for _, block := range m.Content {
		switch block := block.(type) {
		case *mcp.ToolResultContent:
			if m.Role != mcp.RoleUser || !open[block.ToolUseID] {
				return nil, fmt.Errorf("the result for %q answers no tool use of the previous message", block.ToolUseID)
			}
			delete(open, block.ToolUseID)
			results++
		case *mcp.ToolUseContent:
			if m.Role != mcp.RoleAssistant || block.ID == "" || uses[block.ID] {
				return nil, fmt.Errorf("tool use %q: it must be an assistant's and have an ID of its own", block.ID)
			}
			uses[block.ID] = true
		case *mcp.TextContent, *mcp.ImageContent, *mcp.AudioContent, *mcp.UnknownContent:
		default:
			return nil, fmt.Errorf("content of type %T is not possible in sampling", block)
		}
	}
	// Spec: 2026-07-28 client/sampling#tool-result-messages.
	if results > 0 && results != len(m.Content) {
		return nil, errors.New("a message with tool results may hold nothing else")
	}
	for id := range open {
		return nil, fmt.Errorf("tool use %q has no result", id)
	}
	return uses, nil
}
