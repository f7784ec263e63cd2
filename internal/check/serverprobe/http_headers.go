package serverprobe

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// headersNeed is what the probes of mirrored headers need.
var headersNeed = []string{needsHTTP, needsStateless}

// headersCompared is the probe that fails if headers are not compared with the
// body at all.
const headersCompared = "http/mismatched-header"

// HeaderRefusalForm is the probe that looks at how requests were refused for their
// headers, which intermediaries may do in other ways.
const HeaderRefusalForm = "http/header-refusal-form"

var httpHeaders = []Probe{
	{
		Info: probe.Info{
			ID: headersCompared, Rows: []string{"26.basic.transports.http-083", "26.basic.transports.index-005"},
			Does:    "Sends requests whose Mcp-Method or Mcp-Name names something else than the body.",
			Accepts: "A refusal.",
			Mend:    "Compare Mcp-Method and Mcp-Name with the body, and refuse requests in which they differ.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			f := x.wantHeaderRefusal(x.Main.Do(x.Ctx, peer.Frame(x.simplest()).With("Mcp-Method", "tools/list")))
			method, params := x.named()
			if f.Outcome != "pass" || method == "" {
				return f
			}
			return x.wantHeaderRefusal(x.Main.Do(x.Ctx, peer.Frame(x.Request(method, params)).With("Mcp-Name", "parley-check-other")))
		},
	},
	{
		Info: probe.Info{
			ID: "http/missing-method-header", Rows: []string{"26.basic.transports.http-041"},
			Does:    "Sends a request without Mcp-Method.",
			Accepts: "A refusal.",
			Mend:    "Refuse requests without Mcp-Method.",
			After:   []string{headersCompared},
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			return x.wantHeaderRefusal(x.Main.Do(x.Ctx, peer.Frame(x.simplest()).With("Mcp-Method")))
		},
	},
	{
		Info: probe.Info{
			ID: "http/missing-name-header", Rows: []string{"26.basic.transports.http-042"},
			Does:    "Sends a request that succeeded before without Mcp-Name.",
			Accepts: "A refusal.",
			Mend:    "Refuse tools/call, prompts/get and resources/read without Mcp-Name.",
			After:   []string{headersCompared},
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			method, params := x.named()
			if method == "" {
				return noSubject()
			}
			return x.wantHeaderRefusal(x.Main.Do(x.Ctx, peer.Frame(x.Request(method, params)).With("Mcp-Name")))
		},
	},
	{
		Info: probe.Info{
			ID: "http/header-values-have-case", Rows: []string{"26.basic.transports.http-082"},
			Does:    "Sends a request with its method in capitals in Mcp-Method.",
			Accepts: "A refusal.",
			Mend:    "Compare the values of headers byte by byte.",
			After:   []string{headersCompared},
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			return x.wantHeaderRefusal(x.Main.Do(x.Ctx, peer.Frame(x.simplest()).With("Mcp-Method", "Server/Discover")))
		},
	},
	{
		Info: probe.Info{
			ID: "http/header-names-have-no-case", Rows: []string{"26.basic.transports.http-081"},
			Does:    "Sends a request with the names of its headers in other letters: mcp-method, MCP-PROTOCOL-VERSION.",
			Accepts: "A result.",
			Mend:    "Compare the names of headers without regard to case.",
			After:   []string{discovers},
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			out := peer.Frame(x.simplest()).With("Mcp-Method").With("Mcp-Protocol-Version")
			out.Header["mcp-method"], out.Header["MCP-PROTOCOL-VERSION"] = []string{"server/discover"}, []string{x.Revision}
			return wantResult(x.Main.Do(x.Ctx, out))
		},
	},
	{
		Info: probe.Info{
			ID: "http/encoded-name", Rows: []string{"26.basic.transports.http-086", "26.basic.transports.http-065"},
			Does:    "Sends a request that succeeded before with its name, or the value of a parameter, in Base64.",
			Accepts: "A result.",
			Mend:    "Decode values of the form =?base64?...?= before you compare them with the body.",
		},
		Needs: headersNeed,
		Run:   encodedHeaders,
	},
	{
		Info: probe.Info{
			ID: "http/capital-markers-are-text", Rows: []string{"26.basic.transports.http-066"},
			Does:    "Sends a request that succeeded before with Mcp-Name as =?BASE64?...?=.",
			Accepts: "A refusal: the markers of the encoding have small letters.",
			Mend:    "Take a value for Base64 only if it begins with =?base64?.",
			After:   []string{headersCompared},
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			method, params := x.named()
			if method == "" {
				return noSubject()
			}
			text := strings.Replace(encoded(subject(params)), "base64", "BASE64", 1)
			return x.wantHeaderRefusal(x.Main.Do(x.Ctx, peer.Frame(x.Request(method, params)).With("Mcp-Name", text)))
		},
	},
	{
		Info: probe.Info{
			ID: "http/invalid-characters", Rows: []string{"26.basic.transports.http-087"},
			Does:    "Calls a tool, that does not exist, whose name is not ASCII, with that name as it is in Mcp-Name.",
			Accepts: "The error -32020, or a refusal below JSON-RPC.",
			Mend:    "Refuse values of headers with bytes other than visible ASCII, space and tab.",
			After:   []string{headersCompared, HeaderRefusalForm},
		},
		Needs: append([]string{"tools"}, headersNeed...),
		Run: func(x *X) probe.Finding {
			request := x.Request("tools/call", map[string]any{"name": "parley-ché", "arguments": map[string]any{}})
			r := x.Main.Do(x.Ctx, peer.Frame(request).With("Mcp-Name", "parley-ché"))
			if r.Response == nil && r.Exchange != nil && r.Exchange.Status >= 400 {
				return probe.Pass(probe.OfReply(r)...)
			}
			return wantError(r, mcp.CodeHeaderMismatch)
		},
	},
	{
		Info: probe.Info{
			ID: HeaderRefusalForm, Rows: []string{"26.basic.transports.http-085", "26.basic.transports.http-075", "26.schema-012"},
			Does:    "Looks at how requests were refused whose headers were missing or wrong.",
			Accepts: "Status 400 with the error -32020.",
			Mend:    "Refuse requests whose headers do not match the body with status 400 and the error -32020.",
		},
		Needs: headersNeed,
		Watch: func(x *X, w *probe.Watch) {
			for _, r := range x.refusals {
				w.Saw(r.Sent)
				code, _ := 0, false
				if r.Response != nil {
					code, _ = r.Response.Code()
				}
				if r.Exchange.Status != http.StatusBadRequest || code != mcp.CodeHeaderMismatch {
					w.FaultOf(probe.OfReply(r), "it was refused with %s, not with status 400 and the error -32020", refusal(r))
				}
			}
		},
	},
}

