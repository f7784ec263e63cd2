package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// answers answers what servers ask, in either era, through the functions of
// Options.
type answers Client

var _ era.Answerer = (*answers)(nil)

// thinking stops the clock of calls until done is called.
func (a *answers) thinking() (done func()) {
	a.asking.Add(1)
	return func() {
		a.answered.Store(time.Now().UnixNano())
		a.asking.Add(-1)
	}
}

// asked is thinking for a question. It returns when all notifications that came
// before the question have been delivered to its call.
func (a *answers) asked(ctx context.Context) (done func()) {
	done = a.thinking()
	if call, _ := callIn(ctx); call != nil && call.notes != nil {
		call.notes.settle(ctx)
	}
	return done
}

// Raw answers any question in its raw form, through Options.Answer.
func (a *answers) Raw(ctx context.Context, method string, params json.RawMessage) (answer json.RawMessage, ok bool, err error) {
	if a.opts.Answer == nil {
		return nil, false, nil
	}
	defer a.asked(ctx)()
	answer, err = a.opts.Answer(ctx, method, params)
	if err == nil && answer == nil {
		err = noAnswer(method, nil)
	}
	return answer, true, err
}

// visitRaw answers a request to visit a URL that came in an error.
func (a *answers) visitRaw(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if err := checkVisit(p.URL); err != nil {
		return nil, err
	}
	params, err := wire.Marshal(p)
	if err != nil {
		return nil, err
	}
	answer, err := a.opts.Answer(ctx, mcp.MethodElicit, params)
	if err != nil {
		return nil, noAnswer(mcp.MethodElicit, err)
	}
	r := new(mcp.ElicitResult)
	if err := wire.Unmarshal(answer, r); err != nil {
		return nil, noAnswer(mcp.MethodElicit, err)
	}
	return &mcp.ElicitResult{Action: r.Action}, nil
}

// Elicit asks the user. An answer that does not fit the form is not sent.
//
// Spec: 2026-07-28 client/elicitation#form-mode-elicitation-requests.
func (a *answers) Elicit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	defer a.asked(ctx)()
	if a.opts.Answer == nil {
		if err := underRate(a.elicits, "elicitations"); err != nil {
			return nil, err
		}
	}
	switch {
	case p.Mode == mcp.ElicitURL && a.opts.Answer != nil:
		a.visits.of(p.ElicitationID) // the visit may be over before anybody waits
		return a.visitRaw(ctx, p)
	case p.Mode == mcp.ElicitURL && a.opts.VisitURL != nil:
		if err := checkVisit(p.URL); err != nil {
			return nil, err
		}
		a.visits.of(p.ElicitationID) // the visit may be over before anybody waits
		r, err := a.opts.VisitURL(ctx, p)
		if err != nil || r == nil {
			return nil, noAnswer(mcp.MethodElicit, err)
		}
		return &mcp.ElicitResult{Action: r.Action}, nil
	case (p.Mode == "" || p.Mode == mcp.ElicitForm) && a.opts.Elicit != nil:
		return a.fillIn(ctx, p)
	}
	// Spec: 2025-11-25 client/elicitation#error-handling.
	return nil, mcp.InvalidParams("elicitation mode %q was not declared by this client", p.Mode)
}

// fillIn has the user fill in a form. One that cannot be understood, for example
// because of the dialect of its schema, is not shown.
//
// Spec: 2025-11-25 basic#implementation-requirements.
func (a *answers) fillIn(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if p.RequestedSchema != nil {
		if _, err := schema.Compile(p.RequestedSchema); err != nil {
			return nil, mcp.InvalidParams("the server's form: %v", err)
		}
	}
	r, err := a.opts.Elicit(ctx, p)
	if err != nil || r == nil {
		return nil, noAnswer(mcp.MethodElicit, err)
	}
	if err := a.rules.Meta(r.Meta); err != nil {
		return nil, noAnswer(mcp.MethodElicit, err)
	}
	return CheckForm(p, r)
}

// checkVisit refuses URLs other than http and https: a server must not make a
// browser run a script or open a file.
//
// Spec: 2026-07-28 client/elicitation#url-mode-elicitation-requests.
func checkVisit(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return mcp.InvalidParams("elicitation: %q is not an http or https URL", address)
	}
	return nil
}

func noAnswer(method string, err error) error {
	if err == nil {
		err = fmt.Errorf("the client gave no answer")
	}
	return fmt.Errorf("%s: %w", method, err)
}

// CheckForm returns an answer to a form with the form's defaults filled in,
// or an error that names the fields that do not fit. Answers that are not
// accepted have no content.
func CheckForm(p *mcp.ElicitParams, r *mcp.ElicitResult) (*mcp.ElicitResult, error) {
	switch r.Action {
	case mcp.ActionDecline, mcp.ActionCancel:
		return &mcp.ElicitResult{Meta: r.Meta, Action: r.Action}, nil
	case mcp.ActionAccept:
	default:
		return nil, fmt.Errorf("%q is not an answer to an elicitation: it is accept, decline or cancel", r.Action)
	}
	form, err := schema.Compile(p.RequestedSchema)
	if err != nil {
		return nil, fmt.Errorf("the server's form: %w", err)
	}
	content := r.Content
	if content == nil {
		content = json.RawMessage("{}")
	}
	if content, err = form.WithDefaults(content); err != nil {
		return nil, err
	}
	if err := form.Validate(content); err != nil {
		return nil, err
	}
	return &mcp.ElicitResult{Meta: r.Meta, Action: r.Action, Content: content}, nil
}

// Notify sends a notification. params must encode to a JSON object, or be nil;
// their _meta is treated as Do treats it.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	l, err := c.connected(ctx)
	if err != nil {
		return err
	}
	o := &era.Outgoing{Method: method}
	if o.Params, o.Meta, err = unwrap(method, params); err != nil {
		return err
	}
	if l.session != nil {
		return l.session.Notify(ctx, o)
	}
	return l.stateless.Notify(ctx, o)
}
