package limit

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"unicode/utf8"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// fit holds what came of an operation to the size that rules allow.
func (l *Limits) fit(op *guard.Operation, result any, err error) (any, error) {
	call := l.callOf(op)
	for _, r := range l.rules {
		if r.ResultBytes == 0 || !r.matches(op) && (call == nil || !r.matches(call)) {
			continue
		}
		if err != nil {
			err = r.fitError(op, err)
		} else {
			result, err = r.fitResult(op, result)
		}
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// callOf returns the call that has become the task that an operation is about, as far as
// rules are about it, or nil: what comes of the task is what comes of the call.
func (l *Limits) callOf(op *guard.Operation) *guard.Operation {
	tool, ok := l.tasks.ToolOf(op)
	if !ok {
		return nil
	}
	return &guard.Operation{Exchange: op.Exchange, Method: mcp.MethodNamed(mcp.MethodCallTool), Backend: op.Backend, Subject: tool}
}

// fitError holds an error to the size that the rule allows. Only those of servers are large.
func (c *counted) fitError(op *guard.Operation, err error) error {
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return err
	}
	size := int64(len(rpc.Message) + len(rpc.Data))
	if size <= c.ResultBytes {
		return err
	}
	return c.tooLarge("error", op, size)
}

func (c *counted) tooLarge(what string, op *guard.Operation, size int64) error {
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "the %s of %.200s has %d bytes, and the gateway passes on %d at most; ask for less", what, op.Shown, size, c.ResultBytes)
}

// fitResult holds a result to the size that the rule allows.
func (c *counted) fitResult(op *guard.Operation, result any) (any, error) {
	if _, watching := result.(*mcp.Watching); watching || result == nil {
		return result, nil
	}
	raw, ok := result.(json.RawMessage)
	if !ok {
		text, err := wire.Marshal(result)
		if err != nil {
			return nil, err
		}
		raw = text
	}
	if int64(len(raw)) <= c.ResultBytes {
		return result, nil
	}
	if short := c.cut(op.Method, raw); short != nil {
		return short, nil
	}
	return nil, c.tooLarge("result", op, int64(len(raw)))
}

// cut shortens the result of a tool, or the state of a task that has one. It returns nil if
// that cannot be done.
func (c *counted) cut(m *mcp.Method, raw json.RawMessage) json.RawMessage {
	switch size := int(c.ResultBytes); {
	case !c.Cut:
	case m.Feature == mcp.ToolFeature, m.Name == mcp.MethodTaskResult:
		return cut(raw, size)
	case m.Name == mcp.MethodGetTask:
		return cutState(raw, size)
	}
	return nil
}

// cutState shortens the result in the state of a task.
func cutState(raw json.RawMessage, size int) json.RawMessage {
	whole := wire.Find(raw, "result")
	if whole == nil {
		return nil
	}
	part := cut(whole, size-(len(raw)-len(whole)))
	if part == nil {
		return nil
	}
	short, err := wire.Set(raw, "result", part)
	if err != nil {
		return nil
	}
	return short
}

// cut shortens the content of a tool's result to a size, with a note, or returns nil if
// that cannot be done: structured content is what a schema describes, and half of it is
// worth nothing.
func cut(raw json.RawMessage, size int) json.RawMessage {
	content := wire.Find(raw, "content")
	if wire.Find(raw, "structuredContent") != nil || len(content) == 0 || content[0] != '[' {
		return nil
	}
	const spare = 200 // for the note
	room := size - (len(raw) - len(content)) - spare
	if room < 0 {
		return nil
	}
	kept := append(make([]byte, 0, size), '[')
	for s := skimmed(content); !s.Leave(); {
		block := s.Skip()
		if len(block) > room {
			block = cutText(block, room)
		}
		if block == nil {
			break
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, block...)
		room -= len(block) + 1
		if room <= 0 {
			break
		}
	}
	if len(kept) > 1 {
		kept = append(kept, ',')
	}
	note := fmt.Sprintf("The gateway has cut this result, which had %d bytes; it passes on %d at most. Ask for less.", len(raw), size)
	kept = append(kept, `{"type":"text","text":`...)
	kept = append(wire.AppendText(kept, note), `}]`...)
	short, err := wire.Set(raw, "content", kept)
	if err != nil {
		return nil
	}
	return short
}

func skimmed(list []byte) *wire.Skimmer {
	s := wire.Skim(list)
	s.Enter()
	return &s
}

// cutText shortens a block of text, or returns nil if it is no text or there is no room.
func cutText(block []byte, room int) []byte {
	text, ok := wire.Text(wire.Find(block, "text"))
	if !ok || !wire.Is(wire.Find(block, "type"), "text") {
		return nil
	}
	shortened := func(end int) []byte {
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		short, err := wire.Set(block, "text", wire.AppendText(nil, text[:end]+"…"))
		if err != nil {
			return block
		}
		return short
	}
	over := sort.Search(len(text), func(end int) bool { return len(shortened(end)) > room })
	if over == 0 {
		return nil
	}
	return shortened(over - 1)
}
