package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// visits are the pages that clients of a connection were sent to. The server of a session
// may say when a visit is over, long after the call that it was for.
type visits struct {
	mu   sync.Mutex
	open map[string]*visit // by the elicitationId
	last int
}

type visit struct {
	number int
	back   mcp.Backchannel // of the client that was sent there
	over   chan struct{}   // closed when the server says so
}

const (
	// maxVisits bounds the visits of a connection that are remembered.
	maxVisits = 256
	// visiting is how long a call of a client without a session waits for the server to
	// say that a visit is over, before the server is simply asked again.
	visiting = 30 * time.Second
)

// begin remembers whom a visit was required of.
func (v *visits) begin(id string, back mcp.Backchannel) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open == nil {
		v.open = map[string]*visit{}
	}
	v.last++
	if had := v.open[id]; had != nil {
		had.back = back
		return
	}
	if len(v.open) >= maxVisits {
		oldest := id
		for other, at := range v.open {
			if oldest == id || at.number < v.open[oldest].number {
				oldest = other
			}
		}
		delete(v.open, oldest)
	}
	v.open[id] = &visit{v.last, back, make(chan struct{})}
}

// complete takes the notification that a visit is over, and passes it on to the client
// that was sent there, if its revision has it.
//
// Spec: 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation.
func (v *visits) complete(ctx context.Context, params json.RawMessage) (known bool) {
	id, _ := wire.Text(wire.Find(params, "elicitationId"))
	v.mu.Lock()
	at := v.open[id]
	delete(v.open, id)
	v.mu.Unlock()
	if at == nil {
		return false
	}
	close(at.over)
	_ = at.back.Notify(ctx, mcp.NoteElicitationComplete, params) // the client is gone
	return true
}

// await waits for the end of visits, for a while.
func (v *visits) await(ctx context.Context, ids []string) error {
	timer := time.NewTimer(visiting)
	defer timer.Stop()
	for _, id := range ids {
		v.mu.Lock()
		at := v.open[id]
		v.mu.Unlock()
		if at == nil { // it is over, or too long ago
			continue
		}
		select {
		case <-at.over:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// visited is the state of a call that a client without a session makes again when its
// user has been somewhere.
type visited struct {
	// Visits are the elicitationIds, by the keys of the questions.
	Visits map[string]string `json:"visits"`
}

// visitFirst turns the error of a server which demands that the user visits a page first
// into what the client understands: the same, questions that are answered before the call
// is made again, or words.
//
// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
// Spec: 2026-07-28 client/elicitation#url-mode-elicitation-requests.
func (l *link) visitFirst(x *mcp.Exchange, err error) error {
	required := era.RequiredVisits(err)
	if required == nil {
		return err
	}
	ask, state := questionsOf(err, required)
	facts := revision.Of(x.Peer.Revision)
	if !x.Peer.Capabilities.Elicitation.URLs() || !facts.ElicitURL || !era.CanAsk(x) {
		return cannotVisit(ask)
	}
	for _, v := range required {
		l.visits.begin(v.ElicitationID, x.Back)
	}
	if facts.ElicitationID {
		return err
	}
	ask.State, err = wire.Marshal(state)
	if err != nil {
		return err
	}
	return ask
}

// questionsOf returns the visits that an error requires as questions, as the server wrote
// them.
func questionsOf(err error, required []*mcp.ElicitParams) (*mcp.InputRequired, visited) {
	ask, state := &mcp.InputRequired{}, visited{Visits: map[string]string{}}
	rpc, _ := errors.AsType[*jsonrpc.Error](err)
	var said []json.RawMessage
	_ = wire.Unmarshal(wire.Find(rpc.Data, "elicitations"), &said) // it was read before
	for i, v := range required {
		q := mcp.InputRequest{Key: fmt.Sprintf("visit-%d", i+1), Method: mcp.MethodElicit, Params: said[i]}
		ask.Requests = append(ask.Requests, q)
		state.Visits[q.Key] = v.ElicitationID
	}
	return ask, state
}

// again waits until the visits of a call are over that the client makes again, and
// returns the call as the server gets it; x itself if it is another one.
func (l *link) again(ctx context.Context, x *mcp.Exchange) (*mcp.Exchange, error) {
	var state visited
	if len(x.State) == 0 || x.State[0] != '{' || wire.Unmarshal(x.State, &state) != nil || state.Visits == nil {
		return x, nil
	}
	var ids []string
	for key, id := range state.Visits {
		if !wire.Is(wire.Find(x.Answers[key], "action"), mcp.ActionAccept) {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the user has to visit a page before the server does this, and did not agree to")
		}
		ids = append(ids, id)
	}
	if err := l.visits.await(ctx, ids); err != nil {
		return nil, err
	}
	own := *x
	own.Answers, own.State = nil, nil
	return &own, nil
}

// unvisitable returns an error in words for questions of a server without sessions that
// send the user to a page, if the client has no way to be asked that; nil if it has.
func unvisitable(x *mcp.Exchange, ask *mcp.InputRequired) error {
	facts := revision.Of(x.Peer.Revision)
	if facts.Stateless || facts.ElicitURL && x.Peer.Capabilities.Elicitation.URLs() {
		return nil
	}
	return cannotVisit(ask)
}

// cannotVisit tells somebody where to go whose program cannot send them there, or returns
// nil if nobody has to go anywhere.
func cannotVisit(ask *mcp.InputRequired) error {
	var where []string
	for _, q := range ask.Requests {
		if url := pageOf(&q); url != "" {
			where = append(where, url)
		}
	}
	if where == nil {
		return nil
	}
	return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the server wants the user to visit %s, which this client cannot ask for; open it in a browser, and call again", strings.Join(where, " and "))
}

// pageOf returns the URL that a question sends the user to, or "".
func pageOf(q *mcp.InputRequest) string {
	raw, err := wire.Marshal(q.Params)
	if err != nil || q.Method != mcp.MethodElicit || !wire.Is(wire.Find(raw, "mode"), string(mcp.ElicitURL)) {
		return ""
	}
	url, _ := wire.Text(wire.Find(raw, "url"))
	return url
}
