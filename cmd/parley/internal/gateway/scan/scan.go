// Package scan looks at what passes from backends to clients, and through them to models:
// for characters that nobody sees, for sentences that give a model orders, for tools that
// speak of those of other backends or look like them, and for secrets. It asks nobody,
// and knows what it looks for from the tables of package texts.
package scan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/internal/texts"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Scan.
type Options struct {
	// Definitions are the actions for what backends say of what they have, and Results
	// for what comes of operations: results, errors, questions and progress.
	Definitions, Results Actions
	// Except are the exceptions; the first that fits holds.
	Except []Exception
	// Logger is told what was found. nil means slog.Default().
	Logger *slog.Logger
}

// Exception is what is done otherwise for some backends and subjects.
type Exception struct {
	// Backend and Subject are patterns, of the names that the configuration and the
	// backend have; "" is all.
	Backend, Subject string
	// Kinds are those that it is about; nil is all.
	Kinds []Kind
	// Action is what is done with them.
	Action Action
}

// fits reports whether an exception is about something.
func (e *Exception) fits(kind Kind, backend, subject string) bool {
	has := func(pattern, name string) bool {
		return pattern == "" || naming.Selection{Include: []string{pattern}}.Has(name)
	}
	return (e.Kinds == nil || slices.Contains(e.Kinds, kind)) && has(e.Backend, backend) && has(e.Subject, subject)
}

// Scan is a guard. It belongs behind all others, so that they see what it has changed.
type Scan struct {
	opts                 Options
	definitions, results *rules
	tally                tally
	names                index

	verdicts sync.Map // *verdict by weak.Pointer[guard.Definition]
	tasks    guard.Tasks
}

var _ guard.Editor = (*Scan)(nil)

// New returns a guard.
func New(o Options) *Scan {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Scan{opts: o, definitions: newRules(o.Definitions), results: newRules(o.Results), tally: tally{logger: o.Logger}}
}

// rulesFor are the rules of a place for something that a backend has.
func (s *Scan) rulesFor(place texts.Place, backend, subject string) *rules {
	r := s.definitions
	if place == texts.Result {
		r = s.results
	}
	if len(s.opts.Except) == 0 {
		return r
	}
	var changed Actions
	for _, kind := range Kinds() {
		i := slices.IndexFunc(s.opts.Except, func(e Exception) bool { return e.fits(kind, backend, subject) })
		if i < 0 || r.actions[kind] == s.opts.Except[i].Action {
			continue
		}
		if changed == nil {
			changed = Actions{}
			maps.Copy(changed, r.actions)
		}
		changed[kind] = s.opts.Except[i].Action
	}
	if changed == nil {
		return r
	}
	return newRules(changed)
}

// verdict is what was found in a definition.
type verdict struct {
	blocked string // why it is withheld, or ""
	shadow  Action
	speaks  []string // names in what it says, which other backends may have
	looks   string   // what its own name looks like; "" if it is no tool's
	// shadows is what was found when the names of other backends were last compared.
	shadows atomic.Pointer[compared]
}

// compared is how a definition meddles with other backends, or "", of which so many names
// were known.
type compared struct {
	names int64
	what  string
}

// Edit implements guard.Editor: what is to be redacted in a definition is taken out.
func (s *Scan) Edit(d *guard.Definition, shown json.RawMessage) json.RawMessage {
	r := s.rulesFor(texts.Definition, d.Backend, d.Name)
	v := &verdict{shadow: r.actions[Shadowing]}
	edited := shown
	if r.look != 0 {
		found := look(shown, texts.Definition, r)
		v.blocked = s.tell(context.Background(), found, source{texts.Definition, d.Backend, d.Name, ""})
		edited = found.redacted()
		found.release()
	}
	if v.shadow != "" && v.shadow != Off {
		v.speaks, v.looks = namesIn(d, shown), s.names.add(d)
	}
	key := weak.Make(d)
	s.verdicts.Store(key, v)
	runtime.AddCleanup(d, func(key weak.Pointer[guard.Definition]) { s.verdicts.Delete(key) }, key)
	return edited
}

