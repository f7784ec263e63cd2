package clientprobe

import (
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

const (
	encodesValues = "headers/encoding"
	sentinelCase  = "headers/sentinel"
	mirrorsName   = "headers/mcp-name"
	mirrorsURI    = "headers/mcp-name-of-resource"
)

// transportsHeaders are the rules about headers that say again what the body
// says.
var transportsHeaders = []Probe{
	{
		Info: probe.Info{
			ID: "headers/version", Rows: []string{"26.basic.transports.http-031", "26.basic.transports.http-010"},
			Does: "Looks for MCP-Protocol-Version on each request.", Accepts: "A version.",
		},
		Needs: []string{needsHTTP, needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.postedRequests() {
				w.Saw(m)
				if m.Exchange.Header.Get("MCP-Protocol-Version") == "" {
					w.Fault(m, "", "the request has no MCP-Protocol-Version")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "headers/version-equals-body", Rows: []string{"26.basic.transports.http-032"},
			Does: "Compares MCP-Protocol-Version with _meta.", Accepts: "The same version.",
			After: []string{metaVersion},
		},
		Needs: []string{needsHTTP, needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Posts() {
				body, header := m.Text("params/_meta/"+pointer(mcp.MetaProtocolVersion)), m.Exchange.Header.Get("MCP-Protocol-Version")
				if body == "" || header == "" {
					continue
				}
				w.Saw(m)
				if body != header {
					w.Fault(m, "/params/_meta/"+pointer(mcp.MetaProtocolVersion), "the header says %s, and the body %s", header, body)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "headers/mcp-method", Rows: []string{"26.basic.transports.http-038"},
			Does: "Compares Mcp-Method with the method of each request.", Accepts: "The same. Notifications are not looked at.",
		},
		Needs: []string{needsHTTP, needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.postedRequests() {
				w.Saw(m)
				if header := m.Exchange.Header.Get("Mcp-Method"); header != m.Method {
					w.Fault(m, "/method", "Mcp-Method is %q, and the method is %s", header, m.Method)
				}
			}
		},
	},
	nameProbe(mirrorsName, []string{"26.basic.transports.http-039"}, "params/name", "tools/call", "prompts/get"),
	nameProbe(mirrorsURI, []string{"26.basic.transports.http-040"}, "params/uri", "resources/read"),
	{
		Info: probe.Info{
			ID: "headers/mcp-name-encoded", Rows: []string{"26.basic.transports.http-043", "26.basic.transports.http-063"},
			Does: "Offers a resource whose URI is not plain ASCII, and looks at Mcp-Name.", Accepts: "=?base64?...?=.",
			After: []string{mirrorsURI},
		},
		Needs: []string{needsHTTP, needsStateless}, In: []string{"odd-names"},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests("resources/read") {
				header := m.Exchange.Header.Get("Mcp-Name")
				if isPlain(m.Text("params/uri")) || header == "" {
					continue
				}
				w.Saw(m)
				if !isEncoded(header) {
					w.Fault(m, "/params/uri", "Mcp-Name is not encoded, although the URI is not plain ASCII")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "headers/names-have-no-case", Rows: []string{"26.basic.transports.http-081"},
			Does:    "Answers with header names in capitals.",
			Accepts: "That the client goes on.",
			Mend:    "Look for headers without regard to the case of their names.",
		},
		Needs: []string{needsHTTP, needsStateless}, In: []string{"shouting"},
		Watch: func(x *X, w *probe.Watch) {
			x.carriesOn(w, x.firstAnswer(), "header names in capitals")
		},
	},
}

// postedRequests leaves notifications out.
//
// Spec: 2026-07-28 basic/transports/streamable-http#sending-messages: "header
// requirements for notification POSTs are not defined by this revision".
func (x *X) postedRequests() []*peer.Message {
	return slices.DeleteFunc(x.Posts(), func(m *peer.Message) bool { return !m.IsRequest() })
}

// nameProbe compares Mcp-Name with a member of the body.
func nameProbe(id string, rows []string, member string, methods ...string) Probe {
	return Probe{
		Info: probe.Info{
			ID: id, Rows: rows, Does: "Compares Mcp-Name with " + member + " in " + strings.Join(methods, " and ") + ".", Accepts: "The same, decoded.",
		},
		Needs: []string{needsHTTP, needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests(methods...) {
				w.Saw(m)
				if header := (mirroredValue{header: m.Exchange.Header.Get("Mcp-Name")}); header.decoded() != m.Text(member) {
					w.Fault(m, "/"+member, "Mcp-Name is %q", header.header)
				}
			}
		},
	}
}

// isEncoded reports whether a header has the form of an encoded value.
//
// Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
func isEncoded(header string) bool {
	return len(header) >= len("=?base64??=") && strings.HasPrefix(header, "=?base64?") && strings.HasSuffix(header, "?=")
}

// isPlain reports whether a value can go into a header as it is.
func isPlain(s string) bool {
	for _, b := range []byte(s) {
		if b < 0x20 || b >= 0x7f {
			return false
		}
	}
	return s == strings.TrimSpace(s)
}
