package clientprobe

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// Hall serves all scenarios of a revision at once, each at an address of its own,
// for a client that a person drives. It is an http.Handler.
type Hall struct {
	course *course
	begun  time.Time
	stages []*Stage
}

// Open opens the scenarios of the first revision of the options. origin and
// other are where the handler will be reachable.
func Open(o *Options, origin, other string) (*Hall, error) {
	all := revisions(o.Revisions)
	if len(all) == 0 {
		return nil, errors.New("there is no such revision")
	}
	by := *o
	by.ByHand = true
	h := &Hall{course: &course{opts: &by, facts: all[0], transport: transportOf(all[0], false), begun: time.Now()}, begun: time.Now()}
	for _, sc := range h.course.due() {
		s := h.course.stage(sc)
		s.path = "/" + sc.Name
		s.Origin, s.Other = origin+s.path, other+s.path
		h.stages = append(h.stages, s)
	}
	return h, nil
}

// Stages are the scenarios, with their addresses.
func (h *Hall) Stages() []*Stage { return h.stages }

// URL is where the server of a scenario is, over HTTP.
func (s *Stage) URL() string {
	if s.Transport == needsSSE {
		return s.Origin + pathEvents
	}
	return s.Origin + pathMCP
}

// ServeHTTP leads to the scenario that the path begins with.
func (h *Hall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, s := range h.stages {
		if strings.HasPrefix(r.URL.Path, s.path+"/") {
			http.StripPrefix(s.path, s).ServeHTTP(w, r)
			return
		}
	}
	http.NotFound(w, r)
}

// Close ends all conversations and judges what was said in them. It returns an
// error if nothing was.
func (h *Hall) Close() (*verdict.Report, error) {
	o := h.course.opts
	report := &verdict.Report{Tool: o.Tool, Target: o.Name, Role: requirement.Client, Started: h.begun.UTC(), Took: time.Since(h.begun)}
	for _, s := range h.stages {
		s.close()
		if s.Log.Len() == 0 {
			continue
		}
		x := &X{Stage: s, ByHand: true, blamed: map[*peer.Message]bool{}}
		h.course.played = append(h.course.played, x)
		x.Base = h.course.played[0]
	}
	if len(h.course.played) == 0 {
		return nil, errors.New("no client came")
	}
	report.Runs = []verdict.Run{h.course.judge()}
	report.Name, report.Version = h.course.played[0].identity()
	return report, nil
}
