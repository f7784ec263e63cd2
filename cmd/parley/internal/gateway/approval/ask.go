package approval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Those by whom something is decided, if nothing more is known of them.
const (
	TheClient   = "the person at the client"
	TheOperator = "the operator"
)

// ask asks for approval. Two calls that are the same are asked about on their own: each
// is one that is made.
func (c *call) ask(ctx context.Context) (*guard.Approval, error) {
	client := c.r.Ask.client() && c.x.Peer.Capabilities.Elicitation.Forms()
	if !client && !c.r.Ask.operator() {
		return nil, c.turnedAway("your client cannot ask you: it has not declared the capability elicitation; use one that has, or let the operator answer, with \"ask: both\" in the gateway's configuration")
	}
	p, err := c.g.desk.file(c.r, c.g.opts.Wait)
	if err != nil {
		return nil, c.turnedAway(err.Error())
	}
	if client && revision.Of(c.x.Peer.Revision).Stateless {
		return nil, c.comeBack(p)
	}
	return c.wait(ctx, p, client)
}

// turnedAway refuses a call that nobody can be asked about.
func (c *call) turnedAway(why string) error {
	c.g.desk.turnAway(c.r, why)
	return c.refused(why)
}

// wait waits until somebody has decided about a request.
func (c *call) wait(ctx context.Context, p *pending, client bool) (*guard.Approval, error) {
	c.waited = true
	c.op.Approval = p.note()
	asking, stop := context.WithCancel(ctx)
	answers := make(chan answer, 1)
	if client {
		go func() { answers <- c.elicit(asking, p) }() // ends with asking
	} else {
		answers = nil
	}
	ended := func() {
		stop()
		if answers != nil {
			<-answers
		}
	}
	news := newNews(c.x)
	defer news.stop()
	if !client {
		news.tell(ctx, c.waiting(p))
	}
	for {
		select {
		case <-p.decided:
			ended()
			return c.verdict(p)
		case <-ctx.Done():
			ended()
			c.g.desk.leave(p)
			return nil, context.Cause(ctx)
		case <-news.due:
			news.tell(ctx, c.waiting(p))
		case a := <-answers:
			answers = nil
			c.take(p, a)
		}
	}
}

// waiting is what the client is told while a request waits.
func (c *call) waiting(p *pending) string {
	text := "waiting for approval"
	if c.r.Ask.operator() {
		text += fmt.Sprintf("; the operator can answer with \"parley gateway approvals allow %s %s\"", cmp.Or(c.g.opts.File, "FILE"), p.ID)
	}
	return text
}

// answer is what has come of asking the person at the client.
type answer struct {
	raw json.RawMessage
	err error
}

func (c *call) elicit(ctx context.Context, p *pending) answer {
	raws, err := c.x.Back.Input(ctx, c.question(p))
	if err != nil {
		return answer{err: err}
	}
	return answer{raw: raws[0]}
}

// comeBack returns the error that asks a client without a session to come back with the
// answer of its person.
func (c *call) comeBack(p *pending) error {
	c.op.Approval = p.note()
	state, err := c.g.desk.hand(&ticket{key: c.r.call, owner: ownerOf(&c.x.Peer), asked: p}, time.Until(p.Until), c.x.State)
	if err != nil {
		c.g.desk.leave(p)
		return err
	}
	return &mcp.InputRequired{Requests: []mcp.InputRequest{c.question(p)}, State: state}
}

// answered goes on with a client that has come back. What the operator has decided in the
// meantime holds, except that the person at the client can still say no.
func (c *call) answered(ctx context.Context, p *pending) (*guard.Approval, error) {
	raw, ok := c.op.Exchange.Answers[questionKey+p.ID]
	switch {
	case !p.isDecided() && !c.r.Ask.client(): // not any more
		return c.wait(ctx, p, false)
	case !p.isDecided() && (!ok || len(raw) == 0 || raw[0] != '{'):
		return nil, c.comeBack(p)
	case !p.isDecided():
		c.take(p, answer{raw: raw})
		return c.wait(ctx, p, false)
	}
	if choice, err := c.g.desk.read(raw); ok && p.verdict.allowed && err == nil && choice.denied {
		c.op.Approval = c.g.desk.overrule(p)
		return nil, c.refused(TheClient + " has declined")
	}
	return c.verdict(p)
}

// take decides about a request by what the person at the client has answered. If that is
// nothing, it is up to the operator.
func (c *call) take(p *pending, a answer) {
	desk, reason := c.g.desk, ""
	choice, err := choice{}, a.err
	if err == nil {
		choice, err = desk.read(a.raw)
	}
	switch {
	case err == nil && choice.made && !choice.denied:
		if err = desk.allowAs(AskClient, p.ID, choice.terms, TheClient); err == nil || errors.Is(err, ErrUnknown) {
			return
		}
		reason = err.Error()
	case err == nil && choice.denied:
		reason = "declined"
	case c.r.Ask.operator():
		return
	case err != nil:
		reason = "the client has not brought an answer: " + err.Error()
	default:
		reason = "no choice was made"
	}
	_ = desk.Deny(p.ID, reason, TheClient) // it may have been decided meanwhile
}

// verdict says what was decided, and takes the request off the desk.
func (c *call) verdict(p *pending) (*guard.Approval, error) {
	c.g.desk.leave(p)
	v := p.verdict
	c.op.Approval = p.note()
	switch {
	case v.allowed:
		return c.op.Approval, nil
	case v.by == "":
		return nil, c.refused(v.reason)
	}
	if v.reason == "" {
		v.reason = "no reason was given"
	}
	return nil, c.refused(v.by + " has not approved it: " + v.reason)
}

// deniedError says that no human has approved an operation.
type deniedError struct{ text string }

func (e *deniedError) Error() string { return e.text }

func (c *call) refused(why string) error {
	if c.op.Approval == nil {
		c.op.Approval = &guard.Approval{Decision: string(Refused)}
	}
	c.op.Approval.Reason = why
	return &deniedError{c.op.Method.Name + " of " + cmp.Or(c.op.Shown, c.op.Backend) + " needs the approval of a human, and is denied: " + why}
}

// answer is what the client gets for a call that is denied. Of a tool that is a result:
// models learn what results say, and errors may be kept from them.
//
// Spec: 2026-07-28 server/tools#error-handling.
func (e *deniedError) answer(x *mcp.Exchange) (any, error) {
	if x.Method == mcp.MethodCallTool && (x.Task == nil || !x.Task.Demanded) {
		return mcp.ToolError("%s", e.text), nil
	}
	return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%s", e.text)
}
