package jsonrpc

import (
	"bytes"

	"github.com/parley-mcp/parley/internal/wire"
)

// maxMembers bounds the members of all the objects that are open at one place of a
// frame. The parser remembers their names, to find those that occur twice, in up to
// thirty times the space that they have in the frame.
const maxMembers = 100_000

// bounded returns why a frame is not parsed: it nests too deeply, which would grow
// the stack, or its objects have too many members. Most frames have fewer brackets
// and colons in all, and need no closer look.
func bounded(frame []byte, depth, members int) error {
	if bytes.Count(frame, []byte{'{'})+bytes.Count(frame, []byte{'['}) <= depth && bytes.Count(frame, []byte{':'}) <= members {
		return nil
	}
	open, total := make([]int, 1, depth+1), 0 // members so far, of each bracket and of all
	for i := 0; i < len(frame); i++ {
		switch frame[i] {
		case '"':
			i = wire.TextEnd(frame, i) - 1
		case '{', '[':
			if open = append(open, 0); len(open)-1 > depth {
				return Errorf(CodeInvalidRequest, "message is nested more than %d levels deep", depth)
			}
		case ':':
			open[len(open)-1]++
			if total++; total > members {
				return Errorf(CodeInvalidRequest, "message has objects with more than %d members", members)
			}
		case '}', ']':
			if len(open) > 1 {
				total -= open[len(open)-1]
				open = open[:len(open)-1]
			}
		}
	}
	return nil
}
