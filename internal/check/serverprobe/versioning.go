package serverprobe

import (
	"encoding/json"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
)

// refusesVersion is the probe that fails if an unknown version is not refused
// as it must be.
const refusesVersion = "versioning/unknown-version"

// versioning judges how stateless servers agree on versions and extensions.
var versioning = []Probe{
	{
		Info: probe.Info{
			ID: refusesVersion, Rows: []string{"26.basic.versioning-002", "26.schema-039"},
			Does:    "Sends a request of the version 1900-01-01.",
			Accepts: "The error -32022.",
		},
		Needs: []string{needsStateless},
		Run:   func(x *X) probe.Finding { return wantError(x.Do(x.ofVersion("1900-01-01")), codeUnsupportedVersion) },
	},
	ofRefusal("versioning/names-supported", []string{"26.basic.versioning-003"}, "supported", "The versions that the server speaks, as strings.",
		func(x *X, m *peer.Message, w *probe.Watch) {
			versions := m.List("error/data/supported")
			speaks := false
			for _, v := range versions {
				version, ok := v.(string)
				if !ok {
					w.Fault(m, "/error/data/supported", "a version is not a string")
					return
				}
				speaks = speaks || version == x.Revision
			}
			if !speaks {
				w.Fault(m, "/error/data", "the error does not list the versions that the server supports")
			}
		}),
	ofRefusal("versioning/repeats-requested", []string{"26.basic.versioning-004"}, "requested", "The version that was asked for.",
		func(x *X, m *peer.Message, w *probe.Watch) {
			if m.Text("error/data/requested") != versionOf(x.Log.RequestOf(m)) {
				w.Fault(m, "/error/data/requested", "the error does not repeat the version of the request")
			}
		}),
	{
		Info: probe.Info{
			ID: "versioning/known-version", Rows: []string{"26.basic.versioning-005"},
			Does:    "Sends a request of a version that exists, but that the server does not list.",
			Accepts: "The error -32022.",
			After:   []string{refusesVersion},
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			if len(x.claims) == 0 {
				return probe.Unverified("the server does not say which versions it speaks").Explained(discovers)
			}
			for _, f := range revision.All() {
				if !x.claims[f.Revision.String()] && f.Revision.String() != x.Revision {
					found := wantError(x.Do(x.ofVersion(f.Revision.String())), codeUnsupportedVersion)
					if found.Outcome == verdict.Fail && x.Transport == needsHTTP && x.serves(len(revision.All())) {
						return probe.Unverified("the server also has sessions, and may take the request for one of them")
					}
					return found
				}
			}
			return probe.NotApplicable("the server speaks all versions")
		},
	},
	{
		Info: probe.Info{
			ID: "versioning/extension-identifiers", Rows: []string{"26.basic.versioning-009"},
			Does:    "Looks at the names of the extensions that the server declares.",
			Accepts: "Names like those of _meta, with a prefix.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			x.eachExtension(w, func(m *peer.Message, name string, _ any) {
				if !strings.Contains(name, "/") || metaKeyFault(name) != "" {
					w.Fault(m, "/result/capabilities/extensions/"+pointer(name), "%q is no name with a prefix", name)
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "versioning/extension-settings", Rows: []string{"26.basic.versioning-010", "26.schema-030"},
			Does:    "Looks at the settings of the extensions that the server declares.",
			Accepts: "Objects.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			x.eachExtension(w, func(m *peer.Message, name string, settings any) {
				if _, ok := settings.(map[string]any); !ok {
					w.Fault(m, "/result/capabilities/extensions/"+pointer(name), "the settings of %s are not an object", name)
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "versioning/extension-of-one-side", Rows: []string{"26.basic.versioning-011"},
			Does:    "Declares no extensions, and looks at the types of all results; then declares one that nobody knows.",
			Accepts: "No type that an extension adds; the unknown extension changes nothing.",
			After:   []string{discovers},
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			for _, m := range x.Received((*peer.Message).IsResult) {
				if t := m.Text("result/resultType"); t == "task" {
					return probe.Fail(probe.Of(x.Log.RequestOf(m), m), "the result is of an extension that the client did not declare")
				}
			}
			m := x.Request(mcp.MethodDiscover, nil)
			params, _ := m["params"].(map[string]any)
			meta, _ := params["_meta"].(map[string]any)
			meta[mcp.MetaClientCapabilities] = map[string]any{"extensions": map[string]any{"com.example/parley-unknown": map[string]any{}}}
			return wantResult(x.Do(m))
		},
	},
	{
		Info: probe.Info{
			ID: "versioning/modern-request-is-stateless", Rows: []string{"26.basic.versioning-022", "26.basic.versioning-023"},
			Does:    "Opens a session of an earlier revision, and makes a stateless request: over HTTP of the same endpoint, otherwise of another process.",
			Accepts: "A result.",
			After:   []string{"discover/optional"},
		},
		Needs: []string{needsStateless},
		Run:   func(x *X) probe.Finding { return x.listFirst(true) },
	},
	{
		Info: probe.Info{
			ID: "versioning/initialize-names-versions", Rows: []string{"26.basic.versioning-018"},
			Does:    "Sends initialize of an earlier revision to a server that has no sessions.",
			Accepts: "An error whose text or data names a version that the server speaks.",
			Mend:    "Name the versions in the message of the error.",
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			r, err := x.oldGreeting()
			switch {
			case err != nil:
				return unreachable(err)
			case r.Response == nil:
				return unanswered(r)
			case r.Response.IsResult():
				return probe.NotApplicable("the server has sessions as well")
			case !strings.Contains(string(r.Response.Raw), x.Revision):
				return probe.Fail(probe.OfReply(r), "the error does not name the versions that the server speaks")
			default:
				return probe.Pass(probe.OfReply(r)...)
			}
		},
	},
	{
		Info: probe.Info{
			ID: "changelog/no-initialize", Rows: []string{"26.changelog-002"},
			Does:    "Sends initialize with the metadata of stateless requests, to a server that has no sessions.",
			Accepts: "The error -32601.",
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			if x.greetsOld() {
				return probe.NotApplicable("the server has sessions as well, which initialize opens")
			}
			return wantError(x.Call(mcp.MethodInitialize, map[string]any{
				"protocolVersion": x.Revision, "capabilities": map[string]any{}, "clientInfo": clientInfo(),
			}), codeMethodNotFound)
		},
	},
	{
		Info: probe.Info{
			ID: "changelog/removed-methods", Rows: []string{"26.changelog-003"},
			Does:    "Sends ping, logging/setLevel, resources/subscribe and resources/unsubscribe with the metadata of stateless requests.",
			Accepts: "The error -32601.",
			After:   []string{unknownMethod},
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			var seen []probe.Blame
			for _, m := range []struct {
				method string
				params map[string]any
			}{
				{mcp.MethodPing, nil},
				{mcp.MethodSetLevel, map[string]any{"level": "info"}},
				{mcp.MethodSubscribe, map[string]any{"uri": "test://parley"}},
				{mcp.MethodUnsubscribe, map[string]any{"uri": "test://parley"}},
			} {
				r := x.Call(m.method, m.params)
				if f := wantError(r, codeMethodNotFound); r.Response == nil || f.Outcome != "pass" {
					return f
				}
				seen = append(seen, probe.Of(r.Sent, r.Response)...)
			}
			return probe.Pass(seen...)
		},
	},
}

// ofRefusal is a probe that looks at errors with the code -32022.
func ofRefusal(id string, rows []string, member, accepts string, look func(*X, *peer.Message, *probe.Watch)) Probe {
	return Probe{
		Info: probe.Info{
			ID: id, Rows: rows, Does: "Looks at data." + member + " of errors with the code -32022.", Accepts: accepts, After: []string{refusesVersion},
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsError) {
				if code, _ := m.Code(); code == codeUnsupportedVersion && x.Log.RequestOf(m) != nil && versionOf(x.Log.RequestOf(m)) != "" {
					w.Saw(m)
					look(x, m, w)
				}
			}
		},
	}
}

// eachExtension calls look for the extensions that the server declares.
func (x *X) eachExtension(w *probe.Watch, look func(m *peer.Message, name string, settings any)) {
	for _, a := range x.Results(mcp.MethodDiscover) {
		for name, settings := range a.Response.Object("result/capabilities/extensions") {
			w.Saw(a.Response)
			look(a.Response, name, settings)
		}
	}
	w.Nothing(probe.NotApplicable("the server declares no extensions"))
}

// oldGreeting sends initialize as clients of the last revision with sessions do,
// once for all probes.
func (x *X) oldGreeting() (*peer.Reply, error) {
	if x.old != nil {
		return x.old, nil
	}
	c, err := x.Open(nil)
	if err != nil {
		return nil, err
	}
	defer c.Leave()
	out := peer.Frame(map[string]any{
		"jsonrpc": "2.0", "id": json.Number("1"), "method": mcp.MethodInitialize,
		"params": map[string]any{
			"protocolVersion": revision.Session(nil)[0].String(), "capabilities": map[string]any{}, "clientInfo": clientInfo(),
		},
	})
	for _, name := range []string{"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		out = out.With(name)
	}
	x.old = c.Do(x.Ctx, out)
	return x.old, nil
}

// greetsOld reports whether the server has sessions as well.
func (x *X) greetsOld() bool {
	r, err := x.oldGreeting()
	return err == nil && r.Response != nil && r.Response.IsResult()
}
