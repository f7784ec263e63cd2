package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
)

// Probes that others name.
const (
	keepsVersion = "lifecycle/version-asked-for"
	introduction = "lifecycle/introduction"
)

// lifecycle judge the handshake, and what follows from it.
var lifecycle = []Probe{
	{
		Info: probe.Info{
			ID: keepsVersion, Rows: []string{"2511.basic.lifecycle-010"},
			Does:    "Asks for the revision in initialize, several times.",
			Accepts: "A result with the same version.",
			Mend:    "Answer initialize with the version that was asked for, if you speak it.",
		},
		Greets: true, Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, a := range x.Answers(mcp.MethodInitialize) {
				if a.Request.Text("params/protocolVersion") != x.Revision || isBoth(a.Response) {
					continue
				}
				v, has := a.Response.Get("result/protocolVersion")
				switch {
				case a.Response.IsError() && x.refusal != nil && a.Request == x.Main.Hello.Sent:
					w.FaultOf(probe.Of(a.Request, a.Response), "the server claims this version elsewhere, and refuses it here")
				case a.Response.IsError() || !has:
				case v != x.Revision:
					w.FaultOf(probe.Of(a.Request, a.Response), "the server speaks this version, and answers with another one")
				default:
					w.Saw(a.Response)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: introduction, Rows: []string{"2511.basic.lifecycle-003"},
			Does:    "Looks at the answer to initialize.",
			Accepts: "A version, an object of capabilities, and the name and version of the server.",
			Mend:    "Answer initialize with protocolVersion, capabilities and serverInfo.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, a := range x.Results(mcp.MethodInitialize) {
				w.Saw(a.Response)
				for _, path := range []string{"result/protocolVersion", "result/serverInfo/name", "result/serverInfo/version"} {
					v, _ := a.Response.Get(path)
					if _, ok := v.(string); !ok {
						w.Fault(a.Response, "/"+path, "there is no string at %s", path)
					}
				}
				v, _ := a.Response.Get("result/capabilities")
				if _, ok := v.(map[string]any); !ok {
					w.Fault(a.Response, "/result/capabilities", "there are no capabilities")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/first-message", Rows: []string{"2511.basic.lifecycle-001"},
			Does:    "Looks at what the server sends before it answers initialize.",
			Accepts: "Nothing but pings and log messages.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			greeted := map[int]bool{}
			for _, m := range x.Received(nil) {
				asked := x.Log.RequestOf(m)
				switch {
				case asked != nil && asked.Method == mcp.MethodInitialize:
					if !greeted[m.Conn] {
						w.Saw(m)
					}
					greeted[m.Conn] = true
				case greeted[m.Conn], m.Method == mcp.MethodPing, m.Method == mcp.NoteMessage, m.Method == "":
				default:
					w.Fault(m, "/method", "the server sends this before it has answered initialize")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/no-requests-before-initialized", Rows: []string{"2511.basic.lifecycle-006"},
			Does:    "Makes a handshake without its last part, the notification initialized, and repeats a call during which the server asked the client.",
			Accepts: "No request of the server but ping.",
		},
		Needs: []string{needsSession},
		Run:   waitBeforeInitialized,
	},
	{
		Info: probe.Info{
			ID: "lifecycle/not-served-before-initialize", Rows: []string{"2511.basic.lifecycle-007"},
			Does:    "Asks for a list without a handshake.",
			Accepts: "An error.",
			Mend:    "Refuse requests other than ping until initialize has been answered.",
		},
		Needs: []string{needsSession},
		Run: func(x *X) probe.Finding {
			method := x.listed()
			if method == "" {
				return probe.Unverified("the server offers no lists")
			}
			if x.Transport == needsHTTP && x.Main.Session == "" {
				return probe.Unverified("the server has no session IDs, so it cannot tell who has made a handshake")
			}
			c, err := x.Open(&Opening{Silent: true})
			if err != nil {
				return unreachable(err)
			}
			defer c.Leave()
			return wantRefusal(c.Call(method, nil))
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/unknown-version", Rows: []string{"2511.basic.lifecycle-011", "2511.basic.lifecycle-031"},
			Does:    "Asks for the versions 1999-01-01 and 2099-01-01 in initialize.",
			Accepts: "A result with a version of the protocol; or the error -32602, which the page shows as well.",
			Mend:    "Answer with the newest version that you speak.",
		},
		Needs: []string{needsSession},
		Run: func(x *X) probe.Finding {
			replies, err := x.unknownVersions()
			if err != nil {
				return unreachable(err)
			}
			var seen []probe.Blame
			for _, r := range replies {
				if r.Response == nil {
					return unanswered(r)
				}
				if isBoth(r.Response) {
					return ambiguous()
				}
				code, _ := r.Response.Code()
				v, has := r.Response.Get("result/protocolVersion")
				version, _ := v.(string)
				switch {
				case r.Response.IsError() && code != codeInvalidParams:
					return probe.Fail(probe.OfReply(r), "an unknown version is answered with an error, not with a version that the server speaks")
				case r.Response.IsResult() && !has:
					return probe.Unverified("the answer has no version").Explained(introduction)
				case r.Response.IsResult() && factsOf(version) == nil:
					return probe.Fail(probe.OfReply(r), "the server answers with %q, which is no version of the protocol", version)
				}
				seen = append(seen, probe.OfReply(r)...)
			}
			return probe.Pass(seen...)
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/newest-version", Rows: []string{"2511.basic.lifecycle-012"},
			Does:    "Asks for the version 2099-01-01 in initialize, and compares the answer with the versions that the server speaks.",
			Accepts: "The newest of those with sessions.",
		},
		Needs: []string{needsSession},
		Run: func(x *X) probe.Finding {
			replies, err := x.unknownVersions()
			if err != nil {
				return unreachable(err)
			}
			r := replies[len(replies)-1]
			if r.Response == nil || !r.Response.IsResult() {
				return probe.Unverified("the server offers no version instead")
			}
			offered := factsOf(r.Response.Text("result/protocolVersion"))
			if offered == nil {
				return probe.Unverified("the server offers no version of the protocol").Explained("lifecycle/unknown-version")
			}
			for _, f := range revision.All() {
				if !f.Stateless && x.claims[f.Revision.String()] && age(f) < age(offered) {
					return probe.Fail(probe.OfReply(r), "the server speaks %s, which is newer", f.Revision)
				}
			}
			return probe.Pass(probe.OfReply(r)...)
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/version-is-kept", Rows: []string{"2511.basic.lifecycle-018", "2411.basic.lifecycle-001"},
			Does:    "Looks at the methods of all that the server sends.",
			Accepts: "None that the protocol has in other revisions only.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				row := mcp.MethodNamed(m.Method)
				switch {
				case row != nil && !x.Facts.Has(m.Method) && row.Extension == "":
					w.Fault(m, "/method", "the revision does not have %s", m.Method)
				case m.IsResponse(), row != nil:
					w.Saw(m)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/no-message-of-goodbye", Rows: []string{"2511.basic.lifecycle-034"},
			Does:    "Looks for messages that say that a session ends.",
			Accepts: "None: the transport says it.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				if slices.Contains([]string{"shutdown", "exit", "close", "notifications/shutdown", "notifications/exit", "notifications/close"}, m.Method) {
					w.Fault(m, "/method", "the protocol has no such message")
				} else {
					w.Saw(m)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/subscribe-is-declared", Rows: []string{"2511.architecture-003"},
			Does:    "Subscribes to a resource of a server that does not declare resources.subscribe.",
			Accepts: "An error.",
			Mend:    "Declare resources.subscribe.",
		},
		Needs: []string{needsSession, "resources"},
		Run: func(x *X) probe.Finding {
			if x.guessed {
				return undeclared()
			}
			if x.Offer.Has("resources/subscribe") {
				return probe.Pass(probe.Of(x.Greeting)...)
			}
			uri := "test://parley-check"
			for _, r := range x.Offer.Resources {
				if s, ok := r["uri"].(string); ok {
					uri = s
				}
			}
			c, err := x.Scratch()
			if err != nil {
				return unreachable(err)
			}
			return wantRefusal(c.Call(mcp.MethodSubscribe, map[string]any{"uri": uri}))
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/unknown-capabilities", Rows: []string{"2511.schema-003"},
			Does:    "Declares capabilities that do not exist.",
			Accepts: "The handshake succeeds.",
		},
		Needs: []string{needsSession},
		Run: func(x *X) probe.Finding {
			more := x.capabilities()
			more["parleyUnknown"] = map[string]any{"setting": true}
			more["experimental"] = map[string]any{"com.example/unknown": map[string]any{}}
			c, err := x.Open(&Opening{Silent: true, Capabilities: more})
			if err != nil {
				return unreachable(err)
			}
			defer c.Leave()
			return wantResult(c.Call(mcp.MethodInitialize, c.Introduction()))
		},
	},
}

// waitBeforeInitialized sees whether the server asks before it may.
func waitBeforeInitialized(x *X) probe.Finding {
	c, err := x.Open(&Opening{Silent: true, Answer: func(*peer.Message) *peer.Out { return nil }})
	if err != nil {
		return unreachable(err)
	}
	defer c.Leave()
	from := x.Log.Len()
	c.Hello = c.Call(mcp.MethodInitialize, c.Introduction())
	if c.Hello.Response == nil || !c.Hello.Response.IsResult() {
		return unanswered(c.Hello)
	}
	c.adoptSession()
	if asking := x.asking(); len(asking) > 0 {
		r := c.Begin(asking[0].Request.Method, asking[0].again())
		defer r.Stop()
	}
	c.Quiet(x.Ctx)
	for _, m := range x.Log.Since(from) {
		if !m.Sent && m.Conn == c.Number && isRequestOfServer(m) && m.Method != mcp.MethodPing {
			return probe.Fail(probe.Of(c.Hello.Response, m), "the server asks before the client has said that it is initialized")
		}
	}
	return probe.Pass(probe.Of(c.Hello.Response)...)
}

// unknownVersions asks for versions that do not exist, once for all probes.
func (x *X) unknownVersions() ([]*peer.Reply, error) {
	if x.strange != nil {
		return x.strange, nil
	}
	var all []*peer.Reply
	for _, version := range []string{"1999-01-01", "2099-01-01"} {
		c, err := x.Open(&Opening{Silent: true})
		if err != nil {
			return nil, err
		}
		params := c.Introduction()
		params["protocolVersion"] = version
		all = append(all, c.Call(mcp.MethodInitialize, params))
		c.Leave()
	}
	x.strange = all
	return all, nil
}

// factsOf are the facts of a version, or nil if there is none of that name.
func factsOf(version string) *revision.Facts {
	for _, f := range revision.All() {
		if f.Revision.String() == version {
			return f
		}
	}
	return nil
}

// age orders revisions: the newest is 0.
func age(f *revision.Facts) int {
	return len(revision.All()) - 1 - slices.Index(revision.All(), f)
}
