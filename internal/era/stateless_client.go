package era

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// StatelessClient speaks to servers of revisions from 2026-07-28 on: every request
// says who asks, in which revision, and what the client can do.
type StatelessClient struct {
	Conn      mcp.Conn
	IDs       *IDs
	Revision  mcp.Revision
	Self      Self
	Answers   Answerer
	MaxRounds int
	// ResultTypes are those that the declared extensions define; nil means that they
	// are not known.
	ResultTypes []string

	once   sync.Once
	said   json.RawMessage // what every request says about the client
	tasks  json.RawMessage // said by a request that takes a task
	failed error           // why they cannot be encoded
}

// Call sends a request, and sends it again with the answers to the server's
// questions until there is a result; or it hands the questions over to its caller.
// reusable says that the result is complete and does not depend on any answers.
//
// Spec: 2026-07-28 basic/patterns/mrtr#client-requirements-basic-workflow.
func (c *StatelessClient) Call(ctx context.Context, o *Outgoing) (result json.RawMessage, reusable bool, err error) {
	meta, err := c.meta(o)
	if err != nil {
		return nil, false, err
	}
	params, err := o.first()
	if err != nil {
		return nil, false, err
	}
	for round := 0; ; round++ {
		result, err := c.roundTrip(ctx, o, withMeta(params, meta))
		if err != nil {
			return nil, false, err
		}
		head, err := readHead(o.Method, result)
		if err != nil {
			return nil, false, err
		}
		if !head.is(mcp.ResultInputRequired) {
			return result, round == 0 && !o.Rounds.Resumes() && head.complete(), c.known(o, head.ResultType)
		}
		if err := head.mayAsk(o.Method); err != nil {
			return nil, false, err
		}
		if o.Rounds != nil && o.Rounds.HandOver {
			return nil, false, head.handOver(o.Method)
		}
		if round == c.MaxRounds {
			return nil, false, fmt.Errorf("%s: the server asked for input more than %d times", o.Method, c.MaxRounds)
		}
		if params, err = c.retry(ctx, o, &head); err != nil {
			return nil, false, err
		}
	}
}

// head holds the members of a result that say how to proceed.
type head struct {
	ResultType *string                    `json:"resultType"`
	Requests   map[string]json.RawMessage `json:"inputRequests"`
	State      *string                    `json:"requestState"`
}

// is reports whether a result states this type.
func (h *head) is(kind string) bool { return h.ResultType != nil && *h.ResultType == kind }

// Spec: 2026-07-28 basic#resulttype.
func (h *head) complete() bool { return h.ResultType == nil || *h.ResultType == mcp.ResultComplete }

// mayAsk refuses questions where a server must not ask any, and more than
// maxQuestions at once.
func (h *head) mayAsk(method string) error {
	switch {
	case !mayAsk(method):
		return fmt.Errorf("%s: the server must not ask for input here", method)
	case h.Requests == nil && h.State == nil:
		return fmt.Errorf("%s: the server asked for input without saying what for", method)
	case len(h.Requests) > maxQuestions:
		return fmt.Errorf("%s: the server asked %d questions at once; this client answers at most %d", method, len(h.Requests), maxQuestions)
	}
	return nil
}

// handOver returns the error that hands the questions over to the caller.
func (h *head) handOver(method string) error {
	required, err := h.required()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return required
}

// isComplete reports whether a result, which is valid JSON, is a plain complete one,
// as nearly all are: then its head need not be decoded.
func isComplete(result json.RawMessage) bool {
	for name, value := range wire.Each(result) {
		switch string(name) {
		case "resultType":
			if string(value) != `"`+mcp.ResultComplete+`"` {
				return false
			}
		case "inputRequests", "requestState":
			return false
		}
	}
	return isObject(result)
}

// readHead decodes the head of a result; it is empty for a plain complete one.
func readHead(method string, result json.RawMessage) (head, error) {
	var h head
	if isComplete(result) {
		return h, nil
	}
	err := wire.ErrNotObject
	if isObject(result) {
		err = wire.Unmarshal(result, &h)
	}
	if err != nil {
		return h, fmt.Errorf("%s: the server sent a malformed result: %w", method, err)
	}
	return h, nil
}

