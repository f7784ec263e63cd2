package inspect

import (
	"errors"
	"net/http"
	"slices"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// questionPart has whoever sits at the page answer what servers ask.
type questionPart struct{ s *Server }

func (questionPart) connected(*Connection) {}
func (questionPart) ended(*Connection)     {}

// counts says how many questions wait.
func (questionPart) counts(c *Connection) map[string]int {
	q := partOf[questions](c)
	q.mu.Lock()
	defer q.mu.Unlock()
	return map[string]int{"questions": q.waiting()}
}

func (p questionPart) routes(api *web.API) {
	api.Handle("GET /connections/{c}/questions", onConnection(p.s, p.list))
	api.Handle("GET /connections/{c}/questions/{q}", onConnection(p.s, p.one))
	api.Handle("POST /connections/{c}/questions/{q}/answer", onConnection(p.s, p.answer))
	api.Handle("POST /connections/{c}/questions/{q}/visited", onConnection(p.s, p.visited))
	api.Handle("GET /connections/{c}/rules", onConnection(p.s, p.rules))
	api.Handle("PUT /connections/{c}/rules", onConnection(p.s, p.setRules))
}

// onConnection makes a handler of a function that needs the connection that a request
// names.
func onConnection(s *Server, f func(c *Connection, r *web.Request) (any, error)) func(r *web.Request) (any, error) {
	return func(r *web.Request) (any, error) {
		c, err := s.connection(r)
		if err != nil {
			return nil, err
		}
		return f(c, r)
	}
}

// deprecates reports whether the revision of a connection deprecates a capability.
func deprecates(c *Connection, capability string) bool {
	cl, err := c.live()
	if err != nil {
		return false
	}
	facts := revision.Of(cl.Revision())
	return facts != nil && slices.Contains(facts.Deprecated, capability)
}

func (questionPart) list(c *Connection, _ *web.Request) (any, error) {
	return struct {
		Questions          []question `json:"questions"`
		SamplingDeprecated bool       `json:"samplingDeprecated"`
	}{partOf[questions](c).list(), deprecates(c, "sampling")}, nil
}

func (questionPart) one(c *Connection, r *web.Request) (any, error) {
	q := partOf[questions](c)
	p, err := q.find(r.PathValue("q"))
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return p.question, nil
}

func (questionPart) answer(c *Connection, r *web.Request) (any, error) {
	var a given
	if err := r.Read(&a); err != nil {
		return nil, err
	}
	return partOf[questions](c).answer(c, r.PathValue("q"), &a)
}

var errGivenUp = errors.New("given up by whoever was asked to visit the URL")

// visited goes on with a call, or gives it up, that waits for a visit whose end the server
// does not tell.
func (questionPart) visited(c *Connection, r *web.Request) (any, error) {
	var body struct {
		Over bool `json:"over"`
	}
	if err := r.Read(&body); err != nil {
		return nil, err
	}
	q := partOf[questions](c)
	p, err := q.find(r.PathValue("q"))
	if err != nil {
		return nil, err
	}
	cl, err := c.live()
	if err != nil {
		return nil, err
	}
	var asked mcp.ElicitParams
	if err := wire.Unmarshal(p.Params, &asked); err != nil {
		return nil, err
	}
	var why error
	if !body.Over {
		why = errGivenUp
	}
	q.mu.Lock()
	agreed := p.Answer != nil && p.Answer.Action == mcp.ActionAccept
	q.mu.Unlock()
	if !agreed || asked.ElicitationID == "" || !cl.EndVisit(asked.ElicitationID, why) {
		return nil, &web.Error{Status: http.StatusConflict, Code: "no_wait", Message: "no call waits for the end of this visit", Hint: "the call goes on by itself, or is over"}
	}
	return struct{}{}, nil
}

func (questionPart) rules(c *Connection, _ *web.Request) (any, error) {
	q := partOf[questions](c)
	q.mu.Lock()
	defer q.mu.Unlock()
	shown := q.rules
	if shown.Rules == nil {
		shown.Rules = []rule{}
	}
	return shown, nil
}

func (p questionPart) setRules(c *Connection, r *web.Request) (any, error) {
	var next rules
	if err := r.Read(&next); err != nil {
		return nil, err
	}
	if err := next.check(); err != nil {
		return nil, err
	}
	q := partOf[questions](c)
	q.mu.Lock()
	q.rules = next
	q.mu.Unlock()
	return p.rules(c, r)
}
