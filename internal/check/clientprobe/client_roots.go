package clientprobe

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

const (
	rootsList    = "roots/list"
	rootsChanged = "notifications/roots/list_changed"
)

var clientRoots = []Probe{
	{
		Info: probe.Info{
			ID: "roots/declared", Rows: []string{"26.client.roots-003", "2511.client.roots-001"},
			Does:    "Compares what the client declares with what it answers: in a session for all of it, and without one for each request.",
			Accepts: "The capability roots wherever roots are listed, on every request of a client that has them.",
			Mend:    "Declare the capability roots.",
		},
		Watch: declared("roots", rootsList),
	},
	{
		Info: probe.Info{
			ID: "roots/undeclared-refused", Rows: []string{"2511.client.roots-006"},
			Does:    "Asks for the roots of a client that has declared none.",
			Accepts: "The error -32601.",
			Mend:    "Answer methods that you do not have with -32601.",
		},
		Needs: []string{needsSession}, In: []string{scenarioUndeclared},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.NotApplicable("the client has roots, or was not asked"))
			for _, a := range x.asked(rootsList) {
				if a.Answer == nil || !a.Answer.IsError() || declares(x.declaredFor(a.Question), "roots") {
					continue
				}
				w.Saw(a.Answer)
				if code := a.code(); code != -32601 {
					w.Fault(a.Answer, "/error/code", "the code is %d, want -32601", code)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "roots/result", Rows: []string{"26.client.roots-004", "26.schema-017", "2511.client.roots-022"},
			Does:    "Asks for the roots.",
			Accepts: "An array roots, in which each entry has a uri.",
			Mend:    `Answer {"roots":[{"uri":"file:///…"}]}.`,
		},
		Watch: eachResult(rootsList, func(w *probe.Watch, a *asked) {
			v, has := a.get("roots")
			if !has {
				return // the answer is none to this question, which is another rule
			}
			w.Saw(a.Answer)
			roots, ok := v.(list)
			if !ok {
				w.Fault(a.Answer, "/"+a.At+"/roots", "roots is no array")
			}
			for n, root := range roots {
				if uri, _ := peer.Get(root, "uri"); uri == nil {
					w.Fault(a.Answer, "/"+a.At+"/roots/"+strconv.Itoa(n), "the root has no uri")
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "roots/file-uri", Rows: []string{"26.client.roots-005", "2511.client.roots-005"},
			Does:    "Looks at the URIs of the roots.",
			Accepts: "URIs that begin with file://.",
			Mend:    "Offer folders only, as file:// URIs.",
		},
		Watch: eachRoot("uri", func(w *probe.Watch, a *asked, at string, v any) {
			if uri, ok := v.(string); !ok || !strings.HasPrefix(strings.ToLower(uri), "file://") {
				w.Fault(a.Answer, at, "the URI %s is not one of a file", peer.Encode(v))
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "roots/no-traversal", Rows: []string{"26.client.roots-008", "2511.client.roots-009"},
			Does:    "Looks for steps upwards in the URIs of the roots.",
			Accepts: "Paths without the segment .., however it is written.",
			Mend:    "Resolve the paths of roots before they are offered.",
		},
		Watch: eachRoot("uri", func(w *probe.Watch, a *asked, at string, v any) {
			uri, _ := v.(string)
			if plain, err := url.PathUnescape(uri); err == nil {
				uri = plain
			}
			if slices.Contains(strings.FieldsFunc(uri, func(r rune) bool { return r == '/' || r == '\\' }), "..") {
				w.Fault(a.Answer, at, "the URI has a step upwards")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "roots/name", Rows: []string{"2511.client.roots-023"},
			Does:    "Looks at the names of the roots.",
			Accepts: "A string, if there is a name.",
		},
		Watch: eachRoot("name", func(w *probe.Watch, a *asked, at string, v any) {
			if _, ok := v.(string); !ok {
				w.Fault(a.Answer, at, "the name is no string")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "roots/list-changed-declared", Rows: []string{"2511.client.roots-002"},
			Does:    "Compares notifications of changed roots with the capability.",
			Accepts: "Notifications of a client that has declared roots.listChanged.",
			Mend:    `Declare "roots": {"listChanged": true}.`,
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client announced no change of its roots"))
			for _, m := range x.Received(is(rootsChanged)) {
				w.Saw(m)
				if changes, _ := peer.Get(any(x.declaredFor(m)), "roots/listChanged"); changes != true {
					w.Fault(m, "", "the client announces a change, and has not declared roots.listChanged")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "roots/list-changed", Rows: []string{"2511.client.roots-003"},
			Does:    "Asks for the roots several times, and compares.",
			Accepts: "The same roots, or a notification between.",
			Mend:    "Send notifications/roots/list_changed when the roots change.",
		},
		Needs: []string{needsSession}, In: []string{scenarioAsks},
		Watch: watchRootsChange,
	},
}

// eachRoot looks at a member of each root that was given.
func eachRoot(member string, look func(w *probe.Watch, a *asked, at string, v any)) func(*X, *probe.Watch) {
	return eachResult(rootsList, func(w *probe.Watch, a *asked) {
		v, _ := a.get("roots")
		roots, _ := v.(list)
		for n, root := range roots {
			if v, ok := peer.Get(root, member); ok {
				w.Saw(a.Answer)
				look(w, a, "/"+a.At+"/roots/"+strconv.Itoa(n)+"/"+member, v)
			}
		}
	})
}

// watchRootsChange compares the answers of a session, of a client that has
// declared to announce changes.
func watchRootsChange(x *X, w *probe.Watch) {
	w.Nothing(probe.Unverified("the roots did not change"))
	last := map[int]*asked{}
	for _, a := range x.asked(rootsList) {
		if changes, _ := peer.Get(any(x.declaredFor(a.Question)), "roots/listChanged"); changes != true || a.result() == nil {
			continue
		}
		before := last[a.Answer.Conn]
		last[a.Answer.Conn] = a
		if before == nil || reflect.DeepEqual(before.result()["roots"], a.result()["roots"]) {
			continue
		}
		w.Saw(a.Answer)
		announced := slices.ContainsFunc(x.Received(is(rootsChanged)), func(m *peer.Message) bool {
			return m.Conn == a.Answer.Conn && m.Number > before.Question.Number
		})
		if !announced {
			w.FaultOf(probe.Of(before.Answer, a.Answer), "the roots have changed without a notification")
		}
	}
}
