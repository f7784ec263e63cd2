package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// gateway passes what its clients send on to one server, whatever the eras of both:
// there is an exchange on one side and a call on the other, and neither knows the
// other's era. A call in a session whose question goes to a stateless client is
// parked: the client brings the answer with its next request.
type gateway struct {
	backend *client.Client
	parked  sync.Map // string → *passing
	last    atomic.Int64
}

// passing is one call on its way.
type passing struct {
	x       atomic.Pointer[mcp.Exchange] // by which its client can be reached now
	cancel  context.CancelCauseFunc
	asked   atomic.Int64
	asks    chan *mcp.InputRequired
	answers chan map[string]json.RawMessage
	result  json.RawMessage
	err     error
	done    chan struct{}
}

type passingKey struct{}

func (g *gateway) serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	if x.ID.IsZero() {
		return nil, g.backend.Notify(ctx, x.Method, x.Params)
	}
	p := g.resume(x)
	if p == nil {
		p = g.pass(ctx, x)
	}
	defer context.AfterFunc(ctx, func() { p.cancel(context.Cause(ctx)) })()
	select {
	case <-p.done:
		return p.result, p.err
	case ask := <-p.asks:
		ticket := fmt.Sprintf(`{"parked":%d}`, g.last.Add(1))
		g.parked.Store(ticket, p)
		return nil, &mcp.InputRequired{Requests: ask.Requests, State: json.RawMessage(ticket)}
	}
}

// resume returns the parked call that an exchange continues, or nil.
func (g *gateway) resume(x *mcp.Exchange) *passing {
	v, ok := g.parked.LoadAndDelete(string(x.State))
	if !ok {
		return nil
	}
	p := v.(*passing)
	p.x.Store(x)
	p.answers <- x.Answers
	return p
}

// pass makes the call that an exchange stands for.
func (g *gateway) pass(ctx context.Context, x *mcp.Exchange) *passing {
	p := &passing{asks: make(chan *mcp.InputRequired), answers: make(chan map[string]json.RawMessage, 1), done: make(chan struct{})}
	p.x.Store(x)
	ctx, p.cancel = context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), passingKey{}, p))
	opts := []client.CallOption{
		client.WithInputRequired(),
		client.WithAnswers(x.Answers, x.State),
		client.WithLogLevel(mcp.LevelDebug),
		client.WithNotifications(func(ctx context.Context, method string, params json.RawMessage) {
			_ = p.x.Load().Back.Notify(ctx, method, params)
		}),
	}
	if !x.ProgressToken.IsZero() {
		opts = append(opts, client.WithProgress(nil))
	}
	go func() { // ends with the call
		defer close(p.done)
		p.result, p.err = g.backend.Do(ctx, x.Method, x.Params, opts...)
	}()
	return p
}

