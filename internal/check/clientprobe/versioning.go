package clientprobe

import (
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
)

// legacyNames are the scenarios of servers that know only sessions.
var legacyNames = []string{"legacy-32601", "legacy-32000", "legacy-32602", legacySilent, "legacy-empty"}

const (
	legacySilent = "legacy-silent"
	// longest is how long a client has to wait before it is taken for one whose
	// timeout is longer than the scenario, whoever ended it.
	longest = 10 * time.Second
)

const noFallback = "versioning/no-fallback-after-modern-error"

var versioning = []Probe{
	{
		Info: probe.Info{
			ID: noFallback, Rows: []string{"26.basic.versioning-014", "26.basic.transports.stdio-023", "26.basic.transports.http-092"},
			Does: "Answers the first request with -32022, which only servers of this kind know.", Accepts: "No initialize.",
		},
		Needs: []string{needsStateless}, In: []string{"unsupported-version"},
		Watch: func(x *X, w *probe.Watch) {
			refused := x.Marked("refused")
			if refused == nil {
				return
			}
			w.Saw(refused)
			for _, m := range x.Log.Messages() {
				if !m.Sent && m.Method == "initialize" {
					w.FaultOf(probe.Of(x.Log.ResponseTo(refused), m), "the client falls back to initialize")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "versioning/retries-with-supported", Rows: []string{"26.basic.versioning-006", "26.basic.transports.http-091"},
			Does: "Answers the first request with -32022 and the versions that the server speaks.", Accepts: "Requests in a version of these; or none, if the user is told.",
			After: []string{noFallback},
		},
		Needs: []string{needsStateless}, In: []string{"unsupported-version"},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client gave up, and may have told its user"))
			x.watchVersions(w, x.Marked("refused"))
		},
	},
	{
		Info: probe.Info{
			ID: "versioning/selects-mutual", Rows: []string{"26.basic.transports.stdio-022", "26.server.discover-008"},
			Does: "Lists versions that nobody knows among one that the client speaks.", Accepts: "Requests in that one.",
		},
		Needs: []string{needsStateless}, In: []string{"many-versions"},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests("server/discover") {
				if answer := x.Log.ResponseTo(m); answer != nil {
					x.watchVersions(w, answer)
					return
				}
			}
			w.Nothing(probe.Unverified("the client did not send server/discover"))
		},
	},
	{
		Info: probe.Info{
			ID: "versioning/falls-back", Rows: []string{"26.basic.versioning-015", "26.basic.transports.stdio-024", "26.basic.transports.http-093", "26.basic.transports.stdio-025"},
			Does:    "Answers the first request as servers that know only sessions do: with errors of several codes, with nothing, and not at all.",
			Accepts: "initialize, each time; or that the client still waits, as the page does not say how long is reasonable.",
			Mend:    "Take every answer but those that this revision defines for a sign of an older server.",
		},
		In: legacyNames,
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client speaks no revision with sessions, as far as was seen"))
			probed := x.Marked("probed")
			if probed == nil {
				return
			}
			if x.fellBack() {
				w.Saw(probed)
				return
			}
			if x.Scenario.Name == legacySilent && x.Ending.After > longest {
				w.Nothing(probe.Unverified("the client waited for an answer until its time or its patience was over"))
				return
			}
			for _, other := range x.All {
				if slices.Contains(legacyNames, other.Scenario.Name) && other.fellBack() && !x.ByHand {
					w.FaultOf(probe.Of(probed, x.Log.ResponseTo(probed)), "the client does not fall back to initialize, although it does so in the scenario %s", other.Scenario.Name)
					return
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "versioning/era-is-kept", Rows: []string{"26.basic.versioning-016"},
			Does: "Counts how often the client finds out that the server knows only sessions.", Accepts: "Once for each process, or origin.",
		},
		In: legacyNames,
		Watch: func(x *X, w *probe.Watch) {
			var hello *peer.Message
			for _, m := range x.Log.Messages() {
				switch {
				case m.Sent:
				case m.Method == "initialize" && hello == nil:
					hello = m
					w.Saw(m)
				case hello != nil && x.foreign(m) && m.IsRequest() && m.Conn == hello.Conn:
					w.FaultOf(probe.Of(hello, m), "the client tries a request without a session again")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "versioning/no-fallback-after-503", Rows: []string{"26.basic.versioning-025"},
			Does: "Answers the first request with status 503.", Accepts: "No initialize. Who sends it is not accused: the page also says that what is no modern error identifies a legacy server.",
		},
		In: []string{"unavailable"},
		Watch: func(x *X, w *probe.Watch) {
			refused := x.Marked("refused")
			if refused == nil {
				return
			}
			if x.fellBack() {
				w.Nothing(probe.Unverified("the client falls back to initialize after status 503, and the page can be read to allow that"))
				return
			}
			w.Saw(refused)
		},
	},
	{
		Info: probe.Info{
			ID: "versioning/discovers-first", Rows: []string{"26.basic.transports.stdio-020", "26.basic.versioning-019", "26.basic.transports.stdio-026", "26.server.discover-006"},
			Does: "Looks at the first message over stdio.", Accepts: "server/discover.",
		},
		Needs: []string{needsStdio, needsStateless}, In: []string{TheBase},
		Watch: func(x *X, w *probe.Watch) {
			if all := x.Log.Messages(); len(all) > 0 {
				w.Saw(all[0])
				if all[0].Method != "server/discover" {
					w.Fault(all[0], "/method", "the conversation does not begin with server/discover")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "versioning/discover-names-version", Rows: []string{"26.basic.transports.stdio-021"},
			Does: "Looks at the version that server/discover is sent in.", Accepts: "One without sessions.",
			After: []string{metaVersion},
		},
		Needs: []string{needsStdio, needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests("server/discover") {
				v := m.Text("params/_meta/" + pointer(mcp.MetaProtocolVersion))
				if v == "" {
					continue
				}
				w.Saw(m)
				if isOfSessions(v) {
					w.Fault(m, "/params/_meta/"+pointer(mcp.MetaProtocolVersion), "server/discover is sent in version %s, which has sessions", v)
				}
			}
		},
	},
}

func isOfSessions(version string) bool {
	return slices.ContainsFunc(revision.Session(nil), func(r mcp.Revision) bool { return r.String() == version })
}

// fellBack reports whether the client began a session.
func (x *X) fellBack() bool {
	return slices.ContainsFunc(x.Log.Messages(), func(m *peer.Message) bool { return !m.Sent && m.Method == "initialize" })
}

// watchVersions looks at the versions of the requests after a message: the
// server speaks only that of the stage.
func (x *X) watchVersions(w *probe.Watch, from *peer.Message) {
	at := "params/_meta/" + pointer(mcp.MetaProtocolVersion)
	for _, m := range x.After(from, (*peer.Message).IsRequest) {
		v := m.Text(at)
		if v == "" || strings.HasPrefix(m.Method, "notifications/") {
			continue
		}
		w.Saw(m)
		if v != x.Revision {
			w.Fault(m, "/"+at, "the request is in version %s, which the server does not speak", v)
		}
	}
}
