package clientprobe

import (
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/loopback"
)

// The scenarios in which a client can log in.
var loginScenarios = []string{"auth", "auth-tenant", "auth-openid"}

// errand is a request of a client to the authorization server, or for metadata.
type errand struct {
	*peer.Exchange

	url    *url.URL
	values url.Values // of the query, or of the form
}

// get returns a parameter, or "".
func (e *errand) get(name string) string { return e.values.Get(name) }

// blame points at the request.
func (e *errand) blame() []probe.Blame { return []probe.Blame{{Exchange: e.Exchange}} }

// errands are the requests at some paths; none means all but those to the
// endpoint.
func (x *X) errands(paths ...string) []*errand {
	var all []*errand
	for _, e := range x.Log.Exchanges() {
		u, err := url.Parse(e.URL)
		if err != nil || !e.Incoming || u.Path == pathMCP {
			continue
		}
		if len(paths) > 0 && !slices.Contains(paths, strings.TrimPrefix(u.Path, "/second")) {
			continue
		}
		found := &errand{e, u, u.Query()}
		if len(e.Body) > 0 {
			found.values = formOf(e)
		}
		all = append(all, found)
	}
	return all
}

// paths are those that were asked for, in order, without repetitions.
func (x *X) paths(with string) []string {
	var all []string
	for _, e := range x.errands() {
		if strings.Contains(e.url.Path, with) && !slices.Contains(all, e.url.Path) {
			all = append(all, e.url.Path)
		}
	}
	return all
}

// forbidden are requests that must not be made in a scenario: w is told of them,
// or that the rule was kept once the client had come as far as some path.
func (x *X) forbidden(w *probe.Watch, seen string, why string, paths ...string) {
	for _, e := range x.errands(paths...) {
		w.FaultOf(e.blame(), "%s", why)
		return
	}
	for _, e := range x.errands() {
		if strings.Contains(e.url.Path, seen) {
			w.SawExchange(e.Exchange)
		}
	}
}

// each calls look with the requests at some paths. What it returns is wrong with
// one, or "".
func (x *X) eachErrand(w *probe.Watch, look func(*errand) string, paths ...string) {
	for _, e := range x.errands(paths...) {
		if why := look(e); why != "" {
			w.FaultOf(e.blame(), "%s", why)
		} else {
			w.SawExchange(e.Exchange)
		}
	}
}

// scopesAsked are the scopes of an authorization request, but for offline_access,
// which a client may add.
func (e *errand) scopesAsked() []string {
	return slices.DeleteFunc(strings.Fields(e.get("scope")), func(s string) bool { return s == "offline_access" })
}

// isSafeRedirect reports whether a redirect URI is https or on the client's
// machine.
func isSafeRedirect(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http" && loopback.Is(u.Hostname()))
}
