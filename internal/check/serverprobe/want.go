package serverprobe

import (
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// wantError is the finding for a message that is to be refused with one of some
// codes: a result, or another code, breaks the rule. If nothing came that says
// either, nothing was seen.
func wantError(r *peer.Reply, codes ...int) probe.Finding {
	switch {
	case r.Response == nil:
		return unanswered(r)
	case isBoth(r.Response):
		return ambiguous()
	case r.Response.IsResult():
		return probe.Fail(probe.OfReply(r), "it was answered with a result, not with the error %s", numbers(codes))
	}
	code, ok := r.Response.Code()
	if !ok {
		return probe.Unverified("the error has no code that is an integer").Explained(errorHasCode)
	}
	if !slices.Contains(codes, code) && envelope(code) {
		return probe.Unverified("the request was refused before it was looked at, with the error %d", code)
	}
	if !slices.Contains(codes, code) {
		return probe.Fail([]probe.Blame{{Message: r.Sent}, {Message: r.Response, Pointer: "/error/code"}}, "the error has the code %d, not %s", code, numbers(codes))
	}
	return probe.Pass(probe.OfReply(r)...)
}

// envelope reports whether an error speaks of what is around a request: its
// headers, the client's capabilities, the revision.
func envelope(code int) bool {
	return code == mcp.CodeHeaderMismatch || code == mcp.CodeMissingCapability || code == mcp.CodeUnsupportedVersion
}

// isBoth reports whether a response says that the request succeeded, and that it
// failed.
func isBoth(m *peer.Message) bool { return m.IsError() && m.Has("result") }

func ambiguous() probe.Finding {
	return probe.Unverified("the answer is a result and an error at once").Explained(notBoth)
}

// wantRefusal is the finding for a message that must not succeed, however that
// is said.
func wantRefusal(r *peer.Reply) probe.Finding {
	switch {
	case r.Response != nil && r.Response.IsResult():
		return probe.Fail(probe.OfReply(r), "it was answered with a result, as if it were right")
	case r.Response == nil && (r.Exchange == nil || r.Exchange.Status < 400):
		return unanswered(r)
	default:
		return probe.Pass(probe.OfReply(r)...)
	}
}

// wantResult is the finding for a message that must succeed.
func wantResult(r *peer.Reply) probe.Finding {
	switch {
	case r.Response == nil:
		return unanswered(r)
	case isBoth(r.Response):
		return ambiguous()
	case r.Response.IsError():
		return probe.Fail(probe.OfReply(r), "it was answered with an error")
	default:
		return probe.Pass(probe.OfReply(r)...)
	}
}

// wantStatus is the finding for a message whose HTTP response must have one of
// some statuses.
func wantStatus(r *peer.Reply, statuses ...int) probe.Finding {
	switch {
	case r.Exchange == nil:
		return probe.NotApplicable("it was not sent over HTTP")
	case r.Exchange.Status == 0:
		return unanswered(r)
	case !slices.Contains(statuses, r.Exchange.Status):
		return probe.Fail(probe.OfReply(r), "the response has the status %d, not %s", r.Exchange.Status, numbers(statuses))
	default:
		return probe.Pass(probe.OfReply(r)...)
	}
}

func numbers(all []int) string {
	var text strings.Builder
	for n, v := range all {
		switch {
		case n > 0 && n == len(all)-1:
			text.WriteString(" or ")
		case n > 0:
			text.WriteString(", ")
		}
		text.WriteString(string(peer.Encode(v)))
	}
	return text.String()
}
