package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// alike reports whether tasks have the same form on both sides, so that they pass as they
// are.
func (l *link) alike(x *mcp.Exchange) bool {
	front, back := revision.Of(x.Peer.Revision), revision.Of(l.client.Revision())
	return front.Stateless == back.Stateless && front.Tasks == back.Tasks
}

// prepare finds out how the call of a tool is passed on to a server whose tasks have
// another form than the client's, or whose client knows none.
func (p *passing) prepare(ctx context.Context, x *mcp.Exchange) error {
	m := mcp.MethodNamed(x.Method)
	switch {
	case m == nil:
		return nil
	case m.Feature == mcp.TaskFeature:
		return p.link.b.tasks.mine(x, p.link.alike(x))
	case !m.AsTask || p.link.alike(x) || era.StatelessRevision(p.link.client.Revision()):
		return nil
	}
	var err error
	p.demands, err = p.link.onlyTask(ctx, m.SubjectOf(x.Params))
	return err
}

// isTask reports whether the call is a task of the bridge from its beginning.
func (p *passing) isTask(x *mcp.Exchange) bool {
	return x.Task != nil && !p.link.alike(x) && (x.Task.Demanded || p.demands)
}

// beginTask begins a call as a task.
func (b *Bridge) beginTask(ctx context.Context, p *passing) (json.RawMessage, error) {
	own := *p.x.Load()
	own.Params = bytes.Clone(own.Params) // the exchange is over when it has been answered
	own.Meta = wire.Find(own.Params, "_meta")
	p.x.Store(&own)
	p.detach(ctx)
	t, err := b.tasks.hold(p, own.Task.TTLMs)
	if err != nil {
		p.cancel(err)
		return nil, err
	}
	p.link.begin(p)
	return t.handOut()
}

// maxRounds bounds how often a server without sessions may ask before it answers the call
// of a task.
const maxRounds = 16

// call makes the call, and follows the task that the server makes of it where its form
// is not the client's.
func (p *passing) call(ctx context.Context, x *mcp.Exchange) (json.RawMessage, error) {
	c, opts := p.link.client, p.options(x)
	m := mcp.MethodNamed(x.Method)
	if m == nil || !m.AsTask || p.link.alike(x) {
		raw, err := c.Do(ctx, x.Method, x.Params, opts...)
		return raw, refused(err)
	}
	params, err := p.params(x)
	taken := p.held() // otherwise progress comes as long as the server works on the call itself
	for round := 0; err == nil; round++ {
		if taken {
			opts = append(opts, client.WithTaskTaken())
		}
		var raw json.RawMessage
		raw, err = c.Do(ctx, x.Method, params, opts...)
		if round == 0 { // later, the server knows of the call
			err = refused(err)
		}
		if err == nil && related.IsTask(raw) {
			return c.Task(wireID(raw), m.SubjectOf(x.Params)).WaitRaw(ctx, opts...)
		}
		if err == nil {
			return raw, nil
		}
		if !taken && needsTasks(err) {
			taken, err = true, nil
			continue
		}
		if round == maxRounds || !p.held() {
			break
		}
		var more []client.CallOption
		if more, err = p.another(ctx, err); err == nil {
			opts = append(opts, more...)
		}
	}
	return nil, err
}

// needsTasks reports whether a server without sessions has refused a call because its
// client has not declared that it takes tasks.
//
// Spec: ext-tasks/draft tasks#capability-negotiation.
func needsTasks(err error) bool {
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || rpc.Code != mcp.CodeMissingCapability {
		return false
	}
	required := wire.Find(rpc.Data, "requiredCapabilities")
	return wire.Find(wire.Find(required, "extensions"), mcp.ExtensionTasks) != nil
}

// params are what the server gets.
func (p *passing) params(x *mcp.Exchange) (json.RawMessage, error) {
	params := wire.Except(x.Params, "task")
	if !p.demands {
		return params, nil
	}
	demand := []byte("{}")
	if x.Task != nil && x.Task.TTLMs != nil {
		demand = fmt.Appendf(nil, `{"ttl":%d}`, *x.Task.TTLMs)
	}
	return wire.Set(params, "task", demand)
}

// another asks what a server wants to know before it goes on with the call of a task, and
// returns how the call is made again. It returns the error itself if that asks nothing.
func (p *passing) another(ctx context.Context, err error) ([]client.CallOption, error) {
	if ask, ok := errors.AsType[*mcp.InputRequired](err); ok {
		answers, err := p.askAll(ctx, ask.Requests)
		return []client.CallOption{client.WithAnswers(answers, ask.State)}, err
	}
	visits := era.RequiredVisits(err)
	if visits == nil {
		return nil, err
	}
	ask, _ := questionsOf(err, visits)
	ids := make([]string, len(visits))
	for i, v := range visits {
		ids[i] = v.ElicitationID
		p.link.visits.begin(v.ElicitationID, p.x.Load().Back)
	}
	answers, failed := p.askAll(ctx, ask.Requests)
	if failed != nil {
		return nil, failed
	}
	for _, a := range answers {
		if !wire.Is(wire.Find(a, "action"), mcp.ActionAccept) {
			return nil, err
		}
	}
	return nil, p.link.visits.await(ctx, ids)
}

// askAll asks questions at the same time, and returns the answers by the server's keys.
func (p *passing) askAll(ctx context.Context, requests []mcp.InputRequest) (map[string]json.RawMessage, error) {
	answers := make([]json.RawMessage, len(requests))
	errs := make([]error, len(requests))
	var group sync.WaitGroup
	for i, r := range requests {
		group.Go(func() {
			q := newQuestion(r.Method, r.Params)
			answers[i], errs[i] = p.ask(ctx, q)
		})
	}
	group.Wait()
	byKey := map[string]json.RawMessage{}
	for i, r := range requests {
		byKey[r.Key] = answers[i]
	}
	return byKey, errors.Join(errs...)
}

// held reports whether the call is a task of the bridge.
func (p *passing) held() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.task != nil
}

// notify passes a notification on to the client. What belongs to a task names it.
//
// Spec: 2025-11-25 basic/utilities/tasks#associating-task-related-messages.
func (p *passing) notify(ctx context.Context, method string, params json.RawMessage) {
	p.mu.Lock()
	t := p.task
	p.mu.Unlock()
	if t != nil {
		ctx = related.To(ctx, t.id)
		if message, ok := wire.Text(wire.Find(params, "message")); ok && method == mcp.NoteProgress {
			t.tell(message)
		}
	}
	_ = p.x.Load().Back.Notify(ctx, method, params) // the client is gone, or does not want it
}

// wireID is the ID of a task that was handed out.
func wireID(raw json.RawMessage) string {
	id, _ := wire.Text(wire.Find(raw, "taskId"))
	return id
}
