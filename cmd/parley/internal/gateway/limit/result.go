package limit

import (
	"encoding/json"
	"fmt"
	"sort"
	"unicode/utf8"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// fit holds a result to the size that the rule allows.
func (c *counted) fit(op *guard.Operation, result any) (any, error) {
	if c.ResultBytes == 0 {
		return result, nil
	}
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
	if c.Cut && op.Method.Feature == mcp.ToolFeature {
		if short := cut(raw, int(c.ResultBytes)); short != nil {
			return short, nil
		}
	}
	return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "the result of %s has %d bytes, and the gateway passes on %d at most; ask for less", op.Shown, len(raw), c.ResultBytes)
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
