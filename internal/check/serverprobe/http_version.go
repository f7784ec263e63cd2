package serverprobe

import (
	"net/http"
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
)

// unknownVersion is a version that no server implements.
const unknownVersion = "1999-01-01"

var httpVersion = []Probe{
	{
		Info: probe.Info{
			ID: "http/version-header-differs", Rows: []string{"26.basic.transports.http-033", "26.schema-024"},
			Does:    "Sends a request with one version in MCP-Protocol-Version and another one in _meta.",
			Accepts: "A refusal.",
			Mend:    "Compare MCP-Protocol-Version with the version in _meta, and refuse requests in which they differ.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			older := revision.Session(nil)[0].String()
			r := x.Main.Do(x.Ctx, peer.Frame(x.simplest()).With("MCP-Protocol-Version", older))
			if x.serves(len(revision.All())) {
				return wantRefusal(r) // it may take it for a request of a session, and miss that
			}
			return x.wantHeaderRefusal(r)
		},
	},
	{
		Info: probe.Info{
			ID: "http/unsupported-version-is-400", Rows: []string{"26.basic.transports.http-034"},
			Does:    "Sends a request in a version that does not exist, in the header and in _meta.",
			Accepts: "Status 400 with the error -32022.",
			Mend:    "Answer with status 400 where the version is not supported.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			return wantStatusOf(x.Do(x.ofVersion(unknownVersion)), mcp.CodeUnsupportedVersion, http.StatusBadRequest)
		},
	},
	{
		Info: probe.Info{
			ID: "http/unknown-method-is-404", Rows: []string{"26.basic.transports.http-035"},
			Does:    "Sends a request with a method that does not exist.",
			Accepts: "Status 404 with the error -32601.",
			Mend:    "Answer methods that you do not know with status 404 and the error -32601.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			return wantStatusOf(x.Call("parley/no-such-method", nil), -32601, http.StatusNotFound)
		},
	},
	{
		Info: probe.Info{
			ID: "http/missing-version-header", Rows: []string{"26.basic.transports.http-037"},
			Does:    "Sends a request without MCP-Protocol-Version to a server that has no session of 2025-03-26 or earlier.",
			Accepts: "A refusal.",
			Mend:    "Refuse requests without MCP-Protocol-Version.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			if x.serves(2) {
				return probe.NotApplicable("the server also serves clients that know no such header")
			}
			return x.wantHeaderRefusal(x.Main.Do(x.Ctx, peer.Frame(x.simplest()).With("MCP-Protocol-Version")))
		},
	},
	{
		Info: probe.Info{
			ID: "http/legacy-client-is-400", Rows: []string{"26.basic.versioning-021"},
			Does:    "Sends initialize, as older clients do, to a server without sessions.",
			Accepts: "Status 400.",
			Mend:    "Refuse requests without the headers of this revision with status 400.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			if x.serves(len(revision.All())) {
				return probe.NotApplicable("the server also has sessions")
			}
			return wantStatus(x.greeting, http.StatusBadRequest)
		},
	},
	{
		Info: probe.Info{
			ID: "http/missing-meta-is-400", Rows: []string{"26.basic.index-061"},
			Does:    "Sends a request without clientCapabilities in _meta.",
			Accepts: "Status 400 with the error -32602.",
			Mend:    "Answer with status 400 where a required member of _meta is missing.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			request := x.simplest()
			delete(metaOf(request), mcp.MetaClientCapabilities)
			return wantStatusOf(x.Do(request), -32602, http.StatusBadRequest)
		},
	},
	{
		Info: probe.Info{
			ID: "http/missing-capability-is-400", Rows: []string{"26.basic.index-067"},
			Does:    "Calls a tool that asks the client, and declares no capabilities.",
			Accepts: "Status 400 with the error -32021.",
			Mend:    "Answer with status 400 where the client lacks a capability.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			for _, found := range x.Results("tools/call") {
				if found.Response.Text("result/resultType") != "input_required" {
					continue
				}
				request := x.Request("tools/call", map[string]any{"name": found.Request.Text("params/name"), "arguments": found.Request.Object("params/arguments")})
				metaOf(request)[mcp.MetaClientCapabilities] = map[string]any{}
				return wantStatusOf(x.Do(request), mcp.CodeMissingCapability, http.StatusBadRequest)
			}
			return probe.Unverified("no tool that may be called asked the client")
		},
	},
	{
		Info: probe.Info{
			ID: "http/invalid-version-header", Rows: []string{"2511.basic.transports-074"},
			Does:    "Sends a request of a session with a version in MCP-Protocol-Version that does not exist.",
			Accepts: "Status 400.",
			Mend:    "Refuse versions in MCP-Protocol-Version that you do not support with status 400.",
		},
		Needs: []string{needsHTTP, needsSession},
		Run: func(x *X) probe.Finding {
			return wantStatus(x.Main.Do(x.Ctx, peer.Frame(x.simplest()).With("MCP-Protocol-Version", unknownVersion)), http.StatusBadRequest)
		},
	},
	{
		Info: probe.Info{
			ID: "http/version-header-left-out", Rows: []string{"2511.basic.transports-073"},
			Does:    "Sends a request of a session without MCP-Protocol-Version.",
			Accepts: "An answer: in the version of the session, or in 2025-03-26.",
			Mend:    "Take the version of the session, or 2025-03-26, where MCP-Protocol-Version is missing.",
		},
		Needs: []string{needsHTTP, needsSession},
		Run: func(x *X) probe.Finding {
			r := x.Main.Do(x.Ctx, peer.Frame(x.simplest()).With("MCP-Protocol-Version"))
			if f := wantRefusal(r); f.Outcome == verdict.Pass && r.Exchange.Status >= 400 {
				return probe.Fail(probe.OfReply(r), "it was refused with status %d", r.Exchange.Status)
			}
			return wantResult(r)
		},
	},
}

// ofVersion is a request in another version.
func (x *X) ofVersion(version string) map[string]any {
	request := x.simplest()
	metaOf(request)[mcp.MetaProtocolVersion] = version
	return request
}

// metaOf is the _meta of a request that the checker made, which has one.
func metaOf(request map[string]any) map[string]any {
	meta, _ := peer.Get(request, "params/_meta")
	object, _ := meta.(map[string]any)
	return object
}

// serves reports whether a stateless server also opens sessions, in one of the n
// oldest revisions. What it answers to initialize is kept.
func (x *X) serves(n int) bool {
	if x.greeting == nil {
		oldest := revision.All()[1].Revision.String()
		x.greeting = x.Main.Do(x.Ctx, peer.Frame(map[string]any{
			"jsonrpc": "2.0", "id": x.NextID(), "method": "initialize",
			"params": map[string]any{"protocolVersion": oldest, "capabilities": map[string]any{}, "clientInfo": clientInfo()},
		}).With("Mcp-Method"))
	}
	if x.greeting.Response == nil || !x.greeting.Response.IsResult() {
		return false
	}
	version := x.greeting.Response.Text("result/protocolVersion")
	return slices.ContainsFunc(revision.All()[:n], func(f *revision.Facts) bool { return f.Revision.String() == version })
}
