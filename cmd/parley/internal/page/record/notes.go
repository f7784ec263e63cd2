package record

import (
	"hash/maphash"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// note is what a message says about the exchange that it belongs to. It keeps no part
// of the frame.
type note struct {
	kind    Kind
	method  string
	id      string // JSON text
	subject string
	// token is the progress token that a request gives or a notification names, and
	// target the request that a cancellation names, as JSON text.
	token, target string
	// state identifies the requestState that a result asks for or a request brings.
	state uint64
	// input says that a result asks for input, or that a request brings some.
	input bool
	// task is the task that a result creates or a message is about.
	task string
	// subscription is the ID of the request that opened a notification's subscription.
	subscription string
	code         int64 // of an error
	// print identifies a request without its ID and _meta.
	print uint64
}

// decoder takes whatever the transports take.
var decoder = jsonrpc.Decoder{MaxBytes: 1 << 30, MaxBatch: 1 << 20}

// notesOf reads a frame. What cannot be read is one note of the kind Malformed.
func notesOf(frame []byte) []note {
	if len(frame) == 0 {
		return nil
	}
	if !jsonrpc.IsBatch(frame) {
		m, err := decoder.Decode(frame)
		return []note{noteOf(m, err)}
	}
	entries, err := decoder.DecodeBatch(frame)
	if err != nil {
		return []note{{kind: Malformed}}
	}
	notes := make([]note, len(entries))
	for i, e := range entries {
		notes[i] = noteOf(e.Message, e.Err)
	}
	return notes
}

func noteOf(m *jsonrpc.Message, err error) note {
	if m == nil || err != nil {
		return note{kind: Malformed}
	}
	n := note{id: short(m.ID.String()), method: short(m.Method)}
	switch {
	case m.Kind == jsonrpc.Request:
		n.kind = Request
		n.ask(m)
	case m.Kind == jsonrpc.Notification:
		n.kind = Notification
		n.notify(m)
	case m.Error != nil:
		n.kind, n.code = Failure, m.Error.Code
	default:
		n.kind = Result
		n.answer(m)
	}
	if n.task == "" {
		n.task = short(related.Named(m.Meta))
	}
	return n
}

var seed = maphash.MakeSeed()

func digest(parts ...[]byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, part := range parts {
		_, _ = h.Write(part) // never fails
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

func (n *note) ask(m *jsonrpc.Message) {
	n.token = short(string(wire.Find(m.Meta, mcp.MetaProgressToken)))
	n.print = digest([]byte(m.Method), wire.Except(m.Params, "_meta"))
	if state := wire.Find(m.Params, "requestState"); state != nil {
		n.state = digest(state)
	}
	n.input = wire.Find(m.Params, "inputResponses") != nil
	known := mcp.MethodNamed(m.Method)
	if known == nil || known.Subject == "" {
		return
	}
	subject, _ := wire.Text(wire.Find(m.Params, known.Subject))
	n.subject = short(subject)
	if known.Feature == mcp.TaskFeature {
		n.task = n.subject
	}
}

func (n *note) notify(m *jsonrpc.Message) {
	n.subscription = short(string(wire.Find(m.Meta, mcp.MetaSubscriptionID)))
	switch m.Method {
	case mcp.NoteProgress:
		n.token = short(string(wire.Find(m.Params, mcp.MetaProgressToken)))
	case mcp.NoteCancelled:
		n.target = short(string(wire.Find(m.Params, "requestId")))
	case mcp.NoteTask, mcp.NoteTaskStatus:
		task, _ := wire.Text(wire.Find(m.Params, "taskId"))
		n.task = short(task)
	}
}

func (n *note) answer(m *jsonrpc.Message) {
	n.input = wire.Is(wire.Find(m.Result, "resultType"), mcp.ResultInputRequired)
	if n.input {
		n.state = digest(wire.Find(m.Result, "requestState"))
	}
	id, _ := wire.Text(wire.Find(wire.Find(m.Result, "task"), "taskId")) // Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
	if related.IsTask(m.Result) {
		id, _ = wire.Text(wire.Find(m.Result, "taskId"))
	}
	n.task = short(id)
}
