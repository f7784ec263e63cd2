package serverprobe

import (
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var serverLogging = []Probe{
	{
		Info: probe.Info{
			ID: "logging/declared", Rows: []string{"26.server.utilities.logging-003", "2511.server.utilities.logging-001"},
			Does:    "Looks for log messages.",
			Accepts: "None, unless logging is declared.",
			Mend:    "Declare the capability logging.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.logs() {
				w.Saw(m)
				if !x.Offer.Has("logging") && !x.guessed {
					w.Fault(m, "/method", "a log message came, and the server does not declare the capability logging")
				}
			}
			w.Nothing(probe.NotApplicable("the server sent no log messages"))
		},
	},
	{
		Info: probe.Info{
			ID: "logging/levels", Rows: []string{"26.server.utilities.logging-004", "2511.server.utilities.logging-002"},
			Does:    "Looks at the level of each log message.",
			Accepts: "debug, info, notice, warning, error, critical, alert or emergency.",
		},
		Needs: []string{"logging"},
		Watch: eachLog(func(w *probe.Watch, m *peer.Message) {
			if v, ok := m.Get("params/level"); ok && mcp.LoggingLevel(m.Text("params/level")).Severity() < 0 {
				w.Fault(m, "/params/level", "%s is no level", peer.Encode(v))
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "logging/members", Rows: []string{"26.server.utilities.logging-009", "2511.server.utilities.logging-021"},
			Does:    "Looks at the members of each log message.",
			Accepts: "level and data; logger, if it is there, a string.",
		},
		Needs: []string{"logging"},
		Watch: eachLog(func(w *probe.Watch, m *peer.Message) {
			for _, name := range []string{"level", "data"} {
				if !peerHas(m, "params/"+name) {
					w.Fault(m, "/params", "the log message has no %s", name)
				}
			}
			wantText(w, part{m, "/params", m.Object("params")}, "logger")
		}),
	},
	{
		Info: probe.Info{
			ID: "logging/on-request-only", Rows: []string{"26.server.utilities.logging-005"},
			Does:    "Calls tools without a logLevel, and looks for log messages.",
			Accepts: "None.",
		},
		Needs: []string{needsStateless, "logging", needsTool},
		Watch: watchUnwantedLogs,
	},
	{
		Info: probe.Info{
			ID: respectsLevel, Rows: []string{"26.server.utilities.logging-007", "2511.server.utilities.logging-004"},
			Does:    "Calls tools with the level debug, and those that log again with a higher one.",
			Accepts: "No messages below the level.",
			After:   []string{"logging/levels", "logging/set-level"},
		},
		Needs: []string{"logging", needsTool},
		Run:   runLevels,
	},
	{
		Info: probe.Info{
			ID: "logging/set-level", Rows: []string{"2511.server.utilities.logging-005"},
			Does:    "Sets a level.",
			Accepts: "A result without members, but for _meta.",
		},
		Needs: []string{needsSession, "logging"},
		Run: func(x *X) probe.Finding {
			r := x.Call(mcp.MethodSetLevel, map[string]any{"level": "info"})
			if r.Response == nil {
				return unanswered(r)
			}
			for name := range r.Response.Object("result") {
				if name != "_meta" {
					return probe.Fail([]probe.Blame{{Message: r.Sent}, {Message: r.Response, Pointer: "/result/" + name}}, "the result is not empty")
				}
			}
			return wantResult(r)
		},
	},
	{
		Info: probe.Info{
			ID: "logging/unknown-level", Rows: []string{"26.server.utilities.logging-010", "2511.server.utilities.logging-007", "26.schema-016"},
			Does:    "Asks for log messages of the level loud.",
			Accepts: "The error -32602.",
		},
		Needs: []string{"logging"},
		Run: func(x *X) probe.Finding {
			if !x.Stateless {
				return wantError(x.Call(mcp.MethodSetLevel, map[string]any{"level": "loud"}), -32602)
			}
			for _, l := range lists() {
				if x.Offer.Has(l.capability) {
					return wantError(x.Call(l.method, withLevel(nil, "loud")), -32602)
				}
			}
			return probe.NotApplicable("the server offers nothing that it could log about")
		},
	},
	{
		Info: probe.Info{
			ID: "logging/consistent-names", Rows: []string{"26.server.utilities.logging-014", "2511.server.utilities.logging-011"},
			Does:    "Compares the logger names of all log messages.",
			Accepts: "Names that differ in more than capitals, spaces, dots, hyphens and underscores.",
		},
		Needs: []string{"logging"},
		Watch: func(x *X, w *probe.Watch) {
			seen := map[string]*peer.Message{}
			for _, m := range x.logs() {
				name := m.Text("params/logger")
				if name == "" {
					continue
				}
				w.Saw(m)
				key := strings.NewReplacer(" ", "", "-", "", "_", "", ".", "").Replace(strings.ToLower(name))
				if first := seen[key]; first != nil && first.Text("params/logger") != name {
					w.FaultOf([]probe.Blame{{Message: m, Pointer: "/params/logger"}, {Message: first, Pointer: "/params/logger"}}, "one logger has two names: %q and %q", first.Text("params/logger"), name)
				}
				seen[key] = m
			}
			w.Nothing(probe.NotApplicable("no log message names its logger"))
		},
	},
	{
		Info: probe.Info{
			ID: "logging/no-secrets",
			Rows: []string{
				"26.server.utilities.logging-017", "26.server.utilities.logging-015",
				"2511.server.utilities.logging-014", "2511.server.utilities.logging-012",
			},
			Does:    "Searches log messages for what the checker sent as credentials, and for what has the form of tokens and private keys.",
			Accepts: "None.",
		},
		Needs: []string{"logging"},
		Watch: func(x *X, w *probe.Watch) {
			secrets := x.secrets()
			eachLog(func(w *probe.Watch, m *peer.Message) {
				if secretForms.Match(m.Raw) || slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(string(m.Raw), s) }) {
					w.Fault(m, "/params/data", "the log message holds a credential")
				}
			})(x, w)
		},
	},
	{
		Info: probe.Info{
			ID: "logging/no-internals", Rows: []string{"26.server.utilities.logging-019", "2511.server.utilities.logging-016"},
			Does:    "Searches log messages for stack traces.",
			Accepts: "None.",
		},
		Needs: []string{"logging"},
		Watch: eachLog(func(w *probe.Watch, m *peer.Message) {
			if traces.Match(m.Raw) {
				w.Fault(m, "/params/data", "the log message holds a stack trace")
			}
		}),
	},
}

