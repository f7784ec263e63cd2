package client

import (
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
)

// checkLists refuses null in a result's lists of objects, so that callers can
// dereference the pointers they get.
func checkLists(result any) error {
	switch r := result.(type) {
	case *mcp.ListToolsResult:
		return noNull("tools", r.Tools)
	case *mcp.ListResourcesResult:
		return noNull("resources", r.Resources)
	case *mcp.ListResourceTemplatesResult:
		return noNull("resourceTemplates", r.ResourceTemplates)
	case *mcp.ListPromptsResult:
		return checkPrompts(r.Prompts)
	case *mcp.ListSkillsResult:
		return noNull("skills", r.Skills)
	case *mcp.GetSkillResult:
		if r.Skill == nil {
			return errors.New("skill: missing")
		}
	case *mcp.ReadDirectoryResult:
		return noNull("resources", r.Resources)
	case *mcp.ListTasksResult:
		return noNull("tasks", r.Tasks)
	case *mcp.ReadResourceResult:
		return noNull("contents", r.Contents)
	case *mcp.GetPromptResult:
		return checkMessages(r.Messages)
	case *mcp.CallToolResult:
		return checkContents("content", r.Content)
	}
	return nil
}

func noNull[T any](name string, list []*T) error {
	for i, v := range list {
		if v == nil {
			return fmt.Errorf("%s.%d: unexpected null", name, i)
		}
	}
	return nil
}

func checkPrompts(prompts []*mcp.Prompt) error {
	if err := noNull("prompts", prompts); err != nil {
		return err
	}
	for i, p := range prompts {
		if err := noNull(fmt.Sprintf("prompts.%d.arguments", i), p.Arguments); err != nil {
			return err
		}
	}
	return nil
}

func checkMessages(messages []*mcp.PromptMessage) error {
	if err := noNull("messages", messages); err != nil {
		return err
	}
	for i, m := range messages {
		if err := checkContents(fmt.Sprintf("messages.%d.content", i), mcp.Contents{m.Content}); err != nil {
			return err
		}
	}
	return nil
}

func checkContents(name string, blocks mcp.Contents) error {
	for i, b := range blocks {
		if b == nil {
			return fmt.Errorf("%s.%d: missing", name, i)
		}
		if e, ok := b.(*mcp.EmbeddedResource); ok && e.Resource == nil {
			return fmt.Errorf("%s.%d: a resource without its contents", name, i)
		}
	}
	return nil
}
