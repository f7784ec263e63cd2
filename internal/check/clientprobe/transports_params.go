package clientprobe

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// Headers that mirror the arguments of tools.
var transportsParams = []Probe{
	paramProbe("headers/nested", []string{"26.basic.transports.http-055"}, "The value at the exact path of the property.",
		[]string{"Zone"}, func(v mirroredValue) string { return v.differs() }, "headers/params"),
	paramProbe("headers/params", []string{"26.basic.transports.http-046", "26.basic.transports.http-045", "26.basic.transports.http-068", "26.basic.transports.http-076"},
		"A header Mcp-Param-NAME for each value that the schema marks.",
		[]string{"Plain", "Spaced", "Foreign", "Marked", "Count", "Minus", "Yes", "No"}, func(v mirroredValue) string {
			if v.header == "" && !v.outdated {
				return "is missing"
			}
			return ""
		}),
	paramProbe("headers/value-forms", []string{"26.basic.transports.http-061"}, "Strings as they are, integers in decimal, true and false.",
		[]string{"Plain", "Count", "Minus", "Yes", "No"}, func(v mirroredValue) string {
			if v.header == "" {
				return ""
			}
			return v.differs()
		}),
	paramProbe(sentinelCase, []string{"26.basic.transports.http-064"}, "=?base64? in lower case, and ?=.",
		[]string{"Spaced", "Foreign", "Marked"}, func(v mirroredValue) string {
			if lower := strings.ToLower(v.header); strings.HasPrefix(lower, "=?base64?") && !strings.HasPrefix(v.header, "=?base64?") || strings.HasPrefix(lower, "=?b?") {
				return "has a marker in another form"
			}
			return ""
		}),
	paramProbe(encodesValues, []string{"26.basic.transports.http-062", "26.basic.transports.http-060"}, "=?base64?...?= for values with spaces around them, control characters, or characters that are not ASCII.",
		[]string{"Spaced", "Foreign"}, func(v mirroredValue) string {
			if v.header == "" || v.decoded() == v.want && isEncoded(v.header) {
				return ""
			}
			return "is not the value in Base64"
		}, sentinelCase),
	paramProbe("headers/looks-like-sentinel", []string{"26.basic.transports.http-067"}, "That a value that looks as if it were encoded is encoded.",
		[]string{"Marked"}, func(v mirroredValue) string {
			if v.header == "" || v.header != v.want && v.decoded() == v.want {
				return ""
			}
			return "is taken by the server for another value"
		}, sentinelCase),
	{
		Info: probe.Info{
			ID: "headers/absent", Rows: []string{"26.basic.transports.http-069", "26.basic.transports.http-079", "26.basic.transports.http-077"},
			Does: "Marks a parameter that is not needed, and looks for its header where it is not given.", Accepts: "No header.",
		},
		Needs: []string{needsHTTP, needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests("tools/call") {
				v, _ := m.Get("params/arguments/absent")
				if m.Text("params/name") != "mirror" || v != nil {
					continue
				}
				w.Saw(m)
				if _, ok := m.Exchange.Header["Mcp-Param-Absent"]; ok {
					w.Fault(m, "/params/arguments", "Mcp-Param-Absent is there, although its parameter has no value")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "headers/safe-integers", Rows: []string{"26.basic.transports.http-053"},
			Does: "Offers a tool that wants 9007199254740993 in a header.", Accepts: "That no such header is sent.",
		},
		Needs: []string{needsHTTP, needsStateless}, In: []string{"odd-names"},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests("tools/list") {
				w.Saw(m)
			}
			for _, m := range x.Requests("tools/call") {
				if v := m.Exchange.Header.Get("Mcp-Param-Huge"); v != "" {
					w.Fault(m, "/params/arguments/huge", "Mcp-Param-Huge is %s", v)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "headers/invalid-tools-rejected", Rows: []string{"26.basic.transports.http-056", "26.server.tools-036"},
			Does: "Offers tools whose x-mcp-header breaks the rules, among good ones.", Accepts: "That these tools are not called.",
		},
		Needs: []string{needsHTTP, needsStateless}, In: []string{"bad-headers"},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests("tools/call") {
				w.Saw(m)
				if strings.HasPrefix(m.Text("params/name"), "bad_") {
					w.Fault(m, "/params/name", "the tool was called, although its x-mcp-header is not valid")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "headers/valid-tools-stay", Rows: []string{"26.basic.transports.http-057"},
			Does: "Offers tools whose x-mcp-header breaks the rules, among good ones.", Accepts: "That the good ones can be called.",
		},
		Needs: []string{needsHTTP, needsStateless}, In: []string{"bad-headers"},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests("tools/call") {
				if !strings.HasPrefix(m.Text("params/name"), "bad_") {
					w.Saw(m)
				}
			}
			listed, calls := x.Marked("listed"), x.Base.Requests("tools/call")
			if listed != nil && len(x.Requests("tools/call")) == 0 && len(calls) > 0 && !x.ByHand {
				w.FaultOf(probe.Of(x.Log.ResponseTo(listed)), "the client called none of the tools, although it does so otherwise")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "headers/mismatch-retry", Rows: []string{"26.basic.transports.http-070"},
			Does: "Refuses the first call of a tool with -32020.", Accepts: "tools/list, and the call again.",
		},
		Needs: []string{needsHTTP, needsStateless}, In: []string{"header-mismatch"},
		Watch: func(x *X, w *probe.Watch) {
			refused := x.Marked("refused")
			if refused == nil {
				return
			}
			w.Saw(refused)
			listed, again := false, false
			for _, m := range x.After(refused, (*peer.Message).IsRequest) {
				listed = listed || m.Method == "tools/list" && !again
				again = again || m.Text("params/name") == "mirror"
			}
			if !x.ByHand && (!listed || !again) {
				w.Fault(refused, "", "the client did not list the tools anew and call again")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "headers/mismatch-new-id", Rows: []string{"26.basic.transports.http-071"},
			Does: "Refuses the first call of a tool with -32020.", Accepts: "That it is repeated with another ID.",
		},
		Needs: []string{needsHTTP, needsStateless}, In: []string{"header-mismatch"},
		Watch: func(x *X, w *probe.Watch) {
			refused := x.Marked("refused")
			if refused == nil || !slices.ContainsFunc(x.After(refused, is("tools/call")), func(m *peer.Message) bool { return m.Text("params/name") == "mirror" }) {
				w.Nothing(probe.Unverified("the client did not repeat the call"))
				return
			}
			x.sameID(w, "refused", "the call that was refused")
		},
	},
}

// mirroredValue is a value of the arguments and its header.
type mirroredValue struct {
	header, want string
	// outdated is set if the server had said that its tools changed, and the client
	// has not listed them since: then it need not know which values are marked.
	outdated bool
}

// decoded is what a server reads out of the header.
func (v mirroredValue) decoded() string {
	if !isEncoded(v.header) {
		return v.header
	}
	text, err := base64.StdEncoding.DecodeString(v.header[len("=?base64?") : len(v.header)-len("?=")])
	if err != nil {
		return v.header
	}
	return string(text)
}

func (v mirroredValue) differs() string {
	if v.decoded() != v.want {
		return "is not the value of the argument"
	}
	return ""
}

// paramProbe judges headers of the tool mirror by the arguments of its calls.
// fault says what is wrong with one, or "".
func paramProbe(id string, rows []string, accepts string, names []string, fault func(mirroredValue) string, after ...string) Probe {
	return Probe{
		Info: probe.Info{
			ID: id, Rows: rows, Accepts: accepts, After: after,
			Does: "Offers a tool whose parameters are marked with x-mcp-header, and compares headers and arguments of its calls.",
		},
		Needs: []string{needsHTTP, needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client did not call the tool mirror with these parameters"))
			for _, m := range x.Requests("tools/call") {
				if m.Text("params/name") != "mirror" {
					continue
				}
				for _, name := range names {
					path := "params/arguments/" + strings.ToLower(name)
					if name == "Zone" {
						path = "params/arguments/place/zone"
					}
					v, ok := m.Get(path)
					if !ok || v == nil {
						continue
					}
					w.Saw(m)
					if wrong := fault(mirroredValue{m.Exchange.Header.Get("Mcp-Param-" + name), textOf(v), x.toolsOutdated(m)}); wrong != "" {
						w.Fault(m, "/"+path, "Mcp-Param-%s %s", name, wrong)
					}
				}
			}
		},
	}
}

// toolsOutdated reports whether the server has said that its tools changed, and
// has not listed them since, before a request.
func (x *X) toolsOutdated(m *peer.Message) bool {
	outdated := false
	for _, sent := range x.Sent(func(sent *peer.Message) bool { return sent.Number < m.Number }) {
		if sent.Method == "notifications/tools/list_changed" {
			outdated = true
		} else if asked := x.Log.RequestOf(sent); sent.IsResult() && asked != nil && asked.Method == "tools/list" {
			outdated = false
		}
	}
	return outdated
}

// textOf is a value in the form that it has in a header.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		if n, err := strconv.ParseFloat(v.String(), 64); err == nil && n == float64(int64(n)) {
			return strconv.FormatInt(int64(n), 10)
		}
		return v.String()
	default:
		return string(peer.Encode(v))
	}
}