var (
	// secretForms are private keys, JSON Web Tokens, and credentials after their
	// scheme.
	secretForms = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}|(?i:authorization\W{1,6}(bearer|basic|dpop) [A-Za-z0-9._~+/=-]{8,})`)
	// traces are the first lines of stack traces: of Go, Python, Java and C#,
	// JavaScript, Rust.
	traces = regexp.MustCompile(`goroutine \d+ \[|Traceback \(most recent call last\)|(\\n|\n)\s*(\\t)*at [\w.$<>]+\(.+:\d+\)|(\\n|\n)\s+at .+ \(?(file://)?/.+:\d+:\d+\)?|stack backtrace:`)
)

// logs are the log messages that came.
func (x *X) logs() []*peer.Message {
	return x.Received(func(m *peer.Message) bool { return m.IsNotification() && m.Method == mcp.NoteMessage })
}

func eachLog(look func(*probe.Watch, *peer.Message)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, m := range x.logs() {
			w.Saw(m)
			look(w, m)
		}
		w.Nothing(probe.Unverified("the server sent no log messages"))
	}
}

// secrets are the values that authorize the checker.
func (x *X) secrets() []string {
	var all []string
	if x.target.Site != nil {
		for _, values := range x.target.Site.Header {
			for _, v := range values {
				if _, after, ok := strings.Cut(v, " "); ok {
					v = after
				}
				all = append(all, v)
			}
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < 12 })
}
