package clientprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var serverPagination = []Probe{
	{
		Info: probe.Info{
			ID:      "pagination/cursors-as-given",
			Rows:    []string{"26.server.utilities.pagination-008", "2511.server.utilities.pagination-009", "2511.server.utilities.pagination-008"},
			Does:    "Gives cursors that look like numbers, paths, JSON or nothing at all, and compares what comes back.",
			Accepts: "Cursors as they were given.",
			Mend:    "Send nextCursor back as it came.",
			After:   []string{pagesOfSessions},
		},
		Watch: func(x *X, w *probe.Watch) {
			x.eachCursor(func(m *peer.Message, cursor any, g given) {
				if text, ok := cursor.(string); cursor == nil || ok && text == "" && !g.here[""] {
					return // that is the end, taken for a cursor
				}
				w.Saw(m)
				if text, _ := cursor.(string); !g.here[text] {
					w.Fault(m, "/params/cursor", "no page had this cursor")
				}
			})
			w.Nothing(probe.Unverified("the client has asked for no further page"))
		},
	},
	{
		Info: probe.Info{
			ID: pagesOfSessions, Rows: []string{"2511.server.utilities.pagination-010"},
			Does:    "Forgets the session in the middle of a list.",
			Accepts: "A list from its beginning in the next session.",
			Mend:    "Forget cursors when a session ends.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			x.eachCursor(func(m *peer.Message, cursor any, g given) {
				if text, _ := cursor.(string); len(g.before) > 0 {
					w.Saw(m)
					if g.before[text] && !g.here[text] {
						w.Fault(m, "/params/cursor", "the cursor is one of an earlier session")
					}
				}
			})
			w.Nothing(probe.Unverified("the client has listed nothing in a second session"))
		},
	},
	{
		Info: probe.Info{
			ID: "pagination/end", Rows: []string{"26.server.utilities.pagination-006", "2511.server.utilities.pagination-006"},
			Does:    "Ends lists with a page that has no nextCursor.",
			Accepts: "No request for a page after it.",
			Mend:    "Take a page without nextCursor for the last one.",
		},
		Watch: func(x *X, w *probe.Watch) {
			x.eachCursor(func(m *peer.Message, cursor any, g given) {
				w.Saw(m)
				if text, ok := cursor.(string); cursor == nil || ok && text == "" && !g.here[""] {
					w.Fault(m, "/params/cursor", "the cursor %s is asked for, which no page had", peer.Encode(cursor))
				}
			})
			w.Nothing(probe.Unverified("the client has asked for no further page"))
		},
	},
	{
		Info: probe.Info{
			ID: "pagination/any-size",
			Rows: []string{
				"26.server.utilities.pagination-001", "2511.server.utilities.pagination-001",
				"26.server.utilities.pagination-007", "2511.server.utilities.pagination-007",
			},
			Does:    "Has pages of different sizes, and an empty one in the middle.",
			Accepts: "A list that goes on after the empty page.",
			Mend:    "Go on as long as there is a nextCursor, however many entries a page has.",
		},
		In:    []string{scenarioOddPages},
		Watch: watchPages("tools/list", func(p page) bool { return p.entries == 0 }, once, "the list ends at an empty page that has a nextCursor"),
	},
	{
		Info: probe.Info{
			ID: "pagination/prompts", Rows: []string{"26.server.prompts-022", "2511.server.prompts-014"},
			Does:    "Has prompts on several pages.",
			Accepts: "A list that goes on until a page without nextCursor.",
			Mend:    "Go on as long as there is a nextCursor.",
			After:   []string{"pagination/any-size", "pagination/same-cursor", "pagination/empty-cursor"},
		},
		In: []string{scenarioOddPages},
		// Who stops at a cursor that came before guards against lists without an end.
		Watch: watchPages("prompts/list", func(p page) bool { return p.cursor != p.next }, once, "the list of prompts ends at a page that has a nextCursor"),
	},
	{
		Info: probe.Info{
			ID: "pagination/same-cursor", Rows: []string{"26.server.utilities.pagination-009"},
			Does:    "Gives the same cursor twice, for pages that differ.",
			Accepts: "A list that goes on.",
			Mend:    "Look only at whether there is a nextCursor.",
		},
		Needs: []string{needsStateless}, In: []string{scenarioOddPages},
		Watch: watchPages("tools/list", func(p page) bool { return p.cursor != "" && p.cursor == p.next }, mostly, "the list ends at a cursor that came before"),
	},
	{
		Info: probe.Info{
			ID: "pagination/empty-cursor", Rows: []string{"26.server.utilities.pagination-010"},
			Does:    "Gives the empty string as a cursor.",
			Accepts: "A list that goes on with it.",
			Mend:    "Tell an empty nextCursor from one that is not there.",
		},
		Needs: []string{needsStateless}, In: []string{scenarioOddPages},
		Watch: watchPages("tools/list", func(p page) bool { return p.next == "" }, once, "the list ends at an empty cursor"),
	},
	{
		Info: probe.Info{
			ID: "pagination/refused-cursor", Rows: []string{"26.server.utilities.caching-031"},
			Does:    "Refuses a cursor that it has given.",
			Accepts: "A list from its beginning.",
			Mend:    "Begin the list again when a cursor is refused.",
		},
		Needs: []string{needsStateless}, In: []string{scenarioLostCursor},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client asked for no further page, or listed no tools after its cursor was refused"))
			refused := x.Marked("refused")
			next := x.After(refused, is(mcp.MethodListTools))
			if len(next) == 0 {
				return
			}
			again, has := next[0].Get("params/cursor")
			if was, _ := refused.Get("params/cursor"); has && again == was {
				w.FaultOf(probe.Of(refused, next[0]), "the client asks again for the cursor that was refused")
			} else {
				w.Saw(next[0])
			}
		},
	},
}