// answer asks the client of the call that a question belongs to.
func (g *gateway) answer(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p, ok := ctx.Value(passingKey{}).(*passing)
	if !ok {
		return nil, errors.New("it is not known whom to ask")
	}
	key := fmt.Sprintf("q%d", p.asked.Add(1))
	answers, err := p.x.Load().Back.Input(ctx, mcp.InputRequest{Key: key, Method: method, Params: params})
	if ask, parks := errors.AsType[*mcp.InputRequired](err); parks {
		return p.park(ctx, ask, key)
	}
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

// park waits for the answer that the client brings with its next request.
func (p *passing) park(ctx context.Context, ask *mcp.InputRequired, key string) (json.RawMessage, error) {
	select {
	case p.asks <- ask:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case given := <-p.answers:
		return given[key], nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

const (
	passedArguments = `{"name":"work","arguments":{"z":1.0,"a":1e400,"big":12345678901234567890,"s":"\u00e9\/é"},"com.example/more":[1]`
	passedResult    = `{"com.example/first":1.0,"content":[{"type":"text","text":"\u00e9","com.example/x":{}}],"structuredContent":{"z":1.00,"a":-0}`
	passedQuestion  = `{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}},"com.example/why":1.0}`
	passedAnswer    = `{"action":"accept","content":{"name":"Ann","age":1.0},"com.example/sure":true}`
	passedProgress  = `"progress":0.50,"total":1.0,"com.example/eta":1e3`
	passedLog       = `{"level":"info","data":{"n":1.0},"com.example/of":"work"}`
)

// work uses everything that a server can do during a call. It reports to said what it got.
func work(ctx context.Context, x *mcp.Exchange, said func(string)) (any, error) {
	if strings.Contains(string(x.Params), `"wait"`) {
		said("started")
		<-ctx.Done()
		said("ended: " + context.Cause(ctx).Error())
		return nil, context.Cause(ctx)
	}
	said("params: " + string(x.Params))
	for _, note := range []struct{ method, params string }{
		{mcp.NoteProgress, `{` + passedProgress + `}`}, {mcp.NoteMessage, passedLog},
	} {
		if err := x.Back.Notify(ctx, note.method, json.RawMessage(note.params)); err != nil {
			return nil, err
		}
	}
	for _, key := range []string{"first", "second"} {
		answers, err := x.Back.Input(ctx, mcp.InputRequest{Key: key, Method: mcp.MethodElicit, Params: json.RawMessage(passedQuestion)})
		if err != nil {
			return nil, err
		}
		said(key + ": " + string(answers[0]))
	}
	return raw(`%s,"_meta":{"com.example/m":1.0,%q:{"name":"worker","version":"0"}}}`, passedResult, mcp.MetaServerInfo), nil
}

// record keeps what the server said, without repetitions.
type record struct {
	mu   sync.Mutex
	list []string
	news chan string
}

func newRecord() *record { return &record{news: make(chan string, 100)} }

func (r *record) say(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.list, s) {
		r.list = append(r.list, s)
		r.news <- s
	}
}

func (r *record) expect(t *testing.T, who string, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range want {
		if !slices.ContainsFunc(r.list, func(s string) bool { return strings.Contains(s, w) }) {
			t.Errorf("%s did not hear of %s, but of %s", who, w, strings.Join(r.list, "\n"))
		}
	}
}

// A gateway that uses only the public API passes everything on between all eras and
// transports: arguments, questions, answers, progress, log messages and results
// verbatim, and _meta without the reserved keys.
func TestGatewayPassesOn(t *testing.T) {
	for _, front := range hops {
		for _, back := range hops {
			t.Run(front.String()+" to "+back.String(), func(t *testing.T) { passesOn(t, front, back) })
		}
	}
}

func passesOn(t *testing.T, front, back hop) {
	atServer, atUser := newRecord(), newRecord()
	through := throughGateway(t, front, back, atServer, &client.Options{
		Info:         mcp.Implementation{Name: "front", Version: "1"},
		Capabilities: everything(),
		Answer: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			atUser.say(userOf(ctx) + " is asked " + method + ": " + string(params))
			return json.RawMessage(passedAnswer), nil
		},
	})
	if !front.stateless() {
		if err := through.SetLogLevel(t.Context(), mcp.LevelInfo); err != nil {
			t.Fatal(err)
		}
	}
	got, err := through.Do(as(t.Context(), "Ann"), mcp.MethodCallTool, json.RawMessage(passedArguments+`,"_meta":{"com.example/t":1.0}}`),
		client.WithProgress(nil), client.WithLogLevel(mcp.LevelInfo),
		client.WithNotifications(func(ctx context.Context, method string, params json.RawMessage) {
			atUser.say(userOf(ctx) + " is told " + method + ": " + string(params))
		}))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(got), passedResult) || !strings.Contains(string(got), `"com.example/m":1.0`) || strings.Contains(string(got), "worker") {
		t.Errorf("the result is %s", got)
	}
	atServer.expect(t, "the server", strings.TrimPrefix(passedArguments, "{"), `"com.example/t":1.0`,
		"first: "+passedAnswer, "second: "+passedAnswer)
	if strings.Contains(strings.Join(atServer.list, ""), "front") {
		t.Errorf("the server sees the clients of the gateway: %s", atServer.list)
	}
	atUser.expect(t, "the user", "Ann is asked elicitation/create: "+strings.TrimSuffix(passedQuestion, "}"),
		"Ann is told notifications/progress: {"+passedProgress, "Ann is told notifications/message: "+passedLog)
}

// throughGateway returns a client of a gateway in front of a server that works.
func throughGateway(t *testing.T, front, back hop, atServer *record, o *client.Options) *client.Client {
	t.Helper()
	g := new(gateway)
	server := serving(func(ctx context.Context, x *mcp.Exchange) (any, error) { return work(ctx, x, atServer.say) })
	g.backend = connect(t, server, back, &client.Options{Answer: g.answer, Capabilities: everything(), LogLevel: mcp.LevelDebug, Notification: func(context.Context, string, json.RawMessage) {}})
	return connect(t, serving(g.serve), front, o)
}

// The reason for which a call is cancelled reaches the server behind the gateway,
// except in the stateless era over HTTP, where the client can only close the stream.
func TestGatewayPassesCancellationOn(t *testing.T) {
	for _, front := range hops {
		for _, back := range hops {
			t.Run(front.String()+" to "+back.String(), func(t *testing.T) {
				atServer := newRecord()
				c := throughGateway(t, front, back, atServer, nil)
				ctx, cancel := context.WithCancelCause(t.Context())
				ended := make(chan error, 1)
				go func() { // ends with the call
					_, err := c.Do(ctx, mcp.MethodCallTool, json.RawMessage(`{"name":"wait"}`))
					ended <- err
				}()
				within(t, "the call at the server", atServer.news)
				why := errors.New("Ann has changed her mind")
				cancel(why)
				if err := within(t, "the end of the call", ended); !errors.Is(err, why) {
					t.Errorf("the call failed with %v", err)
				}
				got := within(t, "the cancellation at the server", atServer.news)
				silent := front.http && front.stateless() || back.http && back.stateless()
				if !silent && got != "ended: "+why.Error() {
					t.Errorf("the server was told %q", got)
				}
			})
		}
	}
}
