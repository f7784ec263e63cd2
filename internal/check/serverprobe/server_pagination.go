package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// noCursor is a cursor that no server gave.
const noCursor = "parley-check-no-such-cursor"

var serverPagination = []Probe{
	paged(toolList, "26.server.tools-013", "2511.server.tools-006"),
	paged(resourceList, "26.server.resources-007", "2511.server.resources-003"),
	paged(templateList, "26.server.resources-013", "2511.server.resources-005"),
	paged(promptList, "26.server.prompts-006", "2511.server.prompts-002"),
	{
		Info: probe.Info{
			ID: "pagination/next-cursor", Rows: []string{"26.server.utilities.pagination-002", "2511.server.utilities.pagination-002"},
			Does:    "Looks at nextCursor on the pages of lists, and follows it to the end.",
			Accepts: "A string, a new one on each page, and none on the last.",
			Mend:    "Leave nextCursor out of the last page.",
		},
		Watch: watchNextCursors,
	},
	{
		Info: probe.Info{
			ID: "pagination/begins-after-cursor", Rows: []string{"26.schema-021"},
			Does:    "Compares the pages of each list.",
			Accepts: "Entries that were on no earlier page.",
			After:   []string{"pagination/next-cursor"},
		},
		Needs: []string{needsStateless},
		Watch: watchRepeatedEntries,
	},
	{
		Info: probe.Info{
			ID: "pagination/stable-cursors", Rows: []string{"26.server.utilities.pagination-004", "2511.server.utilities.pagination-004"},
			Does:    "Asks for the second page of a list again.",
			Accepts: "The same entries, unless the list has changed.",
		},
		Run: func(x *X) probe.Finding {
			for _, l := range lists() {
				for _, walk := range x.walks(l) {
					if len(walk) > 1 {
						return x.secondPageAgain(l, walk)
					}
				}
			}
			return probe.NotApplicable("no list has more than one page")
		},
	},
	{
		Info: probe.Info{
			ID: "pagination/survives-invalid-cursors", Rows: []string{"26.server.utilities.pagination-005", "2511.server.utilities.pagination-005"},
			Does:    "Asks each list for a page by a cursor that the server never gave.",
			Accepts: "An answer: no status that tells of a failure of the server, and no end of the connection.",
		},
		Run: func(x *X) probe.Finding {
			return overInvalidCursors(x, func(r *peer.Reply) probe.Finding {
				switch {
				case r.Closed && r.Exchange == nil:
					return probe.Fail(probe.OfReply(r), "the server ended the connection")
				case r.Exchange != nil && r.Exchange.Status >= 500:
					return probe.Fail(probe.OfReply(r), "the response has the status %d", r.Exchange.Status)
				case r.Response == nil:
					return unanswered(r)
				default:
					return probe.Pass(probe.OfReply(r)...)
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "pagination/invalid-cursor", Rows: []string{"26.server.utilities.pagination-011", "2511.server.utilities.pagination-011", "26.schema-016"},
			Does:    "Asks each list for a page by a cursor that the server never gave.",
			Accepts: "The error -32602.",
			Mend:    "Refuse cursors that you did not make with the error -32602.",
			After:   []string{"pagination/survives-invalid-cursors"},
		},
		Run: func(x *X) probe.Finding {
			return overInvalidCursors(x, func(r *peer.Reply) probe.Finding { return wantError(r, -32602) })
		},
	},
}

// paged is the probe for a list that must support pages.
func paged(l listing, rows ...string) Probe {
	return Probe{
		Info: probe.Info{
			ID:      "pagination/" + l.method,
			Rows:    append(rows, "26.server.utilities.pagination-003", "2511.server.utilities.pagination-003"),
			Does:    "Follows the cursors of " + l.method + " from the first page on.",
			Accepts: "A page for each cursor that the server gave, or a list that is whole on its first page.",
			After:   []string{"pagination/next-cursor"},
		},
		Needs: []string{l.capability},
		Watch: func(x *X, w *probe.Watch) {
			for _, walk := range x.walks(l) {
				w.Saw(walk[0].m)
			}
			for _, m := range x.Received((*peer.Message).IsError) {
				asked := x.Log.RequestOf(m)
				if asked == nil || asked.Method != l.method {
					continue
				}
				if cursor, ok := asked.Get("params/cursor"); ok && x.gave(l, cursor, asked) && !x.took(l, cursor, asked) {
					w.FaultOf([]probe.Blame{{Message: asked}, {Message: m}}, "the cursor that the server gave is refused")
				}
			}
			w.Nothing(probe.Unverified("the list could not be had"))
		},
	}
}

// gave reports whether a cursor came in a result on the connection of a request
// that uses it.
func (x *X) gave(l listing, cursor any, asked *peer.Message) bool {
	return slices.ContainsFunc(x.results(l.method), func(r part) bool {
		next, ok := r.get("nextCursor")
		return ok && r.m.Conn == asked.Conn && same(next, cursor)
	})
}

// took reports whether a cursor was good before, on the connection of a request
// that uses it again.
func (x *X) took(l listing, cursor any, asked *peer.Message) bool {
	return slices.ContainsFunc(x.Results(l.method), func(a Answered) bool {
		used, ok := a.Request.Get("params/cursor")
		return ok && a.Request.Conn == asked.Conn && a.Request.Number < asked.Number && same(used, cursor)
	})
}

func watchNextCursors(x *X, w *probe.Watch) {
	for _, l := range lists() {
		for _, walk := range x.walks(l) {
			given := map[string]bool{}
			for _, page := range walk {
				w.Saw(page.m)
				next, ok := page.member("nextCursor")
				if !ok {
					continue
				}
				text, isText := next.v.(string)
				switch {
				case !isText:
					next.fault(w, "nextCursor is not a string")
				case given[text]:
					next.fault(w, "the same nextCursor came before: the list has no end")
				}
				given[text] = true
			}
		}
	}
	w.Nothing(probe.NotApplicable("the server has no lists"))
}

// watchRepeatedEntries looks for entries that come again, word for word, on a
// later page of the same list.
func watchRepeatedEntries(x *X, w *probe.Watch) {
	for _, l := range lists() {
		for _, walk := range x.walks(l) {
			seen := map[string]part{}
			for n, page := range walk {
				if n > 0 {
					w.Saw(page.m)
				}
				for _, entry := range page.items(l.member) {
					key := entry.text(l.key)
					if first, ok := seen[key]; ok && first.m != entry.m && same(first.v, entry.v) {
						w.FaultOf([]probe.Blame{{Message: entry.m, Pointer: entry.at}, {Message: first.m, Pointer: first.at}}, "the %s was on an earlier page already", l.what)
					}
					seen[key] = entry
				}
			}
		}
	}
	w.Nothing(probe.NotApplicable("no list has more than one page"))
}

// secondPageAgain asks for the second page of a list by the cursor that was used
// for it.
func (x *X) secondPageAgain(l listing, walk []part) probe.Finding {
	cursor, _ := walk[0].get("nextCursor")
	first := x.Call(l.method, nil)
	again := x.Call(l.method, map[string]any{"cursor": cursor})
	if first.Response == nil || again.Response == nil {
		return unanswered(again)
	}
	then, _ := again.Response.Get("result/" + l.member)
	switch now, _ := first.Response.Get("result/" + l.member); {
	case again.Response.IsError():
		return probe.Fail(probe.OfReply(again), "the cursor was good before, and is refused now")
	case !same(now, values(walk[0], l.member)):
		return probe.Unverified("the list has changed meanwhile")
	case !same(then, values(walk[1], l.member)):
		return probe.Fail(append(probe.Of(walk[1].m), probe.OfReply(again)...), "the same cursor leads to another page")
	default:
		return probe.Pass(probe.OfReply(again)...)
	}
}

func values(p part, name string) any {
	v, _ := p.get(name)
	return v
}

// overInvalidCursors asks each list by a cursor that does not exist, once for
// all probes, and looks at the answers.
func overInvalidCursors(x *X, look func(*peer.Reply) probe.Finding) probe.Finding {
	if x.cursors == nil {
		x.cursors = []*peer.Reply{}
		for _, l := range lists() {
			if x.Offer.Has(l.capability) && len(x.results(l.method)) > 0 {
				x.cursors = append(x.cursors, x.Call(l.method, map[string]any{"cursor": noCursor}))
			}
		}
	}
	if len(x.cursors) == 0 {
		return probe.NotApplicable("the server has no lists")
	}
	var passed []probe.Blame
	for _, r := range x.cursors {
		f := look(r)
		if f.Outcome != verdict.Pass {
			return f
		}
		passed = append(passed, f.Blamed...)
	}
	return probe.Pass(passed...)
}
