package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const (
	// answerTime is how long a question waits for a person.
	answerTime = 10 * time.Minute
	// maxWaiting bounds the questions of one connection that wait, and keptQuestions those
	// that are over and still shown.
	maxWaiting, keptQuestions = 64, 200
	// maxQuestionBytes bounds what the questions of one connection take.
	maxQuestionBytes = 32 << 20
)

// The kinds of questions.
const (
	kindForm     = "form"
	kindURL      = "url"
	kindSampling = "sampling"
)

// What becomes of a question.
const (
	questionWaiting   = "waiting"
	questionAnswered  = "answered"
	questionExpired   = "expired"   // nobody answered in time
	questionWithdrawn = "withdrawn" // nobody waits for the answer any more
)

// question is what a server asks of whoever sits at the page.
type question struct {
	ID    string    `json:"id"`
	Kind  string    `json:"kind"`
	State string    `json:"state"`
	Asked time.Time `json:"asked"`
	// Until is when it expires, and Ended when it was over.
	Until time.Time `json:"until"`
	Ended time.Time `json:"ended,omitzero"`
	// Call is the call that asks, if that is known.
	Call   *asker          `json:"call,omitempty"`
	Params json.RawMessage `json:"params"`
	// Answer is what a person or a rule answered, and Rule the name of that rule.
	Answer *given `json:"answer,omitempty"`
	Rule   string `json:"rule,omitempty"`
	// Note says why it is over without an answer, or why a rule did not answer it.
	Note string `json:"note,omitempty"`
}

// asker is the call that a question belongs to.
type asker struct {
	// ID is that of the call on the page, if it was made there.
	ID       string `json:"id,omitempty"`
	Method   string `json:"method"`
	Subject  string `json:"subject,omitempty"` // the name of the tool or prompt, or the URI
	Inferred bool   `json:"inferred,omitempty"`
}

// given is what a person or a rule says to a question.
type given struct {
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"` // of a form
	Result  json.RawMessage `json:"result,omitempty"`  // of sampling
}

// reply is what becomes of an answer: the result for the server, or the error.
type reply struct {
	result any
	err    error
}

// fitting makes a reply of an answer. The error says what is wrong with the answer, for
// whoever gave it; then nothing is sent.
type fitting func(*given) (reply, error)

// pending is a question that waits, or was answered.
type pending struct {
	question

	fit   fitting
	reply chan reply // takes one
}

func (p *pending) size() int { return len(p.Params) }

// questions are those of one connection, and the rules that answer some.
type questions struct {
	mu    sync.Mutex
	last  int
	bytes int
	all   []*pending // oldest first
	rules rules
}

// ask has a question answered, by a rule or by a person.
func (q *questions) ask(ctx context.Context, c *Connection, kind string, params any, fit fitting) (any, error) {
	p, err := newPending(ctx, kind, params, fit)
	if err != nil {
		return nil, err
	}
	if err := q.admit(p); err != nil {
		return nil, err
	}
	q.tell(c, p)
	r := q.wait(ctx, c, p)
	return r.result, r.err
}

func newPending(ctx context.Context, kind string, params any, fit fitting) (*pending, error) {
	raw, err := wire.Marshal(params)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	p := &pending{fit: fit, reply: make(chan reply, 1)}
	p.question = question{Kind: kind, State: questionWaiting, Asked: now, Until: now.Add(answerTime), Params: raw, Call: askerOf(ctx)}
	return p, nil
}

// admit has the rules try a question, and gives it its number.
func (q *questions) admit(p *pending) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	answered := q.rules.try(p)
	q.trim(p.size())
	switch waiting := q.waiting(); {
	case answered:
	case waiting >= maxWaiting:
		return fmt.Errorf("%d questions wait for an answer already", waiting)
	case q.bytes+p.size() > maxQuestionBytes:
		return fmt.Errorf("the questions that wait for an answer have %d bytes already", q.bytes)
	}
	q.last++
	p.ID = "q" + strconv.Itoa(q.last)
	q.all = append(q.all, p)
	q.bytes += p.size()
	return nil
}

// trim forgets the oldest questions that are over, until there is room. The caller holds
// q.mu.
func (q *questions) trim(room int) {
	over := len(q.all) - q.waiting()
	q.all = slices.DeleteFunc(q.all, func(p *pending) bool {
		old := p.State != questionWaiting && (over >= keptQuestions || q.bytes+room > maxQuestionBytes)
		if old {
			over--
			q.bytes -= p.size()
		}
		return old
	})
}

