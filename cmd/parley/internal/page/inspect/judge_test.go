package inspect

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// fakeJudge says what it was asked.
type fakeJudge struct {
	targets chan *target.Target
	release chan error // a check ends with what comes out of it, or with its context
}

type fakeReport string

func (fakeReport) Formats() []string { return []string{"json", "text"} }

func (f fakeReport) Write(w io.Writer, format string) error {
	_, err := io.WriteString(w, format+": "+string(f))
	return err
}

func (f fakeJudge) Check(ctx context.Context, t *target.Target, how *Judging, progress func(JudgeProgress)) (JudgeReport, error) {
	progress(JudgeProgress{What: how.Kind, Done: 1, Total: 2})
	f.targets <- t
	select {
	case err := <-f.release:
		return fakeReport("checked " + strings.Join(how.Revisions, ",")), err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (fakeJudge) Definitions(d *Definitions) JudgeReport {
	return fakeReport(d.Server + ", " + d.Instructions + " " + string(d.Lists["tools"][0]))
}

func newFakeJudge() fakeJudge {
	return fakeJudge{make(chan *target.Target, mostJudging), make(chan error)}
}

// judged returns a judgement when it is over.
func (s *stage) judged(id string) shownJudgement {
	s.Helper()
	for {
		j := must[shownJudgement](s, "GET", "/judgements/"+id, nil)
		if j.State != "running" {
			return j
		}
		if s.Context().Err() != nil {
			s.Fatal("the test ended first")
		}
	}
}

func TestJudgements(t *testing.T) {
	judge := newFakeJudge()
	s := newStage(t, Options{Judge: judge})
	c := s.open(itself(t))
	start := func(how map[string]any) shownJudgement {
		how["connection"] = c.ID
		return must[shownJudgement](s, "POST", "/judgements", how)
	}

	first := start(map[string]any{"kind": "server", "revisions": []string{"2025-06-18"}, "allow": []string{"echo"}})
	if at := <-judge.targets; len(at.Env) != 1 || !strings.HasPrefix(at.Env[0], asServer+"=") {
		t.Errorf("the judge does not get the environment of the server: %v", at.Env)
	}
	if p := must[shownJudgement](s, "GET", "/judgements/"+first.ID, nil); p.State != "running" || p.Progress.Total != 2 {
		t.Errorf("while it is judged: %+v", p)
	}
	if e := s.refused("GET", "/judgements/"+first.ID+"/report/json", nil); e.Code != "no_report" {
		t.Errorf("the report of what is being judged: %+v", e)
	}
	judge.release <- nil
	if done := s.judged(first.ID); done.State != "done" || len(done.Formats) != 2 {
		t.Errorf("afterwards: %+v", done)
	}
	if _, text := s.call("GET", "/judgements/"+first.ID+"/report/text", nil); string(text) != "text: checked 2025-06-18" {
		t.Errorf("the report is %q", text)
	}

	failing := start(map[string]any{"kind": "server"})
	<-judge.targets
	judge.release <- errors.New("nobody answers")
	if done := s.judged(failing.ID); done.State != "failed" || done.Error == nil {
		t.Errorf("a check that fails: %+v", done)
	}

	stopped := start(map[string]any{"kind": "server"})
	<-judge.targets
	must[struct{}](s, "DELETE", "/judgements/"+stopped.ID, nil)
	if done := s.judged(stopped.ID); done.State != "cancelled" {
		t.Errorf("a check that was cancelled: %+v", done)
	}

	words := start(map[string]any{"kind": "definitions"})
	s.judged(words.ID)
	_, text := s.call("GET", "/judgements/"+words.ID+"/report/text", nil)
	if !strings.Contains(string(text), "Say something.") || !strings.Contains(string(text), `"echo"`) {
		t.Errorf("the report about definitions is %q", text)
	}
	must[struct{}](s, "DELETE", "/judgements/"+words.ID, nil)
	if e := s.refused("GET", "/judgements/"+words.ID, nil); e.Status != http.StatusNotFound {
		t.Errorf("a judgement that was forgotten: %+v", e)
	}
}

func TestJudgementsAreBounded(t *testing.T) {
	judge := newFakeJudge()
	s := newStage(t, Options{Judge: judge})
	c := s.open(itself(t))
	how := map[string]any{"connection": c.ID, "kind": "server"}
	var first []string
	for range mostJudging {
		first = append(first, must[shownJudgement](s, "POST", "/judgements", how).ID)
		<-judge.targets
	}
	if e := s.refused("POST", "/judgements", how); e.Status != http.StatusConflict || e.Hint == "" {
		t.Errorf("one too many: %+v", e)
	}
	for range mostJudging {
		judge.release <- nil
	}
	for _, id := range first {
		s.judged(id)
	}
	for range mostJudgements + 1 {
		j := must[shownJudgement](s, "POST", "/judgements", map[string]any{"connection": c.ID, "kind": "definitions"})
		s.judged(j.ID)
	}
	kept := must[struct{ Judgements []shownJudgement }](s, "GET", "/judgements", nil).Judgements
	if len(kept) != mostJudgements {
		t.Errorf("%d judgements are kept, want %d", len(kept), mostJudgements)
	}
}

func TestJudgementsThatMakeNoSense(t *testing.T) {
	s := newStage(t, Options{Judge: newFakeJudge()})
	c := s.open(itself(t))
	for field, how := range map[string]map[string]any{
		"kind":      {"connection": c.ID, "kind": "taste"},
		"revisions": {"connection": c.ID, "kind": "server", "revisions": []string{"2023-01-01"}},
		"rate":      {"connection": c.ID, "kind": "server", "rate": -1},
		"speed":     {"connection": c.ID, "kind": "server", "speed": 1},
	} {
		if e := s.refused("POST", "/judgements", how); e.Field != field || e.Status != http.StatusBadRequest {
			t.Errorf("%v: %+v", how, e)
		}
	}
	if e := s.refused("POST", "/judgements", map[string]any{"connection": c.ID, "kind": "auth"}); e.Field != "kind" {
		t.Errorf("authorization of a command: %+v", e)
	}
	if e := s.refused("POST", "/judgements", map[string]any{"connection": "c9", "kind": "server"}); e.Code != "no_connection" {
		t.Errorf("a connection that there is not: %+v", e)
	}
}