func refusal(r *peer.Reply) string {
	if r.Response == nil {
		return fmt.Sprintf("status %d and no message", r.Exchange.Status)
	}
	code, _ := r.Response.Get("error/code")
	return fmt.Sprintf("status %d and the error %s", r.Exchange.Status, peer.Encode(code))
}

func encoded(s string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

func encodedHeaders(x *X) probe.Finding {
	method, params := x.named()
	if method == "" {
		return noSubject()
	}
	f := wantResult(x.Main.Do(x.Ctx, peer.Frame(x.Request(method, params)).With("Mcp-Name", encoded(subject(params)))))
	m, ok := x.marked("string")
	if f.Outcome != "pass" || !ok {
		return f
	}
	value, _ := m.value().(string)
	return wantNoMismatch(x.Main.Do(x.Ctx, peer.Frame(m.call(x, value)).With(m.header, encoded(value))))
}

// wantNoMismatch is the finding for a call whose headers are right: what becomes
// of it otherwise does not matter.
func wantNoMismatch(r *peer.Reply) probe.Finding {
	if r.Response == nil {
		return unanswered(r)
	}
	if code, _ := r.Response.Code(); code == mcp.CodeHeaderMismatch {
		return probe.Fail(probe.OfReply(r), "it was refused for its headers, which are right")
	}
	return probe.Pass(probe.OfReply(r)...)
}
