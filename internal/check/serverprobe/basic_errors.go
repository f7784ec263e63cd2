package serverprobe

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// Probes that others name.
const (
	errorHasCode  = "basic/error-code-is-integer" // fails if an error has no integer as its code
	errorIsWhole  = "basic/error-has-code-and-message"
	unknownMethod = "basic/unknown-method"
)

// basicErrors judge errors, and what is to be answered with one.
var basicErrors = []Probe{
	{
		Info: probe.Info{
			ID: unknownMethod, Rows: []string{"2511.basic-004", "26.basic.index-019"},
			Does:    "Sends a request with a method that does not exist.",
			Accepts: "The error -32601.",
			Mend:    "Answer methods that you do not know with the error -32601.",
		},
		Run: func(x *X) probe.Finding {
			return wantError(x.Call("parley/no-such-method", nil), codeMethodNotFound)
		},
	},
	{
		Info: probe.Info{
			ID: "basic/parse-error", Rows: []string{"2511.basic-005", "26.basic.index-019"},
			Does:    "Sends a line that is no JSON, and after it a request.",
			Accepts: "The error -32700, or an error status of HTTP; the request is answered.",
			Mend:    "Answer what can't be parsed with the error -32700, and go on.",
		},
		Run: sendGarbage,
	},
	{
		Info: probe.Info{
			ID: "basic/invalid-request", Rows: []string{"2511.basic-006", "26.basic.index-019"},
			Does:    "Sends a request whose method is a number.",
			Accepts: "The error -32600, or one of the other errors for what can't be read (-32700, -32602); nothing else.",
			Mend:    "Answer what is JSON but no request with the error -32600.",
		},
		Run: func(x *X) probe.Finding {
			return x.sendMangled(func(m map[string]any) { m["method"] = 7 }, codeInvalidRequest, codeParse, codeInvalidParams)
		},
	},
	{
		Info: probe.Info{
			ID: "basic/invalid-params", Rows: []string{"2511.basic-007", "26.basic.index-019"},
			Does:    "Calls a tool, reads a resource or gets a prompt without saying which.",
			Accepts: "The error -32602, or -32600.",
			Mend:    "Answer params that do not fit the method with the error -32602.",
			After:   []string{"tools/malformed-call"},
		},
		Run: sendNoName,
	},
	{
		Info: probe.Info{
			ID: errorIsWhole, Rows: []string{"26.basic.index-017", "2511.basic-017"},
			Does:    "Looks for a code and a message in each error.",
			Accepts: "An object with both; the message is a string.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsError) {
				if isBoth(m) {
					continue
				}
				w.Saw(m)
				_, hasCode := m.Get("error/code")
				message, _ := m.Get("error/message")
				if _, ok := message.(string); !ok || !hasCode {
					w.Fault(m, "/error", "the error lacks its code or its message")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: errorHasCode, Rows: []string{"26.basic.index-018", "2511.basic-018"},
			Does:    "Looks at the code of each error.",
			Accepts: "An integer.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsError) {
				if _, ok := m.Get("error/code"); !ok {
					continue
				}
				w.Saw(m)
				if _, ok := m.Code(); !ok {
					w.Fault(m, "/error/code", "the code of the error is not an integer")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/error-message-is-a-sentence", Rows: []string{"26.schema-010", "2511.schema-006"},
			Does:    "Looks at the messages of errors.",
			Accepts: "One line of at most 300 characters.",
			Mend:    "Put details into error.data.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsError) {
				text, ok := peer.Get(m.Value, "error/message")
				if _, isText := text.(string); !ok || !isText {
					continue
				}
				w.Saw(m)
				if s := m.Text("error/message"); s == "" || strings.Contains(strings.TrimSpace(s), "\n") || utf8.RuneCountInString(s) > 300 {
					w.Fault(m, "/error/message", "the message is empty, or no single concise sentence")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/error-without-id", Rows: []string{"26.schema-040"}, General: true,
			Does:    "Looks at the IDs of errors about messages that could not be read.",
			Accepts: "No member id; it is not null.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsError) {
				switch {
				case m.ID == nil:
					w.Saw(m)
				case string(m.ID) == "null" && !x.couldName(m):
					w.Fault(m, "/id", "the ID is null, where it is to be left out")
				}
			}
		},
	},
	reservedCode("basic/legacy-codes", []string{"26.basic.index-021", "26.basic.index-020"}, "codes from -32000 to -32019",
		func(code int) bool { return code <= -32000 && code >= -32019 && code != codeOldResourceNotFound }),
	reservedCode("basic/reserved-codes", []string{"26.basic.index-023"}, "codes from -32020 to -32099 that MCP does not define",
		func(code int) bool {
			return code <= -32020 && code >= -32099 && code != codeOldElicitURL && !slices.Contains([]int{codeHeaderMismatch, codeMissingCapability, codeUnsupportedVersion}, code)
		}),
	reservedCode("basic/code-of-resource-not-found", []string{"26.basic.index-025"}, "the code -32002, which earlier revisions had",
		func(code int) bool { return code == codeOldResourceNotFound }),
	reservedCode("basic/code-of-url-elicitation", []string{"26.basic.index-027"}, "the code -32042, which an earlier revision had",
		func(code int) bool { return code == codeOldElicitURL }),
	reservedCode("basic/own-codes", []string{"26.basic.index-029"}, "codes from -32768 to -32100 that JSON-RPC does not define",
		func(code int) bool {
			return code <= -32100 && code >= -32768 && code != codeParse && (code > codeInvalidRequest || code < codeInternal)
		}),
	{
		Info: probe.Info{
			ID: "basic/defined-codes", Rows: []string{"26.basic.index-024"}, General: true,
			Does:    "Compares the codes -32020, -32021 and -32022 with what was asked.",
			Accepts: "-32020 for HTTP headers, -32021 for a capability that the request did not declare, -32022 for a version that is not among those supported.",
		},
		Watch: watchDefinedCodes,
	},
}

// reservedCode is the probe for codes that are not to be used. It is general:
// where an error must have another code, the probe for that says so.
func reservedCode(id string, rows []string, what string, reserved func(code int) bool) Probe {
	return Probe{
		Info: probe.Info{
			ID: id, Rows: rows, General: true,
			Does: "Looks for " + what + ", among all errors.", Accepts: "None.",
			Mend: "Use a code of JSON-RPC, or one outside -32768 to -32000.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsError) {
				code, ok := m.Code()
				if !ok {
					continue
				}
				w.Saw(m)
				if reserved(code) {
					w.Fault(m, "/error/code", "the code %d is reserved", code)
				}
			}
		},
	}
}

// watchDefinedCodes looks for codes of MCP whose cause is not there.
func watchDefinedCodes(x *X, w *probe.Watch) {
	for _, m := range x.Received((*peer.Message).IsError) {
		asked := x.Log.RequestOf(m)
		code, _ := m.Code()
		if asked == nil || code > codeHeaderMismatch || code < codeUnsupportedVersion {
			continue
		}
		w.Saw(m)
		switch code {
		case codeHeaderMismatch:
			if x.Transport != needsHTTP {
				w.FaultOf(probe.Of(asked, m), "the code is of HTTP headers, of which there are none")
			}
		case codeMissingCapability:
			if missing := m.Object("error/data/requiredCapabilities"); len(missing) > 0 && declaresAll(asked, missing) {
				w.FaultOf(probe.Of(asked, m), "the request declares what is said to be missing")
			}
		case codeUnsupportedVersion:
			// Versions with sessions are not for requests like this one, and initialize
			// is to be refused with the versions that there are instead of it.
			if v := versionOf(asked); asked.Method != "initialize" && v == x.Revision && slices.Contains(m.List("error/data/supported"), any(v)) {
				w.FaultOf(probe.Of(asked, m), "the version of the request is among those supported")
			}
		}
	}
}

// sendMangled sends a request that is none, in a conversation of its own, and
// wants it refused with one of some codes.
func (x *X) sendMangled(mangle func(map[string]any), codes ...int) probe.Finding {
	c, err := x.Scratch()
	if err != nil {
		return unreachable(err)
	}
	m := x.harmless()
	mangle(m)
	r := c.Do(x.Ctx, peer.Frame(m))
	if r.Response == nil && r.Exchange != nil && r.Exchange.Status >= 400 {
		return probe.Pass(probe.OfReply(r)...)
	}
	if code, ok := 0, false; x.Transport == needsHTTP && x.Stateless && r.Response != nil {
		// The header for the method can't say what the body does.
		if code, ok = r.Response.Code(); ok && code == codeHeaderMismatch {
			return probe.Pass(probe.OfReply(r)...)
		}
	}
	return wantError(r, codes...)
}

func unreachable(err error) probe.Finding {
	if other := new(otherVersion); errors.As(err, &other) {
		return probe.Unverified("%v", err).Explained(keepsVersion)
	}
	return probe.Unverified("the server could not be reached again: %v", err).Explained(answersRequests)
}

// sendGarbage sends what is no JSON, and sees whether the server lives on.
func sendGarbage(x *X) probe.Finding {
	c, err := x.Scratch()
	if err != nil {
		return unreachable(err)
	}
	r := c.Do(x.Ctx, &peer.Out{Raw: []byte(`{"jsonrpc":"2.0","id":`)})
	if r.Exchange != nil && r.Exchange.Status >= 400 && r.Response == nil {
		return probe.Pass(probe.OfReply(r)...)
	}
	if r.Response != nil {
		return wantError(r, codeParse)
	}
	next := c.Do(x.Ctx, peer.Frame(x.harmless()))
	switch {
	case x.Stateless || next.Response == nil && !next.Closed:
		return unanswered(r)
	case next.Response == nil:
		return probe.Fail(probe.Of(r.Sent, next.Sent), "the server ended the conversation, where -32700 is the answer")
	default:
		return probe.Fail(probe.Of(r.Sent, next.Sent, next.Response), "no error came, although the server goes on")
	}
}

// sendNoName asks for something without saying for what. That can't be served,
// so it is safe.
func sendNoName(x *X) probe.Finding {
	for _, ask := range [][2]string{{"tools", "tools/call"}, {"resources", "resources/read"}, {"prompts", "prompts/get"}} {
		if !x.Offer.Has(ask[0]) {
			continue
		}
		codes := []int{codeInvalidParams, codeInvalidRequest}
		if x.Stateless && x.Transport == needsHTTP {
			codes = append(codes, codeHeaderMismatch) // the header with the name is missing as well
		}
		return wantError(x.Call(ask[1], map[string]any{}), codes...)
	}
	return probe.Unverified("the server offers nothing that has to be named")
}