const pagesOfSessions = "pagination/cursors-of-one-session"

// given are the cursors that a client had when it sent one: from its conversation,
// and from earlier ones.
type given struct{ here, before map[string]bool }

// eachCursor looks at each request with a cursor.
func (x *X) eachCursor(look func(m *peer.Message, cursor any, g given)) {
	byConn := map[int]map[string]bool{}
	for _, m := range x.Log.Messages() {
		if byConn[m.Conn] == nil {
			byConn[m.Conn] = map[string]bool{}
		}
		if next, ok := m.Get("result/nextCursor"); ok && m.Sent {
			text, _ := next.(string)
			byConn[m.Conn][text] = true
		}
		row := mcp.MethodNamed(m.Method)
		cursor, has := m.Get("params/cursor")
		if m.Sent || !has || row == nil || !row.List || x.foreign(m) {
			continue
		}
		g := given{here: byConn[m.Conn], before: map[string]bool{}}
		for conn, cursors := range byConn {
			for text := range cursors {
				if conn != m.Conn {
					g.before[text] = true
				}
			}
		}
		look(m, cursor, g)
	}
}

// page is a page that was sent, and the cursors that it was asked for with and has;
// "none" stands for none.
type page struct {
	message      *peer.Message
	cursor, next string
	entries      int
}

// pagesOf are the pages of a list, in order.
func (x *X) pagesOf(method string) []page {
	var all []page
	for _, m := range x.Sent((*peer.Message).IsResult) {
		asked := x.Log.RequestOf(m)
		if asked == nil || asked.Method != method {
			continue
		}
		p := page{message: m, cursor: "none", next: "none"}
		if v, ok := asked.Get("params/cursor"); ok {
			p.cursor, _ = v.(string)
		}
		if v, ok := m.Get("result/nextCursor"); ok {
			p.next, _ = v.(string)
		}
		for _, v := range m.Object("result") {
			if entries, ok := v.(list); ok {
				p.entries = len(entries)
			}
		}
		all = append(all, p)
	}
	return all
}

// watchPages wants a list to go on after some pages, of a client that asks for
// further pages otherwise. enough says whether a cursor was asked for often enough,
// considering how many pages had it.
func watchPages(method string, which func(page) bool, enough func(asks, pages int) bool, fault string) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("the client asks for no further pages"))
		if !x.Base.turnsPages(method) {
			return
		}
		pages, asks := map[string]int{}, map[any]int{}
		all := x.pagesOf(method)
		for _, p := range all {
			pages[p.next]++
		}
		for _, m := range x.Requests(method) {
			cursor, _ := m.Get("params/cursor")
			asks[cursor]++
		}
		for _, p := range all {
			if p.next == "none" || !which(p) || !x.heardAfter(p.message) {
				continue
			}
			if enough(asks[p.next], pages[p.next]) {
				w.Saw(p.message)
			} else {
				w.Fault(p.message, "/result/nextCursor", "%s", fault)
			}
		}
	}
}

// once and mostly are what can be enough: a client may also stop for other reasons.
func once(asks, _ int) bool       { return asks > 0 }
func mostly(asks, pages int) bool { return 2*asks > pages }

// turnsPages reports whether the client has asked for further pages of a list.
func (x *X) turnsPages(method string) bool {
	for _, m := range x.Requests(method) {
		if _, has := m.Get("params/cursor"); has {
			return true
		}
	}
	return false
}
