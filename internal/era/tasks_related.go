package era

import (
	"context"
	"encoding/json"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// relatedMeta is the member of _meta that names a task.
//
// Spec: 2025-11-25 basic/utilities/tasks#related-task-metadata.
func relatedMeta(id string) json.RawMessage {
	return append(wire.AppendText([]byte(`{"taskId":`), id), '}')
}

// relatedTo returns the ID of the server's task that a question belongs to, which its
// answer then names as well; "" if there is none. Requests that are about a task name it
// in their params.
//
// Spec: 2025-11-25 basic/utilities/tasks#associating-task-related-messages (1).
func relatedTo(m *jsonrpc.Message, facts *revision.Facts) string {
	if d := mcp.MethodNamed(m.Method); d == nil || !facts.Tasks || isTaskMethod(d) {
		return ""
	}
	return related.Named(wire.Find(m.Params, "_meta"))
}

// withRelated returns the params of a message, or a result, that belongs to a task:
// they name it in their _meta. v is a value with a JSON form, which is not changed.
func withRelated(v any, id string) (json.RawMessage, error) {
	if v == nil {
		v = noParams
	}
	doc, err := wire.Append(nil, v)
	if err != nil {
		return nil, err
	}
	meta := json.RawMessage(wire.Find(doc, "_meta"))
	if !isObject(meta) {
		meta = json.RawMessage("{}")
	}
	if meta, err = wire.Set(meta, mcp.MetaRelatedTask, relatedMeta(id)); err != nil {
		return nil, err
	}
	return wire.Set(doc, "_meta", meta)
}

// notifyTask sends a notification that belongs to a task: on the stream of the
// exchange, or on the standing stream once that is over. The progress token of the
// request that made the task stays valid.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-progress-notifications.
func (b *sessionBack) notifyTask(ctx context.Context, method string, params any, id string) error {
	if b.unknown(method) {
		return nil
	}
	if raw, ok := params.(json.RawMessage); ok {
		passed, wanted, err := relayed(b, method, raw, b.token, b.facts)
		if err != nil || !wanted {
			b.seen.Drop(mcp.Sent, mcp.DropNotWanted, method, err)
			return err
		}
		params = passed
	}
	named, err := withRelated(shapeParams(params, b.facts), id)
	if err != nil {
		b.seen.Drop(mcp.Sent, mcp.DropNoForm, method, err)
		return err
	}
	if b.ended() {
		return b.session.Notify(ctx, method, named)
	}
	return b.notify(ctx, method, named)
}
