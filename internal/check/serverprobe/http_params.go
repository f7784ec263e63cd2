package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var httpParams = []Probe{
	{
		Info: probe.Info{
			ID: "http/mismatched-param", Rows: []string{"26.basic.transports.http-074"},
			Does:    "Calls a tool with another value in a Mcp-Param header than in the arguments.",
			Accepts: "A refusal.",
			Mend:    "Compare the Mcp-Param headers of a tool with its arguments, and refuse calls in which they differ.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			m, ok := x.marked("string", "integer", "boolean")
			if !ok {
				return noMark(x)
			}
			other := map[string]string{"string": "parley-check-other", "integer": "424242", "boolean": "neither"}[m.kind]
			return x.wantHeaderRefusal(x.Main.Do(x.Ctx, peer.Frame(m.call(x, m.value())).With(m.header, other)))
		},
	},
	{
		Info: probe.Info{
			ID: "http/missing-param", Rows: []string{"26.basic.transports.http-080"},
			Does:    "Calls a tool with an argument whose Mcp-Param header is left out.",
			Accepts: "A refusal.",
			Mend:    "Refuse calls with an argument whose header is missing.",
			After:   []string{"http/mismatched-param"},
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			m, ok := x.marked("string", "integer", "boolean")
			if !ok {
				return noMark(x)
			}
			return x.wantHeaderRefusal(x.Main.Do(x.Ctx, peer.Frame(m.call(x, m.value())).With(m.header)))
		},
	},
	{
		Info: probe.Info{
			ID: "http/absent-param", Rows: []string{"26.basic.transports.http-078"},
			Does:    "Calls a tool without an argument that a header mirrors, and with null for it.",
			Accepts: "Anything but the error -32020.",
			Mend:    "Expect no header for an argument that is absent or null.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			m, ok := x.marked("string", "integer", "boolean")
			if !ok {
				return noMark(x)
			}
			f := wantNoMismatch(x.Do(m.call(x)))
			if f.Outcome != "pass" {
				return f
			}
			return wantNoMismatch(x.Do(m.call(x, nil)))
		},
	},
	{
		Info: probe.Info{
			ID: "http/param-numbers", Rows: []string{"26.basic.transports.http-084"},
			Does:    "Calls a tool with an integer n in the arguments and n.0 in its header.",
			Accepts: "Anything but the error -32020.",
			Mend:    "Compare integers as numbers.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			m, ok := x.marked("integer")
			if !ok {
				return noMark(x)
			}
			return wantNoMismatch(x.Main.Do(x.Ctx, peer.Frame(m.call(x, m.value())).With(m.header, string(peer.Encode(m.value()))+".0")))
		},
	},
	{
		Info: probe.Info{
			ID: "http/invalid-param", Rows: []string{"26.basic.transports.http-073"},
			Does:    "Calls a tool with a text that is not ASCII, as it is, in its Mcp-Param header.",
			Accepts: "A refusal.",
			Mend:    "Refuse values of headers with bytes other than visible ASCII, space and tab.",
			After:   []string{"http/mismatched-param"},
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			m, ok := x.marked("string")
			if !ok {
				return noMark(x)
			}
			r := x.Main.Do(x.Ctx, peer.Frame(m.call(x, "ché")).With(m.header, "ché"))
			if r.Response != nil && r.Response.IsResult() && r.Response.Object("result")["isError"] == true {
				return probe.Unverified("the tool itself does not take such a text")
			}
			if r.Response != nil && r.Response.IsError() {
				return wantError(r, mcp.CodeHeaderMismatch, -32602, -32600)
			}
			return wantRefusal(r)
		},
	},
}
