package console

import (
	"net/http"
	"strconv"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// route is what the page calls.
type route struct {
	pattern string
	role    web.Role // who may
	action  string   // what the audit log calls it; "" changes nothing
	get     func(*web.Request) (any, error)
	do      deed
}

// all are the routes, and who may use them.
func (c *Console) all() []route {
	g := c.gateway
	return []route{
		{pattern: "GET /overview", get: c.overview},
		{pattern: "GET /backends", get: func(*web.Request) (any, error) { return list("backends", g.Backends()), nil }},
		{pattern: "GET /sessions", get: func(*web.Request) (any, error) { return g.Sessions(), nil }},
		{pattern: "GET /exchanges", get: c.exchanges},
		{pattern: "GET /approvals", get: c.approvals},
		{pattern: "GET /approvals/{id}", get: func(r *web.Request) (any, error) { return g.Waiting(r.PathValue("id")) }},
		{pattern: "GET /pins", get: c.pins},
		{pattern: "GET /pins/one", get: c.pin},
		{pattern: "GET /audit", get: c.audit},
		{pattern: "GET /costs", get: func(r *web.Request) (any, error) { return g.Costs(r.Context()) }},
		{pattern: "GET /findings", get: func(r *web.Request) (any, error) { return g.Findings(r.Context()) }},
		{pattern: "GET /logins", get: func(r *web.Request) (any, error) { return g.Logins(r.Context()) }},
		{pattern: "GET /policy/names", get: func(r *web.Request) (any, error) { return g.Names(r.Context()) }},
		{pattern: "POST /policy/explain", get: c.explain},
		{pattern: "POST /policy/test", get: c.test},

		{pattern: "POST /approvals/{id}/allow", role: web.Approver, action: "approvals.allow", do: c.allow},
		{pattern: "POST /approvals/{id}/deny", role: web.Approver, action: "approvals.deny", do: c.deny},
		{pattern: "POST /approvals/{id}/revoke", role: web.Approver, action: "approvals.revoke", do: c.revoke},
		{pattern: "POST /pins/approve", role: web.Approver, action: "pins.approve", do: c.onPin(g.ApprovePin)},
		{pattern: "POST /pins/withdraw", role: web.Approver, action: "pins.withdraw", do: c.onPin(g.WithdrawPin)},

		{pattern: "POST /backends/{name}/restart", role: web.Operator, action: "backends.restart", do: c.restart},
		{pattern: "POST /configuration/reload", role: web.Operator, action: "configuration.reload", do: c.reload},
		{pattern: "POST /logins/forget", role: web.Operator, action: "logins.forget", do: c.forget},
	}
}

func (c *Console) routes(api *web.API) {
	for _, r := range c.all() {
		if r.do != nil {
			r.get = c.change(r.role, r.action, r.do)
		}
		api.Handle(r.pattern, r.get)
	}
	c.flows.routes(api)
}

// list is a list as the API answers it.
func list[T any](name string, of []T) any {
	if of == nil {
		of = []T{}
	}
	return map[string]any{name: of}
}

// me is who has come in.
type me struct {
	Name string `json:"name"`
	Role string `json:"role"`
}

func (c *Console) overview(r *web.Request) (any, error) {
	return struct {
		Overview

		Me me `json:"me"`
	}{c.gateway.Overview(), me{r.Who.Name, r.Who.Role.String()}}, nil
}

func (c *Console) approvals(*web.Request) (any, error) {
	return struct {
		Approvals

		Decided []Decided `json:"decided"`
	}{c.gateway.Approvals(), c.decided.list()}, nil
}

// maxExchanges is how many exchanges the page gets at a time.
const maxExchanges = 5000

func (c *Console) exchanges(r *web.Request) (any, error) {
	since, err := number(r, "since", 0)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", maxExchanges)
	if err != nil {
		return nil, err
	}
	all, latest := c.gateway.Exchanges(since, int(min(limit, maxExchanges)))
	return struct {
		Exchanges []Exchange `json:"exchanges"`
		Latest    uint64     `json:"latest"`
	}{all, latest}, nil
}

func number(r *web.Request, name string, otherwise uint64) (uint64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, wrong(name, "%q is no number", text)
	}
	return n, nil
}

// wrong says what is wrong with a member of a request.
func wrong(field, format string, args ...any) *web.Error {
	e := web.Errorf(http.StatusBadRequest, "wrong", format, args...)
	e.Field = field
	return e
}

func (c *Console) audit(r *web.Request) (any, error) {
	q := r.URL.Query()
	limit, err := number(r, "limit", 0)
	if err != nil {
		return nil, err
	}
	wanted := Query{
		Principal: q.Get("principal"), Backend: q.Get("backend"), Method: q.Get("method"), Outcome: q.Get("outcome"),
		Text: q.Get("text"), From: q.Get("from"), Limit: int(min(limit, 1000)),
	}
	for name, into := range map[string]*time.Time{"after": &wanted.After, "before": &wanted.Before} {
		text := q.Get(name)
		if text == "" {
			continue
		}
		if *into, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, wrong(name, "%q is no time such as 2026-11-01T12:00:00Z", text)
		}
	}
	return c.gateway.Audit(r.Context(), wanted)
}
