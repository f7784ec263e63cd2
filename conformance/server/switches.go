package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// addSwitches adds the tools that change the lists of tools and prompts, of
// which subscribers are notified.
func addSwitches(s *server.Server) {
	const name = "test_switched"
	addSwitch(s, "test_trigger_tool_change", "Adds a tool, or removes it again.",
		func() {
			addTool(s, name, "Comes and goes.", func(context.Context, *server.Call) (string, error) { return "I am here.", nil })
		},
		func() { s.RemoveTools(name) })
	addSwitch(s, "test_trigger_prompt_change", "Adds a prompt, or removes it again.",
		func() { addFixedPrompt(s, name, "Comes and goes.", mcp.Text("I am here.")) },
		func() { s.RemovePrompts(name) })
}

func addSwitch(s *server.Server, name, description string, add, remove func()) {
	var mu sync.Mutex // of two concurrent calls, one adds and one removes
	on := false
	addTool(s, name, description, func(context.Context, *server.Call) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if on {
			remove()
		} else {
			add()
		}
		on = !on
		return fmt.Sprintf("It is there: %t", on), nil
	})
}
