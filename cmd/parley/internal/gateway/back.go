package gateway

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// back is the way from a backend to a client: what names something on the way names it
// as clients do.
type back struct {
	mcp.Backchannel

	names *naming.Backend
}

// Notify implements mcp.Backchannel.
func (b *back) Notify(ctx context.Context, method string, params any) error {
	if raw, ok := params.(json.RawMessage); ok {
		params = json.RawMessage(b.names.Note(method, raw))
	}
	if id := related.Task(ctx); id != "" {
		ctx = related.To(ctx, b.names.Shown(mcp.TaskFeature, id))
	}
	return b.Backchannel.Notify(ctx, method, params)
}

// Input implements mcp.Backchannel.
func (b *back) Input(ctx context.Context, questions ...mcp.InputRequest) ([]json.RawMessage, error) {
	shown := make([]mcp.InputRequest, len(questions))
	for i, q := range questions {
		shown[i] = question(b.names, q)
	}
	answers, err := b.Backchannel.Input(ctx, shown...)
	if err != nil {
		return nil, err
	}
	own := make([]json.RawMessage, len(answers))
	for i, a := range answers {
		own[i] = b.names.Answer(a)
	}
	return own, nil
}

// question returns a question as clients see it.
func question(names *naming.Backend, q mcp.InputRequest) mcp.InputRequest {
	if raw, ok := q.Params.(json.RawMessage); ok {
		q.Params = json.RawMessage(names.Question(q.Method, raw))
	}
	if q.Task != "" {
		q.Task = names.Shown(mcp.TaskFeature, q.Task)
	}
	return q
}

// behind returns an exchange as a backend gets it, with these params.
func behind(x *mcp.Exchange, names *naming.Backend, params json.RawMessage) *mcp.Exchange {
	own := *x
	own.Params = params
	own.Meta = wire.Find(params, "_meta")
	own.Back = &back{x.Back, names}
	if x.Answers != nil {
		own.Answers = make(map[string]json.RawMessage, len(x.Answers))
		for key, a := range x.Answers {
			own.Answers[key] = names.Answer(a)
		}
	}
	return &own
}

// failure returns an error of a backend as clients see it.
func failure(names *naming.Backend, err error) error {
	ask, ok := errors.AsType[*mcp.InputRequired](err)
	if !ok {
		return names.Failure(err)
	}
	shown := *ask
	shown.Requests = make([]mcp.InputRequest, len(ask.Requests))
	for i, q := range ask.Requests {
		shown.Requests[i] = question(names, q)
	}
	return &shown
}
