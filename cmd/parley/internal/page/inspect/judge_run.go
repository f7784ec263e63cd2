package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/serverlist"
	"github.com/parley-mcp/parley/mcp"
)

// judgement is one server being judged, and then the report.
type judgement struct {
	id, title  string
	connection *Connection
	how        Judging
	started    time.Time
	ctx        context.Context //nolint:containedctx // ends with the judgement or its connection
	cancel     context.CancelFunc

	mu       sync.Mutex
	progress JudgeProgress
	told     time.Time // when watchers were told last
	ended    time.Time // zero while it is under way
	report   JudgeReport
	err      *web.Error
}

// shownJudgement is a judgement as the API shows it.
type shownJudgement struct {
	ID       string        `json:"id"`
	Title    string        `json:"title"`
	How      Judging       `json:"how"`
	State    string        `json:"state"` // running, done, cancelled or failed
	Progress JudgeProgress `json:"progress"`
	Started  time.Time     `json:"started"`
	Ended    time.Time     `json:"ended,omitzero"`
	Error    *web.Error    `json:"error,omitzero"`
	Formats  []string      `json:"formats,omitzero"`
}

func (j *judgement) shown() *shownJudgement {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := &shownJudgement{ID: j.id, Title: j.title, How: j.how, State: "running", Progress: j.progress, Started: j.started, Ended: j.ended, Error: j.err}
	switch {
	case j.report != nil:
		s.State, s.Formats = "done", j.report.Formats()
	case j.err != nil:
		s.State = "failed"
	case j.ctx.Err() != nil:
		s.State = "cancelled"
	}
	return s
}

// over reports whether the judgement has ended, or is about to.
func (j *judgement) over() bool { return j.ctx.Err() != nil }

// run judges. A judgement that was cancelled has the report of what was seen until then.
func (j *judgement) run(context.Context) {
	report, err := j.judge()
	j.mu.Lock()
	j.ended = time.Now()
	if err != nil && j.ctx.Err() == nil {
		j.err = j.connection.explain(err)
	}
	if err == nil {
		j.report = report
	}
	j.cancel()
	j.mu.Unlock()
	j.publish()
}

func (j *judgement) judge() (JudgeReport, error) {
	judge := j.connection.server.opts.Judge
	if j.how.Kind != JudgeDefinitions {
		return judge.Check(j.ctx, &j.connection.wished().Target, &j.how, j.heard)
	}
	d, err := j.definitions()
	if err != nil {
		return nil, err
	}
	return judge.Definitions(d), nil
}

// definitions fetches what the server lists anew.
func (j *judgement) definitions() (*Definitions, error) {
	cl, err := j.connection.live()
	if err != nil {
		return nil, err
	}
	d := &Definitions{Server: j.title, Instructions: cl.Instructions(), Lists: map[string][]json.RawMessage{}}
	caps := cl.ServerCapabilities()
	offered := slices.DeleteFunc(kinds(), func(l serverlist.List) bool { return !caps.Offers(mcp.MethodNamed(l.Method)) })
	for i, l := range offered {
		j.heard(JudgeProgress{What: l.Name, Done: i, Total: len(offered)})
		list := j.connection.list(j.ctx, l, true)
		if list.Error != nil {
			return nil, list.Error
		}
		d.Lists[l.Name] = list.Items
	}
	return d, nil
}

// heard takes how far the judgement is, and tells watchers of it ten times a second at most.
func (j *judgement) heard(p JudgeProgress) {
	j.mu.Lock()
	j.progress = p
	now := time.Now()
	tell := now.Sub(j.told) > 100*time.Millisecond
	if tell {
		j.told = now
	}
	j.mu.Unlock()
	if tell {
		j.publish()
	}
}

func (j *judgement) publish() { j.connection.publish("judge", j.shown()) }

// report writes a report in one of its forms.
func (p *judgements) report(w http.ResponseWriter, r *web.Request) error {
	j, err := p.find(r)
	if err != nil {
		return err
	}
	j.mu.Lock()
	report := j.report
	j.mu.Unlock()
	format := r.PathValue("format")
	switch {
	case report == nil:
		return web.Errorf(http.StatusConflict, "no_report", "this judgement has no report")
	case !slices.Contains(report.Formats(), format):
		return web.Errorf(http.StatusNotFound, "no_format", "a report has no form %q", format)
	}
	var text bytes.Buffer
	if err := report.Write(&text, format); err != nil {
		return err
	}
	kind := "text/plain; charset=utf-8" // also what a browser would show as a page of ours
	if format == "json" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "report-" + j.id + "." + format}))
	_, _ = w.Write(text.Bytes()) // a page that is gone does not matter
	return nil
}