// Instructions implements guard.Editor.
func (s *Scan) Instructions(backend, text string) string {
	r := s.rulesFor(texts.Definition, backend, "")
	if r.look == 0 || text == "" {
		return text
	}
	edited, blocked := s.edit(context.Background(), wire.AppendText(nil, text), source{texts.Definition, backend, "", "instructions"}, r)
	if blocked != "" {
		return ""
	}
	text, _ = wire.Text(edited)
	return text
}

// Sees implements guard.Guard: what is blocked is not shown.
func (s *Scan) Sees(_ context.Context, _ *mcp.Peer, d *guard.Definition) bool {
	return s.withheld(d) == ""
}

// withheld says why a definition is blocked, or "".
func (s *Scan) withheld(d *guard.Definition) string {
	found, ok := s.verdicts.Load(weak.Make(d))
	if !ok {
		return ""
	}
	v, _ := found.(*verdict)
	if v.blocked != "" || len(v.speaks) == 0 && v.looks == "" {
		return v.blocked
	}
	what, news := s.names.compare(d, v)
	if what == "" {
		return ""
	}
	if news {
		s.tally.found(event{source{texts.Definition, d.Backend, d.Name, ""}, Shadowing, "shadowing", v.shadow, 1, what})
	}
	if v.shadow == Block {
		return what
	}
	return ""
}

// refuses says why an operation is not possible because of what its server says of what it is
// about, or "".
func (s *Scan) refuses(op *guard.Operation) string {
	about := op.Templates
	if op.Definition != nil {
		about = []*guard.Definition{op.Definition}
	}
	for _, d := range about {
		if why := s.withheld(d); why != "" {
			return "in what its server says of it, there is " + why
		}
	}
	f := op.Method.Feature
	if op.Definition == nil && (f == mcp.ToolFeature || f == mcp.PromptFeature) && s.rulesFor(texts.Definition, op.Backend, op.Subject).block() {
		return "its server does not list it, so nobody has looked at what it says of it"
	}
	return ""
}

// Serve implements guard.Guard.
func (s *Scan) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	if why := s.refuses(op); why != "" {
		return nil, &mcp.ForbiddenError{Reason: op.Shown + " is withheld: " + why}
	}
	subject := op.Subject
	if tool, ok := s.tasks.ToolOf(op); ok {
		subject = tool
	}
	r := s.rulesFor(texts.Result, op.Backend, subject)
	if r.look == 0 {
		result, err := next(ctx, op)
		s.tasks.Made(op, result)
		return result, err
	}
	from := source{texts.Result, op.Backend, subject, "result"}
	own, x := *op, *op.Exchange
	if x.Back != nil {
		x.Back = &back{x.Back, s, r, from}
	}
	own.Exchange = &x
	result, err := next(ctx, &own)
	if err != nil {
		return nil, s.failure(ctx, err, from, r)
	}
	s.tasks.Made(op, result)
	return s.result(ctx, op, result, from, r)
}

// result looks at a result.
func (s *Scan) result(ctx context.Context, op *guard.Operation, result any, from source, r *rules) (any, error) {
	raw, ok := result.(json.RawMessage)
	if !ok {
		if _, watching := result.(*mcp.Watching); watching || result == nil {
			return result, nil
		}
		var err error
		if raw, err = wire.Marshal(result); err != nil {
			return nil, err
		}
	}
	edited, blocked := s.edit(ctx, raw, from, r)
	switch {
	case blocked != "":
		return nil, &mcp.ForbiddenError{Reason: fmt.Sprintf("the result of %s is withheld, because it has %s; what it was asked for is done", op.Shown, blocked)}
	case len(edited) == len(raw) && &edited[0] == &raw[0]:
		return result, nil
	}
	return json.RawMessage(edited), nil
}

