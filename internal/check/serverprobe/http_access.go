package serverprobe

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// credentialsVerified is the probe that fails if credentials are not needed.
const credentialsVerified = "http/credentials-on-each-request"

var httpAccess = []Probe{
	{
		Info: probe.Info{
			ID: credentialsVerified, Rows: []string{
				"26.security.best-practices-016", "26.security.best-practices-017",
				"2511.security_best_practices-013", "2511.security_best_practices-014",
			},
			Does:    "Sends a request without the credentials that were given to the checker, within the same session if there is one.",
			Accepts: "A refusal.",
			Mend:    "Verify the credentials of every request: neither a session nor a handle stands for them.",
		},
		Run: func(x *X) probe.Finding {
			if x.Transport != needsStdio && len(x.credentials()) == 0 {
				return probe.NotApplicable("the server was judged without credentials")
			}
			return withoutCredentials(x)
		},
	},
	{
		Info: probe.Info{
			ID: "http/wants-credentials", Rows: []string{
				"26.basic.transports.http-006", "26.security.best-practices-023",
				"2511.basic.transports-017", "2511.security_best_practices-019",
			},
			Does:    "Sends a request without the credentials that were given to the checker.",
			Accepts: "A refusal.",
			Mend:    "Let the server want credentials.",
			After:   []string{credentialsVerified},
		},
		Run: withoutCredentials,
	},
	{
		Info: probe.Info{
			ID: "http/authorization-challenge", Rows: []string{"26.basic.index-037", "2511.basic-022"},
			Does:    "Looks at the responses with the status 401.",
			Accepts: "A header WWW-Authenticate, which says how to be authorized; the rest is for parley check auth.",
			Mend:    "Add WWW-Authenticate, with resource_metadata.",
		},
		Needs: []string{needsHTTP},
		Watch: func(x *X, w *probe.Watch) {
			for _, e := range x.Log.Exchanges() {
				if e.Status != http.StatusUnauthorized {
					continue
				}
				w.Saw(e.Message)
				if e.ResponseHeader.Get("WWW-Authenticate") == "" {
					w.FaultOf([]probe.Blame{{Message: e.Message}, {Exchange: e}}, "the response does not say how to be authorized")
				}
			}
			w.Nothing(probe.NotApplicable("the server asked for no authorization"))
		},
	},
	{
		Info: probe.Info{
			ID: "http/local-server-is-local", Rows: []string{"26.basic.transports.http-005", "2511.basic.transports-016"},
			Does:    "Looks for a server at a loopback address on the other addresses of this machine, at the same port.",
			Accepts: "No connection.",
			Mend:    "Bind a local server to 127.0.0.1, not to 0.0.0.0.",
		},
		Run: lookFromOutside,
	},
}

// credentials are the names of the headers that the user gave as credentials.
func (x *X) credentials() []string {
	if x.target.Site == nil {
		return nil
	}
	var names []string
	for name := range x.target.Site.Header {
		lower := strings.ToLower(name)
		if slices.ContainsFunc([]string{"auth", "cookie", "token", "key", "secret"}, func(part string) bool { return strings.Contains(lower, part) }) {
			names = append(names, name)
		}
	}
	return names
}

func withoutCredentials(x *X) probe.Finding {
	names := x.credentials()
	switch {
	case x.Transport == needsStdio:
		return probe.NotApplicable("the server is spoken to over stdio")
	case len(names) == 0:
		return probe.Unverified("the server was judged without credentials")
	}
	request := x.simplest()
	if method, params := x.named(); method != "" {
		request = x.Request(method, params)
	}
	out := peer.Frame(request)
	for _, name := range names {
		out = out.With(name)
	}
	r := x.Main.Do(x.Ctx, out)
	if s := r.Exchange; s != nil && s.Status != 0 && s.Status < 300 && (r.Response == nil || r.Response.IsResult()) {
		return probe.Fail(probe.OfReply(r), "a request without credentials was answered")
	}
	return wantRefusal(r)
}

func lookFromOutside(x *X) probe.Finding {
	if x.Transport == needsStdio {
		return probe.NotApplicable("the server is spoken to over stdio")
	}
	u, err := url.Parse(x.target.Site.URL)
	if err != nil || !isLoopback(u.Hostname()) {
		return probe.NotApplicable("the server does not run locally")
	}
	others := addresses()
	if len(others) == 0 {
		return probe.Unverified("this machine has no other address")
	}
	for _, ip := range others {
		there := *u
		there.Host = ip.String()
		if u.Port() != "" {
			there.Host = net.JoinHostPort(ip.String(), u.Port())
		} else if ip.To4() == nil {
			there.Host = "[" + ip.String() + "]"
		}
		out := &peer.Out{HTTPMethod: http.MethodOptions, URL: there.String()}
		for name := range x.target.Site.Header {
			out = out.With(name)
		}
		if r := x.Main.peek(out.With("Mcp-Session-Id")); r.Exchange != nil && r.Exchange.Status != 0 {
			return probe.Fail([]probe.Blame{{Exchange: r.Exchange}}, "the server also answers at %s", there.Host)
		}
	}
	return probe.Pass()
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// mostAddresses is how many addresses of this machine are looked at.
const mostAddresses = 4

// addresses are those of this machine that others could reach.
func addresses() []net.IP {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var ips []net.IP
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && len(ips) < mostAddresses {
			ips = append(ips, n.IP)
		}
	}
	return ips
}
