package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/payload"
)

// lists are workloads that fetch all tools, page by page where the server has
// pages.
func lists() []*workload {
	var all []*workload
	for _, n := range []int{10, 1_000, 10_000} {
		all = append(all, eras(workload{name: fmt.Sprintf("tools/list, %d tools", n), tools: n, op: listTools})...)
	}
	return all
}

func listTools(w *workload, c load.Conn) load.Op {
	l := &lister{w: w, c: c, pages: []*page{newPage(w, nil)}}
	return l.list
}

// lister lists all tools. Pages that it has already seen are fetched and
// compared, not decoded again.
type lister struct {
	w     *workload
	c     load.Conn
	pages []*page
}

type page struct {
	request *payload.Request
	check   *load.Checker
	loose   bool
	tools   int
	next    *string
}

func newPage(w *workload, cursor *string) *page {
	params := map[string]any{}
	if cursor != nil {
		params["cursor"] = *cursor
	}
	p := &page{loose: w.loose, request: payload.NewRequest(w.era, "tools/list", "", params, false)}
	p.check = load.NewChecker(p.decode)
	return p
}

func (p *page) decode(result json.RawMessage) error {
	var r struct {
		Tools []struct {
			Name         string         `json:"name"`
			InputSchema  map[string]any `json:"inputSchema"`
			OutputSchema map[string]any `json:"outputSchema"`
		} `json:"tools"`
		NextCursor *string `json:"nextCursor"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	for _, t := range r.Tools {
		// Not every server has an output schema for the tool that asks in
		// rounds.
		if p.loose {
			continue
		}
		if t.InputSchema["type"] != "object" || t.OutputSchema["type"] != "object" && t.Name != "ask" {
			return fmt.Errorf("the tool %q lacks its schemas", t.Name)
		}
	}
	p.tools, p.next = len(r.Tools), r.NextCursor
	return nil
}

func (l *lister) list() (time.Duration, error) {
	var took time.Duration
	tools := 0
	for i := 0; ; i++ {
		p := l.pages[i]
		a, err := l.c.Call(p.request)
		if err != nil {
			return 0, err
		}
		took += a.Took
		if err := p.check.Check(a); err != nil {
			return 0, err
		}
		tools += p.tools
		if p.next == nil {
			break
		}
		if i+1 == len(l.pages) {
			l.pages = append(l.pages, newPage(l.w, p.next))
		}
	}
	if tools != l.w.tools && !(l.w.loose && tools > l.w.tools) {
		return 0, fmt.Errorf("the list has %d tools, not %d", tools, l.w.tools)
	}
	return took, nil
}
