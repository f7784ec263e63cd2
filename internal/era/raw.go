package era

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parley-mcp/parley/internal/question"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// What a handler or an answerer passes on from somebody else is raw JSON. It is
// shaped like everything else; unknown members, and the text of members that need
// no change, stay as they are.

// lowerRawQuestion is lowerQuestion for raw params. Params that cannot be read stay
// as they are; question.Missing refuses them.
func lowerRawQuestion(q mcp.InputRequest, raw json.RawMessage, f *revision.Facts, c *mcp.ClientCapabilities) mcp.InputRequest {
	checked, err := wire.Marshal(raw)
	if err != nil {
		return q
	}
	typed, err := question.Decode(q)
	if err != nil {
		return q
	}
	bare := withoutReserved(checked)
	if _, same := typed.Params.(json.RawMessage); same { // roots
		q.Params = noParams
		if isObject(bare) {
			q.Params = bare
		}
		return q
	}
	lowered := lowerQuestion(typed, f, c)
	out, err := patch(bare, typed.Params, lowered.Params)
	if err == nil && !f.SamplingTools && holdsLists(bare) {
		out, err = replace(out, "messages", lowered.Params)
	}
	if err != nil {
		return lowered
	}
	q.Params = out
	return q
}

// holdsLists reports whether the content of a message is a list, even of a single
// block. Revisions without sampling tools have no such lists.
func holdsLists(params json.RawMessage) bool {
	var p struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if wire.Unmarshal(params, &p) != nil {
		return false
	}
	for _, m := range p.Messages {
		if len(m.Content) > 0 && m.Content[0] == '[' {
			return true
		}
	}
	return false
}

// shapeRawAnswer is shapeAnswer for an answer that is JSON already.
func shapeRawAnswer(method string, answer json.RawMessage, f *revision.Facts) (json.RawMessage, error) {
	typed := mcp.MethodNamed(method).NewResult()
	if !isObject(answer) {
		return nil, fmt.Errorf("the answer to %s: %w", method, wire.ErrNotObject)
	}
	if err := wire.Unmarshal(answer, typed); err != nil {
		return nil, fmt.Errorf("the answer to %s: %w", method, err)
	}
	if r, ok := typed.(*mcp.ListRootsResult); ok && slices.Contains(r.Roots, nil) {
		return nil, fmt.Errorf("the answer to %s: roots must not hold null", method)
	}
	shaped := shapeAnswer(typed, f)
	out, err := patch(withoutReserved(answer), typed, shaped)
	if content := wire.Find(answer, "content"); err == nil && !f.SamplingTools && method == mcp.MethodSample && len(content) > 0 && content[0] == '[' {
		out, err = replace(out, "content", shaped)
	}
	return out, err
}

// patch applies to raw the changes from before, which was decoded from it, to
// after.
func patch(raw json.RawMessage, before, after any) (json.RawMessage, error) {
	was, err := wire.Marshal(before)
	if err != nil {
		return nil, err
	}
	is, err := wire.Append(nil, after)
	if err != nil {
		return nil, err
	}
	return wire.Merge(raw, was, is)
}

// replace copies one member of a value into raw.
func replace(raw json.RawMessage, name string, from any) (json.RawMessage, error) {
	doc, err := wire.Marshal(from)
	if err != nil {
		return nil, err
	}
	return wire.Set(raw, name, wire.Find(doc, name))
}

// relayed returns the params of a notification that a handler passes on to the
// client of an exchange. Progress gets that client's token. ok is false for a
// notification that the client has not asked for.
//
// Spec: 2026-07-28 basic/patterns/progress#progress-flow.
// Spec: 2026-07-28 server/utilities/logging#per-request-log-level.
func relayed(back mcp.Backchannel, method string, params json.RawMessage, token mcp.ProgressToken, f *revision.Facts) (_ json.RawMessage, ok bool, err error) {
	params = withoutReserved(params)
	switch method {
	case mcp.NoteProgress:
		if token.IsZero() {
			return nil, false, nil
		}
		if !f.ProgressMessage {
			if params, err = wire.Without(params, "message"); err != nil {
				return nil, false, fmt.Errorf("%s: params: %w", method, err)
			}
		}
		params, err = wire.Set(params, "progressToken", json.RawMessage(token.String()))
	case mcp.NoteMessage:
		var p struct {
			Level mcp.LoggingLevel `json:"level"`
		}
		err = wire.Unmarshal(params, &p)
		if err == nil && !back.LogEnabled(p.Level) {
			return nil, false, nil
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: params: %w", method, err)
	}
	return params, true, nil
}

// relay is Backchannel.Notify for raw params.
func (p *returnPath) relay(ctx context.Context, back mcp.Backchannel, method string, params json.RawMessage) error {
	if p.unknown(method) {
		return nil
	}
	checked, err := wire.Marshal(params)
	if err != nil {
		p.seen.Drop(mcp.Sent, mcp.DropNoForm, method, err)
		return fmt.Errorf("%s: params: %w", method, err)
	}
	params, ok, err := relayed(back, method, checked, p.token, p.facts)
	switch {
	case err != nil:
		p.seen.Drop(mcp.Sent, mcp.DropNoForm, method, err)
		return err
	case !ok:
		p.seen.Drop(mcp.Sent, mcp.DropNotWanted, method, nil)
		return nil
	}
	return p.message(ctx, &jsonrpc.Message{Kind: jsonrpc.Notification, Method: method, Params: params})
}
