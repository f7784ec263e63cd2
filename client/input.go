package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/rates"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
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
	if err := a.rules().Meta(r.Meta); err != nil {
		return nil, noAnswer(mcp.MethodElicit, err)
	}
	return CheckForm(p, r)
}

// rules are those for what the application gives the client to send.
func (a *answers) rules() content.Rules {
	return content.Rules{Extensions: a.self.Capabilities.Extensions}
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
		return &mcp.ElicitResult{Action: r.Action}, nil
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
	return &mcp.ElicitResult{Action: r.Action, Content: content}, nil
}

// Sample runs a model.
//
// Spec: 2026-07-28 client/sampling#creating-messages.
func (a *answers) Sample(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	defer a.asked(ctx)()
	if a.opts.Sample == nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found: %s", mcp.MethodSample)
	}
	// An empty list of tools is one.
	// Spec: 2025-11-25 client/sampling#tools-in-sampling.
	if (p.Tools != nil || p.ToolChoice != nil) && !a.opts.SampleTools {
		return nil, mcp.InvalidParams("sampling with tools was not declared by this client")
	}
	if err := underRate(a.samples, "requests for sampling"); err != nil {
		return nil, err
	}
	if err := checkTools(p.Messages); err != nil {
		return nil, err
	}
	r, err := a.opts.Sample(ctx, p)
	if err != nil || r == nil {
		return nil, noAnswer(mcp.MethodSample, err)
	}
	if len(r.Content) == 0 {
		return nil, noAnswer(mcp.MethodSample, errors.New("the model's answer has no content"))
	}
	if err := a.checkSampled(r); err != nil {
		return nil, noAnswer(mcp.MethodSample, err)
	}
	return r, nil
}

// checkSampled checks what is about to be sent.
//
// Spec: 2026-07-28 client/sampling#result-fields.
func (a *answers) checkSampled(r *mcp.CreateMessageResult) error {
	if r.Role != "" && r.Role != mcp.RoleUser && r.Role != mcp.RoleAssistant {
		return fmt.Errorf("the role %.100q of the model's answer is neither %q nor %q", string(r.Role), mcp.RoleAssistant, mcp.RoleUser)
	}
	if err := a.rules().Blocks(r.Content); err != nil {
		return err
	}
	return a.rules().Meta(r.Meta)
}

// The defaults of the rates in Options. Both allow one round with as many questions as
// a server may ask at once.
var (
	defaultElicitRate = mcp.Rate{PerSecond: 2, Burst: 256}
	defaultSampleRate = mcp.Rate{PerSecond: 5, Burst: 256}
)

// underRate counts a question, and returns the error for one that is over the rate.
//
// Spec: 2025-11-25 client/sampling#security-considerations.
// Spec: 2025-11-25 client/elicitation#security-considerations.
func underRate(bound *rates.Keyed[struct{}], what string) error {
	wait := bound.Take(struct{}{})
	if wait == 0 {
		return nil
	}
	return fmt.Errorf("too many %s: this client answers %g a second; the next in %v", what, bound.PerSecond(), (wait + time.Millisecond - 1).Truncate(time.Millisecond))
}

// checkTools refuses a conversation in which a message does not hold exactly
// the results of the tools that the message before it uses.
//
// Spec: 2025-11-25 client/sampling#error-handling.
func checkTools(messages []*mcp.SamplingMessage) error {
	open := map[string]bool{}
	for i, m := range messages {
		if m == nil {
			return mcp.InvalidParams("messages[%d] is null", i)
		}
		results, uses := 0, map[string]bool{}
		for _, block := range m.Content {
			switch block := block.(type) {
			case *mcp.ToolResultContent:
				if !open[block.ToolUseID] {
					return mcp.InvalidParams("messages[%d]: nothing asked for the tool result %q", i, block.ToolUseID)
				}
				delete(open, block.ToolUseID)
				results++
			case *mcp.ToolUseContent:
				uses[block.ID] = true
			}
		}
		if results > 0 && results != len(m.Content) {
			return mcp.InvalidParams("messages[%d]: tool results mixed with other content", i)
		}
		if len(open) > 0 {
			return mcp.InvalidParams("messages[%d]: tool result missing in request", i)
		}
		open = uses
	}
	if len(open) > 0 {
		return mcp.InvalidParams("tool result missing in request")
	}
	return nil
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

// visits tracks which URL elicitations of 2025-11-25 are over.
type visits struct {
	mu   sync.Mutex
	over map[string]chan struct{}
}

// maxVisits bounds what a server can make the client remember.
const maxVisits = 256

// of returns the channel that is closed when a visit is over.
func (v *visits) of(id string) chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	ch, ok := v.over[id]
	if !ok {
		ch = make(chan struct{})
		if v.over == nil || len(v.over) >= maxVisits {
			v.over = make(map[string]chan struct{})
		}
		v.over[id] = ch
	}
	return ch
}

func (v *visits) forget(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.over, id)
}

// complete ignores identifiers that nobody waits for.
//
// Spec: 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation.
func (v *visits) complete(m *jsonrpc.Message) mcp.DropReason {
	var p mcp.ElicitCompleteParams
	if wire.Unmarshal(m.Params, &p) != nil {
		return mcp.DropMalformed
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	ch, ok := v.over[p.ElicitationID]
	if !ok {
		return mcp.DropNoCall
	}
	select {
	case <-ch: // it was over already
		return mcp.DropRepeated
	default:
		close(ch)
	}
	return 0
}

// Visited waits until the server says that a visit is over, for at most
// Options.MaxTimeout.
func (a *answers) Visited(ctx context.Context, id string) error {
	defer a.thinking()()
	defer a.visits.forget(id)
	if a.opts.MaxTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, a.opts.MaxTimeout, ErrTimeout)
		defer cancel()
	}
	select {
	case <-a.visits.of(id):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
