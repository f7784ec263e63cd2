package clientprobe

import (
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// basicOdd are rules about what a client must not mind, or must not use.
var basicOdd = []Probe{
	{
		Info: probe.Info{
			ID: "odd/reserved-meta-keys", Rows: []string{"26.basic.index-051", "2511.basic-033", "2511.schema-003"},
			Does:    "Sends odd values at keys of _meta, and capabilities and members that nobody knows.",
			Accepts: "That the client goes on.",
		},
		In: []string{"odd"},
		Watch: func(x *X, w *probe.Watch) {
			if first := x.Sent((*peer.Message).IsResult); len(first) > 0 {
				x.carriesOn(w, first[0], "members and values that it does not know")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "odd/no-result-type", Rows: []string{"26.basic.index-015", "26.changelog-006"},
			Does:    "Sends results without resultType, as servers of earlier revisions do, and as one of this revision should not.",
			Accepts: "That the client uses them. Who refuses them of a server of this revision is not accused: the schema owes it to servers of earlier ones.",
			Mend:    "Take a result without resultType as complete.",
		},
		In: append([]string{"no-result-type"}, legacyNames...),
		Watch: func(x *X, w *probe.Watch) {
			lists := x.Requests("tools/list")
			if len(lists) == 0 {
				return
			}
			listed := x.Log.ResponseTo(lists[0])
			if listed == nil || !listed.IsResult() {
				return
			}
			switch {
			case len(x.Requests("tools/call")) > 0:
				w.Saw(listed)
			case x.Scenario.Name == "no-result-type":
				w.Nothing(probe.Unverified("the client does not use a result without resultType of a server of this revision, which has to have it"))
			case len(x.Base.Requests("tools/call")) > 0 && !x.ByHand:
				w.Fault(listed, "", "the client called none of the tools in a list without resultType, although it does so otherwise")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "odd/unknown-result-type", Rows: []string{"26.basic.index-014"},
			Does:    "Answers tools/list with a result of an unknown type that names a tool and a next page.",
			Accepts: "That the client uses neither.",
			Mend:    "Take a result whose resultType you do not know as an error.",
		},
		In: []string{"unknown-result-type"},
		Watch: func(x *X, w *probe.Watch) {
			asked := x.Marked("weird")
			if asked == nil {
				return
			}
			for _, m := range x.After(asked, (*peer.Message).IsRequest) {
				if m.Text("params/name") == "bait" || m.Text("params/cursor") == "bait" {
					w.FaultOf(probe.Of(x.Log.ResponseTo(asked), m), "the client used a result of an unknown type")
				}
			}
			w.Saw(asked)
		},
	},
	{
		Info: probe.Info{
			ID: "odd/external-references", Rows: []string{"26.basic.index-046", "26.basic.index-047", "26.server.tools-061"},
			Does:    "Offers tools whose schemas refer to URLs, and waits for somebody to fetch them.",
			Accepts: "That nobody does.",
			Mend:    "Do not fetch what a $ref points to.",
		},
		In: []string{"references"},
		Watch: func(x *X, w *probe.Watch) {
			for _, e := range x.Exchanges() {
				if strings.Contains(e.URL, "/schemas/") {
					w.FaultOf([]probe.Blame{{Exchange: e}}, "the schema at %s was fetched", e.URL)
				}
			}
			for _, m := range x.Requests("tools/list") {
				w.Saw(m)
			}
		},
	},
	{
		Info: probe.Info{
			ID: "odd/undeclared-capabilities", Rows: []string{"26.architecture-003", "2511.basic.lifecycle-019", "2411.basic.lifecycle-002", "2511.basic.lifecycle-017", "2511.architecture-001", "2511.basic.lifecycle-032", "26.server.prompts-023", "2511.server.prompts-015"},
			Does:    "Declares tools and nothing else, and looks at what the client asks for.",
			Accepts: "No request that takes another capability.",
			Mend:    "Look at the server's capabilities before you use a feature.",
		},
		In: []string{fewCapabilities},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests() {
				area, _, _ := strings.Cut(m.Method, "/")
				switch area {
				case "tools":
					w.Saw(m)
				case "prompts", "resources", "completion", "logging":
					w.Fault(m, "/method", "the server declares no %s", area)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "odd/extensions-of-one-side", Rows: []string{"26.basic.versioning-011"},
			Does:    "Declares no extensions, and looks for methods of extensions.",
			Accepts: "None.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			x.extensions(func(m *peer.Message, _ string, _ any) { w.Saw(m) })
			for _, m := range x.Received(nil) {
				if row := methodRow(m); row != nil && row.Extension != "" && !x.declares(row.Extension) {
					w.Fault(m, "/method", "the method belongs to the extension %s, which the server does not declare", row.Extension)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "odd/removed-notifications", Rows: []string{"26.changelog-004"},
			Does:    "Looks for notifications that this revision has no longer.",
			Accepts: "Neither notifications/initialized nor notifications/roots/list_changed.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Log.Messages() {
				if m.Sent || m.Method == "" {
					continue
				}
				w.Saw(m)
				if m.Method == "notifications/initialized" || m.Method == "notifications/roots/list_changed" {
					w.Fault(m, "/method", "the revision has no %s", m.Method)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "odd/methods-of-revision", Rows: []string{"26.changelog-005", "26.architecture-005", "2511.basic.lifecycle-018", "2411.basic.lifecycle-001"},
			Does:    "Looks for requests with methods that only other revisions have.",
			Accepts: "None, once the revision is agreed on.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests() {
				w.Saw(m)
				row := methodRow(m)
				if row != nil && !row.Notification && row.Extension == "" && !x.Facts.Has(m.Method) && !row.FromServer {
					w.Fault(m, "/method", "the revision has no method %s", m.Method)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "odd/unsubscribe-follows-subscribe", Rows: []string{"2511.server.resources-010"},
			Does:    "Compares the URIs of unsubscribe with those of subscribe before.",
			Accepts: "URIs that were subscribed to.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			subscribed := map[string]bool{}
			for _, m := range x.Requests("resources/subscribe", "resources/unsubscribe") {
				uri := m.Text("params/uri")
				if m.Method == "resources/subscribe" {
					subscribed[uri] = true
					continue
				}
				w.Saw(m)
				if !subscribed[uri] {
					w.Fault(m, "/params/uri", "the client had not subscribed to %s", uri)
				}
			}
		},
	},
}

// iconProbes are rules about icons, for clients that fetch them.
var iconProbes = []Probe{
	iconProbe("icons/no-credentials", []string{"26.basic.index-081", "2511.basic-047"}, nil,
		"Requests without cookies and credentials.", func(_ *X, e *peer.Exchange) string {
			if e.Header.Get("Cookie")+e.Header.Get("Authorization") != "" {
				return "the icon was asked for with credentials"
			}
			return ""
		}),
	iconProbe("icons/no-other-origin-after-redirect", []string{"26.basic.index-079", "2511.basic-044"}, nil,
		"That redirects to other origins are not followed.", func(_ *X, e *peer.Exchange) string {
			if strings.HasSuffix(e.URL, "/icons/moved.png") {
				return "a redirect of an icon to another origin was followed"
			}
			return ""
		}),
	iconProbe("icons/unsafe-schemes", []string{"26.basic.index-077", "2511.basic-043", "26.basic.index-076", "2511.basic-042"}, nil,
		"That nothing is fetched from addresses such as ws:// and javascript:.", func(_ *X, e *peer.Exchange) string {
			if strings.HasSuffix(e.URL, "/icons/socket") || strings.HasSuffix(e.URL, "/icons/script") {
				return "an icon with an unsafe scheme was fetched"
			}
			return ""
		}),
	iconProbe("icons/same-origin", []string{"2511.basic-048", "26.basic.index-082", "26.schema-013"}, nil,
		"That icons of other origins are not fetched.", func(_ *X, e *peer.Exchange) string {
			if strings.HasSuffix(e.URL, "/icons/foreign.png") {
				return "an icon of another origin was fetched"
			}
			return ""
		}),
	iconProbe("icons/https", []string{"26.basic.index-078"}, []string{"icons/no-credentials"},
		"That icons with http:// are not fetched.", func(x *X, e *peer.Exchange) string {
			if strings.HasPrefix(x.Origin, "http:") && (strings.HasSuffix(e.URL, "/icons/plain.png") || strings.HasSuffix(e.URL, "/icons/redirected.png")) {
				return "an icon was fetched over http"
			}
			return ""
		}),
}

// iconProbe judges requests for icons. fault says what is wrong with one, or "".
func iconProbe(id string, rows, after []string, accepts string, fault func(*X, *peer.Exchange) string) Probe {
	return Probe{
		Info: probe.Info{
			ID: id, Rows: rows, Accepts: accepts, After: after,
			Does: "Offers icons at addresses of all kinds, and looks at what is fetched.",
		},
		In: []string{"icons"},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client fetched no icon"))
			for _, e := range x.Exchanges() {
				if !strings.Contains(e.URL, "/icons/") {
					continue
				}
				if wrong := fault(x, e); wrong != "" {
					w.FaultOf([]probe.Blame{{Exchange: e}}, "%s: %s", wrong, e.URL)
				} else {
					w.Saw(nil)
				}
			}
		},
	}
}
