package serverprobe

import (
	"context"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/mcp"
)

// manner is how a client answers a question: with a result, or with an error if that
// is nil.
type manner func(question) any

// friendly is the manner of all other conversations.
func friendly(q question) any { return answerTo(q.Method, q.Params) }

// chosen is the manner that answers questions with a method in one way, and others
// as a friend does.
func chosen(method string, how manner) manner {
	return func(q question) any {
		if q.Method == method {
			return how(q)
		}
		return friendly(q)
	}
}

// company is a conversation whose client answers in another manner each time.
type company struct {
	*Conn

	mu     sync.Mutex
	how    manner
	left   int    // how many questions it still answers
	enough func() // called when there are more
}

// contrary returns the company of a server, which is the shared conversation where
// answers travel with the requests.
func (x *X) contrary() (*company, error) {
	if x.company != nil && !x.company.Closed() {
		return x.company, nil
	}
	p := &company{how: friendly, left: mostAnswers, enough: func() {}}
	if x.Stateless {
		if err := x.renew(); err != nil {
			return nil, err
		}
		p.Conn = x.Main
	} else {
		var err error
		if p.Conn, err = x.Open(&Opening{Answer: p.answer}); err != nil {
			return nil, err
		}
	}
	x.company = p
	return p, nil
}

// mostAnswers is how many questions of the server are answered where nobody counts.
const mostAnswers = 1000

// answer answers a request of the server.
func (p *company) answer(m *peer.Message) *peer.Out {
	p.mu.Lock()
	how, enough := p.how, p.enough
	if needOf[m.Method] != "" {
		p.left--
	}
	over := p.left < 0
	p.mu.Unlock()
	if over {
		enough()
		return nil
	}
	if result := how(question{Message: m, Method: m.Method, Params: m.Object("params")}); result != nil {
		return peer.Frame(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
	}
	return peer.Frame(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32603, "message": "the client failed"}})
}

// behave sets how questions are answered, and how many of them.
func (p *company) behave(how manner, most int, enough func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.how, p.left, p.enough = how, most, enough
}

// finish makes a call and answers what the server asks in a manner, up to a number
// of questions. endless is set if the server asks more than that; the call is
// cancelled then.
func (p *company) finish(params map[string]any, how manner, most int) (r *peer.Reply, endless bool) {
	if p.x.Stateless {
		return p.finishRounds(params, how, most)
	}
	ctx, cancel := context.WithCancel(p.x.Ctx)
	defer cancel()
	var over sync.Once
	p.behave(how, most, func() {
		over.Do(func() { endless = true })
		cancel()
	})
	defer p.behave(friendly, mostAnswers, func() {})
	r = p.Do(ctx, peer.Frame(p.Request(mcp.MethodCallTool, params)))
	over.Do(func() {}) // what is still said is too late
	if r.Response == nil && !r.Closed && r.Sent != nil {
		p.Notify(mcp.NoteCancelled, map[string]any{"requestId": r.Sent.ID, "reason": "no more of this"})
	}
	return r, endless
}

// finishRounds is finish where the questions come with the result.
func (p *company) finishRounds(params map[string]any, how manner, most int) (r *peer.Reply, endless bool) {
	next := params
	for range most + 1 {
		if r = p.Call(mcp.MethodCallTool, next); !asksForInput(r.Response) {
			return r, false
		}
		next = p.Again(params, r.Response)
		answers := map[string]any{}
		for _, q := range questionsOf(r.Response) {
			if result := how(q); result != nil {
				answers[q.Key] = result
			}
		}
		next["inputResponses"] = answers
	}
	return r, true
}

// askers are the first tools that were seen to ask a question of a kind, and then to
// succeed.
func (x *X) askers(kind func(question) bool, most int) []*Doing {
	all := x.did(func(d *Doing) bool { return asking(d) && slices.ContainsFunc(d.Asks, kind) })
	return all[:min(most, len(all))]
}