// Raw sends one request, of a method that servers must not answer with questions,
// and returns the result.
func (c *StatelessClient) Raw(ctx context.Context, o *Outgoing) (json.RawMessage, error) {
	meta, err := c.meta(o)
	if err != nil {
		return nil, err
	}
	result, err := c.roundTrip(ctx, o, withMeta(o.Params, meta))
	if err != nil {
		return nil, err
	}
	h, err := readHead(o.Method, result)
	if err == nil {
		err = c.known(o, h.ResultType)
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (c *StatelessClient) roundTrip(ctx context.Context, o *Outgoing, params json.RawMessage) (json.RawMessage, error) {
	m := &jsonrpc.Message{Kind: jsonrpc.Request, ID: c.IDs.Next(), Method: o.Method, Params: params}
	if o.Sent != nil {
		o.Sent(m.ID)
	}
	response, err := c.Conn.RoundTrip(ctx, m)
	if err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, response.Error
	}
	return response.Result, nil
}

// meta returns the _meta of a request: it repeats what a session says only once.
//
// Spec: 2026-07-28 basic#meta.
func (c *StatelessClient) meta(o *Outgoing) (json.RawMessage, error) {
	c.once.Do(func() { c.failed = c.introduce() })
	if c.failed != nil {
		return nil, c.failed
	}
	if o.TakesTask {
		return o.stamped(c.tasks)
	}
	if o.isPlain() && o.LogLevel == "" {
		return c.said, nil
	}
	return o.stamped(c.said)
}

// Notify sends a notification. It names its revision, so that a server of both eras
// knows which era it belongs to.
func (c *StatelessClient) Notify(ctx context.Context, o *Outgoing) error {
	meta, err := c.meta(o)
	if err != nil {
		return err
	}
	return notify(ctx, c.Conn, o, meta)
}

// introduce encodes the part of _meta that every request repeats.
func (c *StatelessClient) introduce() (err error) {
	if c.said, err = c.saying(c.Self.Capabilities); err != nil {
		return err
	}
	with := c.Self.Capabilities
	with.Extensions = maps.Clone(with.Extensions)
	if with.Extensions == nil {
		with.Extensions = map[string]json.RawMessage{}
	}
	if with.Extensions[mcp.ExtensionTasks] == nil {
		with.Extensions[mcp.ExtensionTasks] = json.RawMessage("{}")
	}
	c.tasks, err = c.saying(with)
	return err
}

// saying encodes who asks, in which revision, and what the client can do.
func (c *StatelessClient) saying(capabilities mcp.ClientCapabilities) (json.RawMessage, error) {
	var said mcp.Meta
	for key, value := range map[string]any{
		mcp.MetaProtocolVersion:    c.Revision,
		mcp.MetaClientInfo:         c.Self.Info,
		mcp.MetaClientCapabilities: shapeClientCapabilities(capabilities, revision.Of(c.Revision)),
	} {
		if err := said.Set(key, value); err != nil {
			return nil, err
		}
	}
	return wire.Marshal(said)
}

// known refuses results of a type other than those of the core and those of the
// extensions that this client has declared.
//
// Spec: 2026-07-28 basic#resulttype.
func (c *StatelessClient) known(o *Outgoing, kind *string) error {
	method := o.Method
	switch {
	case kind == nil || *kind == mcp.ResultComplete:
		return nil
	case *kind == mcp.ResultInputRequired: // not where this method is called
	case *kind == mcp.ResultTask:
		// Spec: ext-tasks/draft tasks#capability-negotiation.
		if m := mcp.MethodNamed(method); m != nil && m.AsTask && (o.TakesTask || c.takesTasks()) {
			return nil
		}
		return fmt.Errorf("%s: the server answered with a task, which it must not do here", method)
	case slices.Contains(c.ResultTypes, *kind):
		return nil
	case c.ResultTypes == nil && len(c.Self.Capabilities.Extensions) > 1:
		return nil
	case c.ResultTypes == nil && len(c.Self.Capabilities.Extensions) == 1 && !c.takesTasks():
		return nil
	}
	return fmt.Errorf("%s: the server sent a result of the unknown type %q", method, *kind)
}

// takesTasks reports whether the client has declared that it takes a task in place of a
// result.
func (c *StatelessClient) takesTasks() bool {
	return c.Self.Capabilities.Extensions[mcp.ExtensionTasks] != nil
}

// maxQuestions bounds the questions of one round, which are all asked at once.
const maxQuestions = 256

// retry answers the questions and returns the params of the next round.
func (c *StatelessClient) retry(ctx context.Context, o *Outgoing, h *head) (json.RawMessage, error) {
	var answers json.RawMessage
	if h.Requests != nil {
		given, err := c.answer(ctx, h.Requests)
		if err == nil {
			answers, err = encodeAnswers(given)
		}
		if err != nil {
			return nil, err
		}
	}
	return again(o.Params, answers, h.State)
}

// answer asks all questions at once: a user can fill in a form while a model runs.
func (c *StatelessClient) answer(ctx context.Context, questions map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu      sync.Mutex
		wg      sync.WaitGroup
		answers = make(map[string]json.RawMessage, len(questions))
	)
	for key, raw := range questions {
		wg.Go(func() {
			value, err := c.Reply(ctx, raw)
			if err != nil {
				cancel(fmt.Errorf("cannot answer %q: %w", key, local(err)))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answers[key] = value
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return answers, nil
}

// Reply answers one question: an object with a method and params.
func (c *StatelessClient) Reply(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	method, params, err := ReadQuestion(raw)
	if err != nil {
		return nil, err
	}
	facts := revision.Of(c.Revision)
	value, err := ask(ctx, c.Answers, &c.Self.Capabilities, method, params, facts)
	if err != nil {
		return nil, err
	}
	return wire.Marshal(value)
}
