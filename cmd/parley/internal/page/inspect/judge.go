package inspect

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

// Judge judges servers. It is safe for concurrent use.
type Judge interface {
	// Check judges the server of a target over connections of its own, which is why the
	// target has its secrets.
	Check(ctx context.Context, t *target.Target, how *Judging, progress func(JudgeProgress)) (JudgeReport, error)
	// Definitions judges what a server says of itself and of what it offers.
	Definitions(d *Definitions) JudgeReport
}

// JudgeReport is what a judge says, without secrets.
type JudgeReport interface {
	// Formats are the names of the forms that it has. "json" is one of them.
	Formats() []string
	Write(w io.Writer, format string) error
}

// Kinds of judgements.
const (
	JudgeServer      = "server"      // how a server speaks the protocol
	JudgeAuth        = "auth"        // who it lets in, and its authorization server
	JudgeDefinitions = "definitions" // what it says of what it offers; nothing is sent but lists
)

// Judging says how to judge.
type Judging struct {
	Connection string `json:"connection"`
	Kind       string `json:"kind"`
	// Revisions limit the judgement; none means all that the server speaks.
	Revisions []string `json:"revisions,omitzero"`
	// Allow are tools that may be called although they do not say that they only read.
	Allow    []string `json:"allow,omitzero"`
	AllowAll bool     `json:"allowAll,omitzero"`
	Stress   bool     `json:"stress,omitzero"`
	// Rate is how many messages are sent a second; 0 is what the command line sends.
	Rate float64 `json:"rate,omitzero"`
}

// JudgeProgress is how far a judgement is.
type JudgeProgress struct {
	What  string `json:"what"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// Definitions is what a server says of itself and of what it offers. Lists has the items
// of each list by its name, as they came.
type Definitions struct {
	Server       string
	Instructions string
	Lists        map[string][]json.RawMessage
}

const (
	mostJudging    = 2  // at a time
	mostJudgements = 20 // that are kept
)

// judgements has what was judged since the program was started.
type judgements struct {
	server *Server

	mu   sync.Mutex
	last int
	all  []*judgement
}

func (p *judgements) routes(api *web.API) {
	api.Handle("GET /judgements", func(*web.Request) (any, error) { return p.list(), nil })
	api.Handle("POST /judgements", p.post)
	api.Handle("GET /judgements/{j}", p.on(func(j *judgement) (any, error) { return j.shown(), nil }))
	api.Handle("DELETE /judgements/{j}", p.on(p.remove))
	api.Raw("GET /judgements/{j}/report/{format}", p.report)
}

func (p *judgements) prepare(*Connection, *client.Options) {}
func (p *judgements) connected(*Connection)                {}
func (p *judgements) ended(*Connection)                    {}

// on makes the handler of a route below a judgement.
func (p *judgements) on(f func(*judgement) (any, error)) func(*web.Request) (any, error) {
	return func(r *web.Request) (any, error) {
		j, err := p.find(r)
		if err != nil {
			return nil, err
		}
		return f(j)
	}
}

func (p *judgements) find(r *web.Request) (*judgement, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, j := range p.all {
		if j.id == r.PathValue("j") {
			return j, nil
		}
	}
	e := web.Errorf(http.StatusNotFound, "no_judgement", "there is no judgement %q", r.PathValue("j"))
	e.Hint = "only the last ones are kept: judge again"
	return nil, e
}

// list returns the judgements, newest first.
func (p *judgements) list() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	shown := []*shownJudgement{}
	for _, j := range slices.Backward(p.all) {
		shown = append(shown, j.shown())
	}
	return struct {
		Judgements []*shownJudgement `json:"judgements"`
	}{shown}
}

func (p *judgements) post(r *web.Request) (any, error) {
	how := new(Judging)
	if err := r.Read(how); err != nil {
		return nil, err
	}
	r.SetPathValue("c", how.Connection)
	c, err := p.server.connection(r)
	if err != nil {
		return nil, err
	}
	if err := p.fits(c, how); err != nil {
		return nil, err
	}
	j, err := p.add(c, how)
	if err != nil {
		return nil, err
	}
	c.spawn(j.run)
	return j.shown(), nil
}

// fits refuses what cannot be judged.
func (p *judgements) fits(c *Connection, how *Judging) error {
	wrong := func(field, format string, args ...any) error {
		e := web.Errorf(http.StatusBadRequest, "judging", format, args...)
		e.Field = field
		return e
	}
	switch {
	case p.server.opts.Judge == nil:
		return web.Errorf(http.StatusNotImplemented, "no_judge", "this page cannot judge")
	case !slices.Contains([]string{JudgeServer, JudgeAuth, JudgeDefinitions}, how.Kind):
		return wrong("kind", "there is no judgement of %q; there are server, auth and definitions", how.Kind)
	case how.Kind == JudgeAuth && c.wished().URL == "":
		return wrong("kind", "authorization is for servers at a URL; a command gets its secrets from the environment")
	case how.Rate < 0:
		return wrong("rate", "%v is not a number of messages", how.Rate)
	}
	for _, name := range how.Revisions {
		if _, ok := mcp.ParseRevision(name); !ok {
			return wrong("revisions", "there is no revision %q", name)
		}
	}
	return nil
}

// add makes room for a judgement, and adds it.
func (p *judgements) add(c *Connection, how *Judging) (*judgement, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	running := 0
	for _, j := range p.all {
		if !j.over() {
			running++
		}
	}
	if running >= mostJudging {
		e := web.Errorf(http.StatusConflict, "judging", "%d judgements are under way already", running)
		e.Hint = "wait for one, or cancel it"
		return nil, e
	}
	if len(p.all) >= mostJudgements {
		i := slices.IndexFunc(p.all, (*judgement).over) // not all are under way
		p.all = slices.Delete(p.all, i, i+1)
	}
	p.last++
	j := &judgement{id: "j" + strconv.Itoa(p.last), title: c.shown().Title, connection: c, how: *how, started: time.Now()}
	j.ctx, j.cancel = context.WithCancel(c.context())
	p.all = append(p.all, j)
	return j, nil
}

// remove cancels a judgement, or forgets one that is over.
func (p *judgements) remove(j *judgement) (any, error) {
	if !j.over() {
		j.cancel()
		return nil, nil //nolint:nilnil // there is nothing to say
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = slices.DeleteFunc(p.all, func(other *judgement) bool { return other == j })
	return nil, nil //nolint:nilnil // there is nothing to say
}
