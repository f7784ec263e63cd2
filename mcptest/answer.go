package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/internal/question"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// back is the Backchannel of an exchange: it leads to the Caller.
type back struct {
	*Caller
	peer *mcp.Peer
}

var _ mcp.Backchannel = (*back)(nil)

// Notify implements mcp.Backchannel.
func (b *back) Notify(ctx context.Context, method string, params any) error {
	if _, err := wire.Marshal(params); err != nil {
		return fmt.Errorf("params of %s: %w", method, err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, Notification{method, params})
	return nil
}

// LogEnabled implements mcp.Backchannel.
func (b *back) LogEnabled(level mcp.LoggingLevel) bool {
	return level.Severity() >= max(b.LogLevel.Severity(), 0)
}

// Once implements mcp.Backchannel.
func (b *back) Once(ctx context.Context, key string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	if done, ok := b.Done[key]; ok {
		return wire.Marshal(done)
	}
	b.mu.Lock()
	done, ok := b.once[key]
	b.mu.Unlock()
	if ok {
		return done, nil
	}
	result, err := f(ctx)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.once == nil {
		b.once = make(map[string]json.RawMessage)
	}
	b.once[key] = result
	b.ran = append(b.ran, key)
	return result, nil
}

// Input implements mcp.Backchannel.
func (b *back) Input(ctx context.Context, questions ...mcp.InputRequest) ([]json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, q := range questions {
		if err := question.Missing(q, &b.peer.Capabilities); err != nil {
			return nil, err
		}
	}
	b.mu.Lock()
	b.asked = append(b.asked, questions...)
	b.mu.Unlock()
	var open []mcp.InputRequest
	answers := make([]json.RawMessage, len(questions))
	for i, q := range questions {
		answer, ok := b.Answers[q.Key]
		if !ok {
			open = append(open, q)
			continue
		}
		var err error
		if answers[i], err = encodeAnswer(q, answer); err != nil {
			return nil, fmt.Errorf("answer to %q: %w", q.Key, err)
		}
	}
	if open != nil {
		return nil, &mcp.InputRequired{Requests: open}
	}
	return answers, nil
}

// encodeAnswer returns the result that a client would send.
func encodeAnswer(q mcp.InputRequest, answer any) (json.RawMessage, error) {
	switch a := answer.(type) {
	case *mcp.ElicitResult, *mcp.CreateMessageResult, *mcp.ListRootsResult:
		return wire.Marshal(a)
	case error:
		switch {
		case errors.Is(a, server.ErrDeclined):
			return wire.Marshal(&mcp.ElicitResult{Action: mcp.ActionDecline})
		case errors.Is(a, server.ErrCancelled):
			return wire.Marshal(&mcp.ElicitResult{Action: mcp.ActionCancel})
		}
		return nil, a
	}
	switch q.Method {
	case mcp.MethodSample:
		text, ok := answer.(string)
		if !ok {
			return nil, fmt.Errorf("a %T cannot answer sampling: give a string or an *mcp.CreateMessageResult", answer)
		}
		return wire.Marshal(&mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "mcptest", Content: mcp.OneOrMany{mcp.Text(text)}})
	case mcp.MethodRoots:
		roots, ok := answer.([]*mcp.Root)
		if !ok {
			return nil, fmt.Errorf("a %T cannot answer roots: give a []*mcp.Root", answer)
		}
		return wire.Marshal(&mcp.ListRootsResult{Roots: roots})
	}
	result := &mcp.ElicitResult{Action: mcp.ActionAccept}
	if answer != nil {
		content, err := wire.Marshal(answer)
		if err != nil {
			return nil, err
		}
		result.Content = content
	}
	return wire.Marshal(result)
}
