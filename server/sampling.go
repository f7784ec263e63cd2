package server

import (
	"context"
	"encoding/json"

	"github.com/parley-mcp/parley/mcp"
)

// Sample runs one of the client's models. key names the question within the
// exchange: the same question must have the same key each time the handler
// runs. Messages that break the rules of the protocol are refused before they
// are sent.
//
// Revision 2026-07-28 deprecates sampling (docs/deprecated.md): a new server should
// call a model provider's API instead. Clients of every revision that declare it still have it.
//
// Spec: 2026-07-28 client/sampling#creating-messages.
func Sample(ctx context.Context, call *Call, key string, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	return askOne[*mcp.CreateMessageResult](ctx, call, SampleQuestion(key, p))
}

// SampleText is Sample with one message of the user, and returns the text of
// the answer. maxTokens is the most the model may produce.
//
// Revision 2026-07-28 deprecates sampling (docs/deprecated.md).
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
//
// Revision 2026-07-28 deprecates sampling (docs/deprecated.md).
func SampleQuestion(key string, p *mcp.CreateMessageParams) Question {
	return Question{key, mcp.MethodSample, func(s *Server) (any, reader, error) {
		if err := checkSampling(s.rules, p); err != nil {
			return nil, nil, err
		}
		return p, func(raw json.RawMessage) (any, error) {
			result := new(mcp.CreateMessageResult)
			err := readAnswer(key, raw, result)
			// Spec: 2026-07-28 client/sampling#message-roles.
			if err == nil && result.Role != mcp.RoleAssistant && result.Role != mcp.RoleUser {
				err = mcp.InvalidParams("answer to %q: unknown role %q", key, shorten(string(result.Role)))
			}
			return result, err
		}, nil
	}}
}
