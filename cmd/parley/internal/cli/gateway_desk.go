package cli

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/control"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
)

// approvals are what humans decide about while a gateway runs.
type approvals struct {
	desk  *approval.Desk
	audit atomic.Pointer[audit.Log] // nil if there is none
}

func newApprovals(logger *slog.Logger) *approvals {
	a := &approvals{desk: approval.NewDesk(logger)}
	a.desk.Watch(a.write)
	return a
}

// keep goes on with what another configuration says.
func (a *approvals) keep(c *config.Config, p *posts) {
	a.audit.Store(p.audit)
	a.desk.Configure(c.Approvals().Bounds)
}

// write has the audit log say what has become of an approval.
func (a *approvals) write(e approval.Event) {
	if log := a.audit.Load(); log != nil {
		log.Approved(audit.Approved{
			Time:      e.Time,
			Approval:  guard.Approval{ID: e.ID, Decision: string(e.Kind), By: e.By, Reason: e.Reason, Until: e.Until},
			Principal: e.Principal, Client: e.Client, Backend: e.Backend, Method: e.Method, Subject: e.Subject,
		})
	}
}

// deskList is what waits, and what was given, as commands and --output json show it.
type deskList struct {
	Waiting []deskRequest    `json:"waiting"`
	Given   []approval.Grant `json:"given"`
}

// deskRequest is an operation that waits. Text is what a human is shown of it.
type deskRequest struct {
	approval.Request

	Text string `json:"text"`
}

// deskAnswer is what an operator answers.
type deskAnswer struct {
	Seconds float64 `json:"seconds,omitzero"`
	Tool    bool    `json:"tool,omitzero"`
	Reason  string  `json:"reason,omitzero"`
}

// serve lets commands decide.
func (a *approvals) serve(s *control.Server) {
	s.Handle("GET /approvals", control.Answer(func(*http.Request, json.RawMessage) (any, error) { return a.list(), nil }))
	s.Handle("GET /approvals/{id}", control.Answer(func(r *http.Request, _ json.RawMessage) (any, error) {
		waits, err := a.desk.Request(r.PathValue("id"))
		if err != nil {
			return nil, refusedByDesk(err)
		}
		return deskRequest{*waits, waits.Full()}, nil
	}))
	for verb, do := range map[string]func(id string, in deskAnswer) error{
		"allow": func(id string, in deskAnswer) error {
			return a.desk.Allow(id, approval.Terms{For: time.Duration(in.Seconds * float64(time.Second)), Tool: in.Tool}, approval.TheOperator)
		},
		"deny":   func(id string, in deskAnswer) error { return a.desk.Deny(id, in.Reason, approval.TheOperator) },
		"revoke": func(id string, _ deskAnswer) error { return a.desk.Revoke(id, approval.TheOperator) },
	} {
		s.Handle("POST /approvals/{id}/"+verb, control.Answer(func(r *http.Request, in deskAnswer) (any, error) {
			return struct{}{}, refusedByDesk(do(r.PathValue("id"), in))
		}))
	}
}

// listed is how large arguments may be in a list, in bytes.
const listed = 4 << 10

// list is what is on the desk. Large arguments are left out.
func (a *approvals) list() deskList {
	list := deskList{Waiting: []deskRequest{}, Given: a.desk.Given()}
	for _, r := range a.desk.Waiting() {
		text := r.Text()
		if len(r.Arguments) > listed {
			r.Arguments = nil
		}
		if len(r.Extra) > listed {
			r.Extra = nil
		}
		list.Waiting = append(list.Waiting, deskRequest{r, text})
	}
	return list
}

// refusedByDesk says that what was asked for cannot be, or not any more.
func refusedByDesk(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, approval.ErrUnknown):
		return control.Errorf(http.StatusNotFound, "%v", err)
	}
	return control.Errorf(http.StatusConflict, "%v", err)
}
