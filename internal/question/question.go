// Package question knows what servers may ask their clients, which the eras, package
// server and package mcptest check in the same way.
package question

import (
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Missing returns an *mcp.MissingCapabilityError for a question that a client with
// these capabilities cannot be asked, and nil for one that it can be asked. Any other
// error says that it is not a valid question.
//
// Spec: 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow (7).
func Missing(q mcp.InputRequest, c *mcp.ClientCapabilities) error {
	q, err := Decode(q)
	if err != nil {
		return fmt.Errorf("question %q: params: %w", q.Key, err)
	}
	switch p := q.Params.(type) {
	case *mcp.ElicitParams:
		return missingElicitation(p, c)
	case *mcp.CreateMessageParams:
		if c.Sampling == nil {
			return lacks("sampling", mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}})
		}
		if usesTools(p) && c.Sampling.Tools == nil {
			return lacks("sampling with tools", mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{Tools: &mcp.Empty{}}})
		}
		return nil
	}
	if q.Method == mcp.MethodRoots {
		if c.Roots == nil {
			return lacks("roots", mcp.ClientCapabilities{Roots: &mcp.RootsCapability{}})
		}
		return nil
	}
	return fmt.Errorf("%q is not a question a server can ask: it takes elicitation, sampling or roots", q.Method)
}

func missingElicitation(p *mcp.ElicitParams, c *mcp.ClientCapabilities) error {
	switch {
	case p.Mode == mcp.ElicitURL && !c.Elicitation.URLs():
		return lacks("elicitation (url)", mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{URL: &mcp.Empty{}}})
	case p.Mode != mcp.ElicitURL && !c.Elicitation.Forms():
		return lacks("elicitation (form)", mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}}})
	}
	return nil
}

// usesTools reports whether a question offers tools, or continues a conversation
// that has used some.
func usesTools(p *mcp.CreateMessageParams) bool {
	for _, m := range p.Messages {
		for _, block := range m.Content {
			switch block.(type) {
			case *mcp.ToolUseContent, *mcp.ToolResultContent:
				return true
			}
		}
	}
	return len(p.Tools) > 0 || p.ToolChoice != nil
}

func lacks(feature string, required mcp.ClientCapabilities) error {
	return &mcp.MissingCapabilityError{Feature: feature, Required: required}
}

// Decode decodes raw params into the type of the question's method, if it is one that
// servers ask. Other questions are returned unchanged.
func Decode(q mcp.InputRequest) (mcp.InputRequest, error) {
	raw, ok := q.Params.(json.RawMessage)
	if !ok {
		return q, nil
	}
	m := mcp.MethodNamed(q.Method)
	if m == nil || !m.FromServer || m.NewParams() == nil {
		return q, nil
	}
	p := m.NewParams()
	if raw == nil {
		raw = json.RawMessage("{}")
	}
	if err := wire.Unmarshal(raw, p); err != nil {
		return q, err
	}
	q.Params = p
	return q, nil
}

// Refusal is an error with which a client answered a question. Other errors of
// mcp.Backchannel.Input say that the question or its answer did not get through.
type Refusal interface {
	error
	Refused()
}
