package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/plain"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Tool is the tool that is in the list of a server in place of all others, as long as the
// user has not logged in there: models can call it, and users see that there is more.
const Tool = "log_in"

// waiting is how long a call waits for a user who has agreed to log in, before they are
// asked again. Many clients wait for a minute.
const waiting = 45 * time.Second

// Serve serves an exchange by next, if its user has logged in at the server; otherwise it
// sends them there, in the way that their client has for that.
//
// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
// Spec: 2026-07-28 client/elicitation#url-mode-elicitation-requests.
func (u *Users) Serve(ctx context.Context, x *mcp.Exchange, next mcp.ServeFunc) (any, error) {
	one, err := u.of(x.Peer.Principal)
	if err != nil {
		return nil, err
	}
	x, answer := take(x, u.key())
	for asked := false; ; asked = true {
		if one.ready(ctx) {
			if one.isOffer(x) {
				return text(fmt.Sprintf("You are logged in at %s. List the tools again.", u.opts.Backend), false)
			}
			result, err := next(ctx, x)
			if !errors.Is(err, errNeeded) {
				one.listed(x, result)
				return result, err
			}
		}
		if asked || !one.returns(ctx, x, answer) {
			return one.send(x, answer)
		}
	}
}

// key names the question.
func (u *Users) key() string { return "log in at " + u.opts.Backend }

// take takes the answer to a question out of an exchange.
func take(x *mcp.Exchange, key string) (*mcp.Exchange, json.RawMessage) {
	answer, ok := x.Answers[key]
	if !ok {
		return x, nil
	}
	own := *x
	own.Answers = maps.Clone(x.Answers)
	if delete(own.Answers, key); len(own.Answers) == 0 {
		own.Answers = nil
	}
	return &own, answer
}

// action is what the user has answered.
func action(answer json.RawMessage) string {
	s, _ := wire.Text(wire.Find(answer, "action"))
	return s
}

// returns waits for a user who has agreed to log in, and reports whether they have.
func (u *user) returns(ctx context.Context, x *mcp.Exchange, answer json.RawMessage) bool {
	if x.ID.IsZero() || action(answer) != mcp.ActionAccept {
		return false
	}
	v := u.opts.Desk.open(u)
	if v == nil {
		return false
	}
	timer := time.NewTimer(waiting)
	defer timer.Stop()
	select {
	case <-v.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// send sends a user to log in.
func (u *user) send(x *mcp.Exchange, answer json.RawMessage) (any, error) {
	switch {
	case x.ID.IsZero():
		return nil, nil //nolint:nilnil // a notification has no result
	case x.Method == mcp.MethodListTools:
		return u.offer(), nil
	case x.Watch != nil, mcp.MethodNamed(x.Method) != nil && mcp.MethodNamed(x.Method).List:
		return nil, plain.Errorf(errNeeded, "the tool %s__%s is for that", u.opts.Backend, Tool)
	case answer != nil && action(answer) != mcp.ActionAccept:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the user did not want to log in at " + u.opts.Backend}
	}
	v, err := u.opts.Desk.visit(u)
	if err != nil {
		return nil, fmt.Errorf("%w %q, but cannot: %w", errNeeded, u.opts.Backend, err)
	}
	message := fmt.Sprintf("Log in at %s (%s), so that the gateway can use it for you.", u.opts.Backend, u.owner.origin())
	if x.Peer.Capabilities.Elicitation.URLs() {
		v.tells(x)
		return nil, &mcp.InputRequired{VisitFirst: true, Requests: []mcp.InputRequest{{
			Key: u.key(), Method: mcp.MethodElicit,
			Params: &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: message, URL: v.url(), ElicitationID: v.id},
		}}}
	}
	message += " Open this address in a browser, and then try again: " + v.url()
	if x.Method == mcp.MethodCallTool {
		return text(message, true)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: message}
}

// offer is the list of tools for somebody who has not logged in.
func (u *user) offer() json.RawMessage {
	raw, err := wire.Marshal(map[string]any{
		"tools": []any{map[string]any{
			"name": Tool, "title": "Log in at " + u.opts.Backend,
			"description": fmt.Sprintf("Has the user log in at %s (%s). Its own tools are listed once they have.", u.opts.Backend, u.owner.origin()),
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{}, "additionalProperties": false},
			"annotations": map[string]any{"readOnlyHint": true},
		}},
		"ttlMs": 0, "cacheScope": mcp.CachePrivate,
	})
	if err != nil { // all of it is here
		return json.RawMessage(`{"tools":[]}`)
	}
	return raw
}

// listed notes whether the server has a tool of that name itself.
func (u *user) listed(x *mcp.Exchange, result any) {
	raw, ok := result.(json.RawMessage)
	if x.Method != mcp.MethodListTools || !ok {
		return
	}
	var list struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := wire.Unmarshal(raw, &list); err != nil {
		return // whoever reads the list says so
	}
	for _, tool := range list.Tools {
		if tool.Name == Tool {
			u.has.Store(true)
		}
	}
}

// isOffer reports whether a call is of the tool that is offered in place of others.
func (u *user) isOffer(x *mcp.Exchange) bool {
	return x.Method == mcp.MethodCallTool && wire.Is(wire.Find(x.Params, "name"), Tool) && !u.has.Load()
}

// text is the result of a tool.
func text(s string, failed bool) (any, error) {
	raw, err := wire.Marshal(&mcp.CallToolResult{Content: mcp.Contents{mcp.Text(s)}, IsError: failed})
	return json.RawMessage(raw), err
}
