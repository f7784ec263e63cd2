package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/anthropic"
)

// turns are what the model does: the tools that it calls, or what it says, in which a name
// of a tool in braces stands for what that tool has said last.
var turns = []struct {
	calls []string
	says  string
}{
	{calls: []string{"weather__now", "calendar__today", "notes__read"}},
	{calls: []string{"notes__delete", "notes__sort"}},
	{calls: []string{"weather__now"}},
	{says: "It is {weather__now}. There is: {calendar__today}. You have noted: {notes__read}."},
	{calls: []string{"notes__read"}},
	{says: "You have to {notes__read}."},
}

// script is a model that answers requests of Anthropic's Messages API.
type script struct{}

func (script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []anthropic.Message `json:"messages"`
		Tools    []anthropic.Tool    `json:"tools"`
	}
	const most = 1 << 20
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, most)).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	turn, said := 0, heard(request.Messages)
	for _, m := range request.Messages {
		if m.Role == "assistant" {
			turn++
		}
	}
	if turn >= len(turns) {
		http.Error(w, "the script is over", http.StatusBadRequest)
		return
	}
	reply := map[string]any{
		"id": fmt.Sprintf("msg_%d", turn), "type": "message", "role": "assistant", "model": "scripted",
		"content": content(turn, said), "stop_reason": "end_turn", "usage": map[string]int{"input_tokens": 0, "output_tokens": 0},
	}
	if turns[turn].calls != nil {
		reply["stop_reason"] = "tool_use"
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply) // the agent sees what is missing
}

// content is what the model says in a turn.
func content(turn int, said map[string]string) anthropic.Content {
	var c anthropic.Content
	for i, name := range turns[turn].calls {
		c = append(c, anthropic.Use(host.Call{ID: fmt.Sprintf("toolu_%d_%d", turn, i), Name: name}))
	}
	if text := turns[turn].says; text != "" {
		for name, answer := range said {
			text = strings.ReplaceAll(text, "{"+name+"}", answer)
		}
		c = append(c, anthropic.Block{Type: "text", Text: text})
	}
	return c
}

// heard returns what each tool has said last.
func heard(messages []anthropic.Message) map[string]string {
	names, said := map[string]string{}, map[string]string{}
	for _, m := range messages {
		for _, call := range m.Calls() {
			names[call.ID] = call.Name
		}
		for _, b := range m.Content {
			if b.Type == "tool_result" && !b.IsError {
				said[names[b.ToolUseID]] = anthropic.Message{Content: b.Content}.Text()
			}
		}
	}
	return said
}