// waiting counts the questions that wait. The caller holds q.mu.
func (q *questions) waiting() int {
	n := 0
	for _, p := range q.all {
		if p.State == questionWaiting {
			n++
		}
	}
	return n
}

// wait waits until a question is over.
func (q *questions) wait(ctx context.Context, c *Connection, p *pending) reply {
	timer := time.NewTimer(time.Until(p.Until))
	defer timer.Stop()
	select {
	case r := <-p.reply:
		return r
	case <-timer.C:
		late, _ := p.fit(&given{Action: mcp.ActionCancel}) // always fits
		q.end(c, p, questionExpired, fmt.Sprintf("nobody answered within %s", answerTime), late)
	case <-ctx.Done():
		why := context.Cause(ctx)
		q.end(c, p, questionWithdrawn, why.Error(), reply{err: why})
	}
	return <-p.reply
}

// end ends a question without an answer, unless it is over.
func (q *questions) end(c *Connection, p *pending, state, note string, r reply) {
	q.mu.Lock()
	waited := p.State == questionWaiting
	if waited {
		p.State, p.Note, p.Ended = state, note, time.Now()
		p.reply <- r
	}
	q.mu.Unlock()
	if waited {
		q.tell(c, p)
	}
}

// answer answers a question for a person. The error is a *web.Error.
func (q *questions) answer(c *Connection, id string, a *given) (*question, error) {
	p, err := q.find(id)
	if err != nil {
		return nil, err
	}
	r, misfit := p.fit(a)
	q.mu.Lock()
	switch {
	case p.State != questionWaiting:
		err = &web.Error{Status: http.StatusConflict, Code: "over", Message: fmt.Sprintf("question %s is %s", id, p.State), Hint: p.Note}
	case misfit != nil:
		err = unfit(misfit)
	default:
		p.settle(a, r)
	}
	shown := p.question
	q.mu.Unlock()
	if err != nil {
		return nil, err
	}
	q.tell(c, p)
	return &shown, nil
}

// settle answers a question. Where others can see it, the caller holds the lock.
func (p *pending) settle(a *given, r reply) {
	p.State, p.Answer, p.Ended = questionAnswered, a, time.Now()
	p.reply <- r
}

// find returns a question by its ID.
func (q *questions) find(id string) (*pending, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, p := range q.all {
		if p.ID == id {
			return p, nil
		}
	}
	return nil, &web.Error{Status: http.StatusNotFound, Code: "no_question", Message: fmt.Sprintf("there is no question %q", id), Hint: "it is over, and too old to be kept"}
}

// list returns all questions, newest first.
func (q *questions) list() []question {
	q.mu.Lock()
	defer q.mu.Unlock()
	shown := make([]question, 0, len(q.all))
	for _, p := range slices.Backward(q.all) {
		shown = append(shown, p.question)
	}
	return shown
}

// tell tells whoever watches what has become of a question.
func (q *questions) tell(c *Connection, p *pending) {
	q.mu.Lock()
	event := struct {
		ID      string `json:"id"`
		Kind    string `json:"kind"`
		State   string `json:"state"`
		Rule    string `json:"rule,omitempty"`
		Call    *asker `json:"call,omitempty"`
		Waiting int    `json:"waiting"`
	}{p.ID, p.Kind, p.State, p.Rule, p.Call, q.waiting()}
	q.mu.Unlock()
	c.publish("question", event)
}

// askerOf returns the call that the context of a question belongs to, or nil.
func askerOf(ctx context.Context) *asker {
	origin := client.OriginOf(ctx)
	if origin.Request == nil {
		return nil
	}
	made := callOf(ctx)
	a := &asker{ID: made.id, Method: origin.Request.Method, Inferred: origin.Inferred}
	if a.Method == mcp.MethodTaskResult && made.tool != "" { // the call has become a task
		a.Method, a.Subject = mcp.MethodCallTool, made.tool
		return a
	}
	if m := mcp.MethodNamed(a.Method); m != nil && m.Subject != "" {
		a.Subject, _ = wire.Text(wire.Find(origin.Request.Params, m.Subject))
	}
	return a
}
