package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// Probes that others name.
const (
	discovers    = "discover/implemented"
	namesServer  = "basic/results-name-server"
	discoverForm = "discover/versions-and-capabilities"
)

// discovery judges server/discover.
var discovery = []Probe{
	{
		Info: probe.Info{
			ID: discovers, Rows: []string{"26.server.discover-001", "26.basic.versioning-007", "26.server.discover-002"},
			Does:    "Calls server/discover with nothing but the standard _meta.",
			Accepts: "A result.",
			Mend:    "Implement server/discover.",
		},
		Needs: []string{needsStateless},
		Run:   func(x *X) probe.Finding { return wantResult(x.Call(mcp.MethodDiscover, nil)) },
	},
	{
		Info: probe.Info{
			ID: "discover/optional", Rows: []string{"26.basic.versioning-008", "26.server.discover-007"},
			Does:    "Begins a conversation with another request than server/discover.",
			Accepts: "The same kind of answer as later.",
		},
		Needs: []string{needsStateless},
		Run:   func(x *X) probe.Finding { return x.listFirst(false) },
	},
	ofDiscovery(discoverForm, []string{"26.server.discover-003"}, "supportedVersions and capabilities", "An array, and an object.",
		func(x *X, m *peer.Message, w *probe.Watch) {
			versions, _ := m.Get("result/supportedVersions")
			if _, ok := versions.([]any); !ok {
				w.Fault(m, "/result/supportedVersions", "there is no array of versions")
			}
			capabilities, _ := m.Get("result/capabilities")
			if _, ok := capabilities.(map[string]any); !ok {
				w.Fault(m, "/result/capabilities", "there is no object of capabilities")
			}
		}),
	ofDiscovery("discover/supported-versions", []string{"26.schema-008"}, "the versions that it names", "Strings, one of them the version that the server serves.",
		func(x *X, m *peer.Message, w *probe.Watch) {
			versions := m.List("result/supportedVersions")
			if v, ok := m.Get("result/supportedVersions"); !ok || versions == nil && v != nil {
				return
			}
			for _, v := range versions {
				if _, ok := v.(string); !ok {
					w.Fault(m, "/result/supportedVersions", "a version is not a string")
					return
				}
			}
			if !slices.Contains(versions, any(x.Revision)) {
				w.Fault(m, "/result/supportedVersions", "the version %s is not named, although this request of it was served", x.Revision)
			}
		}),
	{
		Info: probe.Info{
			ID: "discover/server-info", Rows: []string{"26.server.discover-005"},
			Does:    "Looks for the name of the server in the result of server/discover.",
			Accepts: "Its name and version, in _meta.",
			Mend:    "Put io.modelcontextprotocol/serverInfo into _meta.",
			After:   []string{namesServer},
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, a := range x.Results(mcp.MethodDiscover) {
				lookForServerInfo(a.Response, w)
			}
		},
	},
	{
		Info: probe.Info{
			ID: namesServer, Rows: []string{"26.basic.index-068"}, General: true,
			Does:    "Looks for the name of the server in the results of all methods but server/discover.",
			Accepts: "Its name and version, in _meta.",
			Mend:    "Put io.modelcontextprotocol/serverInfo into _meta.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.plainResults() {
				if x.Log.RequestOf(m).Method != mcp.MethodDiscover {
					lookForServerInfo(m, w)
				}
			}
		},
	},
}

// ofDiscovery is a probe that looks at the results of server/discover.
func ofDiscovery(id string, rows []string, what, accepts string, look func(*X, *peer.Message, *probe.Watch)) Probe {
	return Probe{
		Info:  probe.Info{ID: id, Rows: rows, Does: "Looks at the result of server/discover: " + what + ".", Accepts: accepts, After: []string{discovers}},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, a := range x.Results(mcp.MethodDiscover) {
				if isPlainResult(a.Response) {
					w.Saw(a.Response)
					look(x, a.Response, w)
				}
			}
		},
	}
}

// isPlainResult reports whether a message is a result whose form is not at
// issue: an object.
func isPlainResult(m *peer.Message) bool { return m.IsResult() && m.Object("result") != nil }

func lookForServerInfo(m *peer.Message, w *probe.Watch) {
	w.Saw(m)
	at := "result/_meta/" + pointer(mcp.MetaServerInfo)
	if m.Text(at+"/name") == "" || m.Text(at+"/version") == "" {
		w.Fault(m, "/result/_meta", "the result does not name the server and its version")
	}
}

// listFirst asks for a list in a conversation that begins with it; with initialize
// before, if wanted, in another conversation.
func (x *X) listFirst(afterInitialize bool) probe.Finding {
	method := x.listed()
	if method == "" {
		return probe.Unverified("the server offers no lists")
	}
	if afterInitialize && !x.greetsOld() {
		return probe.NotApplicable("the server serves stateless revisions only")
	}
	c, err := x.Open(nil)
	if err != nil {
		return unreachable(err)
	}
	defer c.Leave()
	r := c.Call(method, nil)
	if f := wantResult(r); r.Response == nil || !r.Response.IsError() {
		return f
	}
	// It may be the method that fails, and not its place.
	if later := x.Call(method, nil); later.Response == nil || later.Response.IsError() {
		return probe.Unverified("%s fails at any time", method)
	}
	return probe.Fail(probe.OfReply(r), "the request is refused as the first one of a conversation")
}

// listed is the method of a list that the server offers, or "".
func (x *X) listed() string {
	for _, ask := range [][2]string{{"tools", mcp.MethodListTools}, {"prompts", mcp.MethodListPrompts}, {"resources", mcp.MethodListResources}} {
		if x.Offer.Has(ask[0]) {
			return ask[1]
		}
	}
	return ""
}
