package server

import (
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/mcp"
)

// checkSampling checks what a model is to be asked against the protocol's rules.
//
// Spec: 2026-07-28 client/sampling#message-content-constraints.
func checkSampling(rules content.Rules, p *mcp.CreateMessageParams) error {
	switch {
	case p == nil || len(p.Messages) == 0:
		return errors.New("no messages")
	case p.MaxTokens <= 0:
		return fmt.Errorf("MaxTokens is %d", p.MaxTokens)
	}
	if err := checkPreferences(p.ModelPreferences); err != nil {
		return err
	}
	if c := p.ToolChoice; c != nil && c.Mode != "" && c.Mode != "auto" && c.Mode != "required" && c.Mode != "none" {
		return fmt.Errorf("unknown tool choice %q", c.Mode)
	}
	if err := rules.Meta(p.Meta); err != nil {
		return err
	}
	talk := conversation{rules: rules, tools: map[string]*mcp.Tool{}}
	if err := talk.offer(p.Tools); err != nil {
		return err
	}
	for i, m := range p.Messages {
		if err := talk.add(m); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(talk.open) > 0 {
		return errors.New("the last message uses tools, and no results follow")
	}
	return nil
}

// Spec: 2026-07-28 client/sampling#capability-priorities.
func checkPreferences(p *mcp.ModelPreferences) error {
	if p == nil {
		return nil
	}
	return errors.Join(
		content.Priority("ModelPreferences.CostPriority", p.CostPriority),
		content.Priority("ModelPreferences.SpeedPriority", p.SpeedPriority),
		content.Priority("ModelPreferences.IntelligencePriority", p.IntelligencePriority),
	)
}

// conversation checks messages one after the other.
type conversation struct {
	rules content.Rules
	tools map[string]*mcp.Tool // offered to the model, by name
	open  map[string]string    // uses without a result: tools' names by ID
}

// offer checks the tools that the model may use.
//
// Spec: 2026-07-28 client/sampling#sampling-with-tools.
func (c *conversation) offer(tools []*mcp.Tool) error {
	for i, t := range tools {
		switch {
		case t == nil || !validToolName(t.Name):
			return fmt.Errorf("tools[%d] has no valid name: it has 1 to 128 letters, digits, and any of -._", i)
		case !isObject(t.InputSchema):
			return fmt.Errorf("tool %q: the input schema is not a JSON object", t.Name)
		}
		if err := c.rules.Described("", t.Icons, nil, t.Meta); err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		c.tools[t.Name] = t
	}
	return nil
}

// add checks the next message. Its uses of tools become the open ones.
//
// Spec: 2026-07-28 client/sampling#tool-use-and-result-balance.
func (c *conversation) add(m *mcp.SamplingMessage) error {
	if m == nil || len(m.Content) == 0 {
		return errors.New("no content")
	}
	if m.Role != mcp.RoleUser && m.Role != mcp.RoleAssistant {
		return fmt.Errorf("unknown role %q", m.Role)
	}
	if err := c.rules.Meta(m.Meta); err != nil {
		return err
	}
	results, uses := 0, map[string]string{}
	for i, block := range m.Content {
		if err := c.block(m.Role, block, uses); err != nil {
			return fmt.Errorf("content[%d]: %w", i, err)
		}
		if _, ok := block.(*mcp.ToolResultContent); ok {
			results++
		}
	}
	// Spec: 2026-07-28 client/sampling#tool-result-messages.
	if results > 0 && results != len(m.Content) {
		return errors.New("a message with tool results may hold nothing else")
	}
	for id := range c.open {
		return fmt.Errorf("tool use %q has no result", id)
	}
	c.open = uses
	return nil
}

// block checks one block of a message and adds what it uses to uses.
func (c *conversation) block(role mcp.Role, block mcp.Content, uses map[string]string) error {
	if err := c.rules.Sampled(block); err != nil {
		return err
	}
	switch b := block.(type) {
	case *mcp.ToolResultContent:
		return c.settle(role, b)
	case *mcp.ToolUseContent:
		_, twice := uses[b.ID]
		if role != mcp.RoleAssistant || b.ID == "" || twice {
			return fmt.Errorf("tool use %q: it must be an assistant's and have an ID of its own", b.ID)
		}
		if !isObject(b.Input) {
			return fmt.Errorf("tool use %q: the input is not a JSON object", b.ID)
		}
		uses[b.ID] = b.Name
	}
	return nil
}

// settle takes the use that a result answers off the open ones, and checks the
// result's structured content if the tool is among those offered. That of a failure
// may be anything.
//
// Spec: 2026-07-28 client/sampling#tool-result-messages.
func (c *conversation) settle(role mcp.Role, result *mcp.ToolResultContent) error {
	name, ok := c.open[result.ToolUseID]
	if role != mcp.RoleUser || !ok {
		return fmt.Errorf("the result for %q answers no tool use of the previous message", result.ToolUseID)
	}
	delete(c.open, result.ToolUseID)
	t := c.tools[name]
	if t == nil || t.OutputSchema == nil || result.StructuredContent == nil || result.IsError {
		return nil
	}
	output, err := compileOutput(t.OutputSchema)
	if err == nil {
		err = nonconforming(output.Validate(result.StructuredContent))
	}
	if err != nil {
		return fmt.Errorf("the result of tool %q: %w", name, err)
	}
	return nil
}
