package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// prepare declares that there is somebody to ask.
func (questionPart) prepare(c *Connection, o *client.Options) {
	q := partOf[questions](c)
	o.Elicit = func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return asked[mcp.ElicitResult](q.ask(ctx, c, kindForm, p, fitForm(p)))
	}
	o.VisitURL = func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return asked[mcp.ElicitResult](q.ask(ctx, c, kindURL, p, fitVisit))
	}
	o.Sample = func(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
		return asked[mcp.CreateMessageResult](q.ask(ctx, c, kindSampling, p, fitSample))
	}
	o.SampleTools = true
}

func asked[R any](result any, err error) (*R, error) {
	r, _ := result.(*R)
	return r, err
}

// fitForm returns what makes a reply to a form: its content is checked by the schema that
// the server asked by, and gets its defaults.
func fitForm(p *mcp.ElicitParams) fitting {
	return func(a *given) (reply, error) {
		if a.Result != nil {
			return reply{}, misplaced("result", "an answer to sampling")
		}
		if a.Action != mcp.ActionAccept && a.Content != nil {
			return reply{}, misplaced("content", "an accepted form")
		}
		r, err := client.CheckForm(p, &mcp.ElicitResult{Action: a.Action, Content: a.Content})
		return reply{result: r}, err
	}
}

// fitVisit makes a reply to a request to visit a URL. Accepting it means that the person
// agreed to go there, not that they were there.
//
// Spec: 2026-07-28 client/elicitation#url-mode-elicitation-requests.
func fitVisit(a *given) (reply, error) {
	switch {
	case a.Content != nil:
		return reply{}, misplaced("content", "an accepted form")
	case a.Result != nil:
		return reply{}, misplaced("result", "an answer to sampling")
	}
	r, err := client.CheckForm(&mcp.ElicitParams{RequestedSchema: anyForm}, &mcp.ElicitResult{Action: a.Action})
	if err == nil {
		r.Content = nil
	}
	return reply{result: r}, err
}

// anyForm is a schema that every object fits.
var anyForm = json.RawMessage(`{"type":"object"}`)

// fitSample makes a reply to a request for sampling. Declining is an error for the server.
//
// Spec: 2025-11-25 client/sampling#error-handling.
func fitSample(a *given) (reply, error) {
	if a.Content != nil {
		return reply{}, misplaced("content", "an accepted form")
	}
	switch a.Action {
	case mcp.ActionDecline, mcp.ActionCancel:
		return reply{err: jsonrpc.Errorf(-1, "User rejected sampling request")}, nil
	case mcp.ActionAccept:
		r, err := sampled(a.Result)
		return reply{result: r}, err
	}
	return reply{}, &web.Error{Status: http.StatusUnprocessableEntity, Code: "unfit", Field: "action", Message: fmt.Sprintf("%q is not an answer: it is accept, decline or cancel", a.Action)}
}

// sampled reads the result of a model.
//
// Spec: 2026-07-28 client/sampling#result-fields.
func sampled(raw json.RawMessage) (*mcp.CreateMessageResult, error) {
	if raw == nil {
		return nil, badResult(errors.New("missing: it is what the model is to have said"))
	}
	r := new(mcp.CreateMessageResult)
	err := wire.Unmarshal(raw, r)
	switch {
	case err != nil:
	case r.Model == "":
		err = errors.New(`"model" is missing: it names the model that answers`)
	default:
		err = client.CheckSample(r)
	}
	if err != nil {
		return nil, badResult(err)
	}
	return r, nil
}

func badResult(err error) *web.Error {
	return &web.Error{Status: http.StatusUnprocessableEntity, Code: "unfit", Field: "result", Message: "result: " + err.Error()}
}

func misplaced(member, belongs string) *web.Error {
	return &web.Error{Status: http.StatusUnprocessableEntity, Code: "unfit", Field: member, Message: fmt.Sprintf("%q belongs to %s only: leave it out", member, belongs)}
}

// unfit says what is wrong with an answer.
func unfit(err error) *web.Error {
	if e, ok := errors.AsType[*web.Error](err); ok {
		return e
	}
	e := &web.Error{Status: http.StatusUnprocessableEntity, Code: "unfit", Field: "content", Message: err.Error()}
	if v, ok := errors.AsType[*schema.ValidationError](err); ok {
		e.Hint = "change the fields that it names: it is not sent as it is"
		if v.Problems[0].Path != "" {
			e.Field = "content." + v.Problems[0].Path
		}
	}
	return e
}
