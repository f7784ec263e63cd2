package serverprobe

import (
	"net"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var elicitationProbes = []Probe{
	{
		Info: probe.Info{
			ID: "elicitation/has-message", Rows: []string{"26.client.elicitation-012", "2511.client.elicitation-011", "2506.client.elicitation-006"},
			Does:    "Looks at the message of each elicitation.",
			Accepts: "A string.",
			Mend:    "Say in message why the user is asked.",
		},
		Watch: watchQuestions(ofMethod(mcp.MethodElicit), func(w *probe.Watch, q question) {
			if _, ok := q.Params["message"].(string); !ok {
				w.Fault(q.Message, q.at("message"), "the elicitation has no message that is a string")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/mode", Rows: []string{"26.client.elicitation-013", "2511.client.elicitation-014"},
			Does:    "Looks at the mode of each elicitation.",
			Accepts: "form, url, or none, which means form.",
		},
		Watch: watchQuestions(ofMethod(mcp.MethodElicit), func(w *probe.Watch, q question) {
			if mode, given := q.Params["mode"]; given && mode != "form" && mode != "url" {
				w.Fault(q.Message, q.at("mode"), "the mode is neither form nor url")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/url-given", Rows: []string{"26.client.elicitation-020", "2511.client.elicitation-020"},
			Does:    "Looks at what each elicitation of mode url holds.",
			Accepts: "A url that is a string; in 2025-11-25 also an elicitationId that is one.",
		},
		Watch: func(x *X, w *probe.Watch) {
			watchQuestions(isAskedVisit, func(w *probe.Watch, q question) {
				if _, ok := q.Params["url"].(string); !ok {
					w.Fault(q.Message, q.at("url"), "the elicitation of mode url has no url that is a string")
				} else if _, ok := q.Params["elicitationId"].(string); !ok && x.Facts.ElicitationID {
					w.Fault(q.Message, q.at("elicitationId"), "the elicitation of mode url has no elicitationId that is a string")
				}
			})(x, w)
		},
	},
	{
		Info: probe.Info{
			ID: "elicitation/url-valid", Rows: []string{"26.client.elicitation-021", "2511.client.elicitation-021"},
			Does:    "Parses the url of each elicitation of mode url.",
			Accepts: "An absolute URL.",
		},
		Watch: watchURLs(func(w *probe.Watch, q question, text string, u *url.URL) {
			if u == nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" {
				w.Fault(q.Message, q.at("url"), "%q is no valid URL", text)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/url-https", Rows: []string{"26.client.elicitation-047", "2511.client.elicitation-058"},
			Does:    "Looks at the scheme of each URL that the user is sent to.",
			Accepts: "Anything but http, unless the host is this machine.",
			Mend:    "Serve the page over HTTPS.",
		},
		Watch: watchURLs(func(w *probe.Watch, q question, text string, u *url.URL) {
			if u != nil && u.Scheme == "http" && !isLocal(u.Hostname()) {
				w.Fault(q.Message, q.at("url"), "%q is not HTTPS", text)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/url-without-user", Rows: []string{"26.client.elicitation-044", "2511.client.elicitation-055"},
			Does:    "Looks for a name, a password or an e-mail address of the user in each URL that the user is sent to.",
			Accepts: "A URL without them.",
		},
		Watch: watchURLs(func(w *probe.Watch, q question, _ string, u *url.URL) {
			if u == nil {
				return
			}
			if u.User != nil {
				w.Fault(q.Message, q.at("url"), "the URL holds credentials in front of its host")
			}
			if name := findQuery(u, "password", "passwd", "email", "ssn"); name != "" {
				w.Fault(q.Message, q.at("url"), "the URL holds the user's %s", name)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/url-not-authenticated", Rows: []string{"26.client.elicitation-045", "2511.client.elicitation-056"},
			Does:    "Looks for tokens and keys in the query of each URL that the user is sent to.",
			Accepts: "A URL without access_token, id_token, api_key and the like.",
		},
		Watch: watchURLs(func(w *probe.Watch, q question, _ string, u *url.URL) {
			if u == nil {
				return
			}
			if name := findQuery(u, "access_token", "id_token", "refresh_token", "api_key", "apikey", "client_secret"); name != "" {
				w.Fault(q.Message, q.at("url"), "whoever has the URL has its %s", name)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/id-unique", Rows: []string{"2511.client.elicitation-022"},
			Does:    "Compares the elicitationId of all elicitations of mode url.",
			Accepts: "Another ID for each page that the user is sent to.",
		},
		Watch: func(x *X, w *probe.Watch) {
			pages := map[string]string{}
			watchQuestions(question.isVisit, func(w *probe.Watch, q question) {
				id, _ := q.Params["elicitationId"].(string)
				page, _ := q.Params["url"].(string)
				if old, ok := pages[id]; ok && id != "" && old != page {
					w.Fault(q.Message, q.at("elicitationId"), "the ID %q stood for another URL before", id)
				}
				pages[id] = page
			})(x, w)
		},
	},
}

// isAskedVisit leaves out those that an error lists, which have a rule of their
// own.
func isAskedVisit(q question) bool { return q.isVisit() && !q.Needed }

// watchURLs judges the URLs that the user is sent to. The URL is nil if it cannot
// be parsed.
func watchURLs(check func(w *probe.Watch, q question, text string, u *url.URL)) func(*X, *probe.Watch) {
	return watchQuestions(question.isVisit, func(w *probe.Watch, q question) {
		if text, ok := q.Params["url"].(string); ok {
			u, err := url.Parse(text)
			if err != nil {
				u = nil
			}
			check(w, q, text, u)
		}
	})
}

// isLocal reports whether a host is the machine that it is used on.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// findQuery returns the first of some names that has a value in the query.
func findQuery(u *url.URL, names ...string) string {
	for name, values := range u.Query() {
		for _, secret := range names {
			if strings.EqualFold(name, secret) && len(values) > 0 && values[0] != "" {
				return secret
			}
		}
	}
	return ""
}