// failure looks at an error: one of the backend, or its questions.
func (s *Scan) failure(ctx context.Context, err error, from source, r *rules) error {
	if ask, ok := errors.AsType[*mcp.InputRequired](err); ok {
		shown := *ask
		shown.Requests = slices.Clone(ask.Requests)
		for i := range shown.Requests {
			if err := s.question(ctx, &shown.Requests[i], from, r); err != nil {
				return err
			}
		}
		return &shown
	}
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return err
	}
	from.part = "error"
	message, blocked := s.edit(ctx, wire.AppendText(nil, rpc.Message), from, r)
	text, _ := wire.Text(message)
	data := []byte(rpc.Data)
	if blocked == "" && len(data) > 0 {
		data, blocked = s.edit(ctx, data, from, r)
	}
	switch {
	case blocked != "":
		return &mcp.ForbiddenError{Reason: "an error is withheld, because it has " + blocked}
	case text == rpc.Message && string(data) == string(rpc.Data):
		return err
	}
	return &jsonrpc.Error{Code: rpc.Code, Message: text, Data: data}
}

// question looks at what a backend asks.
func (s *Scan) question(ctx context.Context, q *mcp.InputRequest, from source, r *rules) error {
	raw, ok := q.Params.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = wire.Marshal(q.Params); err != nil {
			return err
		}
	}
	from.part = "question"
	edited, blocked := s.edit(ctx, raw, from, r)
	if blocked != "" {
		return &mcp.ForbiddenError{Reason: "a question of the server is withheld, because it has " + blocked}
	}
	if ok || string(edited) != string(raw) {
		q.Params = json.RawMessage(edited)
	}
	return nil
}

// edit looks at a document, and returns it without what is redacted. blocked says what it
// has that is blocked, or is "".
func (s *Scan) edit(ctx context.Context, doc []byte, from source, r *rules) (edited []byte, blocked string) {
	found := look(doc, from.place, r)
	defer found.release()
	if found.counts == nil {
		return doc, ""
	}
	if blocked = s.tell(ctx, found, from); blocked != "" {
		return nil, blocked
	}
	return found.redacted(), ""
}

// tell counts and logs what was found, and returns what of it is blocked: also what was to
// be redacted and cannot be.
func (s *Scan) tell(ctx context.Context, found *document, from source) string {
	var blocked []string
	for _, what := range found.order {
		c := found.counts[what]
		action := c.action(found.rules.actions[what.kind])
		if action == Block {
			blocked = append(blocked, saysOf(what.rule))
		}
		s.tally.found(event{from, what.kind, what.rule, action, c.n, c.shows})
		guard.Remark(ctx, fmt.Sprintf("scan: %s (%s): %s", saysOf(what.rule), c.shows, action))
	}
	return strings.Join(blocked, "; ")
}

// back is the way from a backend to its client.
type back struct {
	mcp.Backchannel

	scan  *Scan
	rules *rules
	from  source
}

// Notify implements mcp.Backchannel. A message that is blocked is not sent: nobody waits
// for it.
func (b *back) Notify(ctx context.Context, method string, params any) error {
	if raw, ok := params.(json.RawMessage); ok {
		from := b.from
		from.part = method
		edited, blocked := b.scan.edit(ctx, raw, from, b.rules)
		if blocked != "" {
			return nil
		}
		params = json.RawMessage(edited)
	}
	return b.Backchannel.Notify(ctx, method, params)
}

// Input implements mcp.Backchannel.
func (b *back) Input(ctx context.Context, questions ...mcp.InputRequest) ([]json.RawMessage, error) {
	shown := slices.Clone(questions)
	for i := range shown {
		if err := b.scan.question(ctx, &shown[i], b.from, b.rules); err != nil {
			return nil, err
		}
	}
	return b.Backchannel.Input(ctx, shown...)
}
