package clientprobe

import (
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/check/probe"
)

// For which resource clients want tokens.
var authResource = []Probe{
	{
		Info: probe.Info{
			ID:      "auth/resource",
			Rows:    []string{"26.basic.authorization.index-032", "2511.basic.authorization-049", "26.basic.authorization.index-031", "2511.basic.authorization-048", "26.basic.authorization.security-003", "2511.basic.authorization-079", "26.basic.authorization.security-037", "2511.basic.authorization-110", "26.basic.authorization.index-038", "2511.basic.authorization-055"},
			Does:    "Looks for resource in authorization and token requests.",
			Accepts: "It is in each.",
			Mend:    "Send resource with every authorization and token request.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: sendsResource,
	},
	{
		Info: probe.Info{
			ID:      "auth/resource-value",
			Rows:    []string{"26.basic.authorization.index-033", "2511.basic.authorization-050"},
			Does:    "Compares resource with the endpoint.",
			Accepts: "The origin of the endpoint, and a path that it is below.",
			Mend:    "Name the endpoint that the token is for.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: namesEndpoint,
	},
	{
		Info: probe.Info{
			ID:      "auth/resource-canonical",
			Rows:    []string{"26.basic.authorization.index-034", "2511.basic.authorization-051"},
			Does:    "Looks at the form of resource.",
			Accepts: "An absolute URI without a fragment.",
			Mend:    "Leave the fragment out.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: isCanonical,
	},
	{
		Info: probe.Info{
			ID:      "auth/resource-specific",
			Rows:    []string{"26.basic.authorization.index-035", "2511.basic.authorization-052"},
			Does:    "Compares resource with the path of the endpoint.",
			Accepts: "The path is in it.",
			Mend:    "Give the most specific URI.",
			After:   []string{"auth/resource-value"},
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: isSpecific,
	},
	{
		Info: probe.Info{
			ID:      "auth/resource-slash",
			Rows:    []string{"26.basic.authorization.index-037", "2511.basic.authorization-054"},
			Does:    "Looks at the end of resource.",
			Accepts: "No slash that the endpoint does not have.",
			Mend:    "Leave the slash out.",
			After:   []string{"auth/resource-value"},
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: hasNoSlash,
	},
}

// Spec: 2026-07-28 basic/authorization#resource-parameter-implementation.
func sendsResource(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if e.get("resource") == "" {
			return "the request has no resource"
		}
		return ""
	}, pathAuthorize, pathToken)
}

// eachResource looks at the resource of requests that have one.
func (x *X) eachResource(w *probe.Watch, look func(u *url.URL) string) {
	x.eachErrand(w, func(e *errand) string {
		u, err := url.Parse(e.get("resource"))
		if e.get("resource") == "" {
			return ""
		}
		if err != nil {
			return ""
		}
		return look(u)
	}, pathAuthorize, pathToken)
}

// Spec: 2026-07-28 basic/authorization#resource-parameter-implementation.
func namesEndpoint(x *X, w *probe.Watch) {
	x.eachResource(w, func(u *url.URL) string {
		if !strings.EqualFold(u.Scheme+"://"+u.Host, x.Origin) || u.Path != "" && !strings.HasPrefix(pathMCP+"/", strings.TrimSuffix(u.Path, "/")+"/") {
			return "resource is " + u.String() + ", and the endpoint is " + x.Origin + pathMCP
		}
		return ""
	})
}

// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func isCanonical(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if r := e.get("resource"); strings.Contains(r, "#") || r != "" && !strings.Contains(r, "://") {
			return "resource is " + r + ", which is no absolute URI without a fragment"
		}
		return ""
	}, pathAuthorize, pathToken)
}

// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func isSpecific(x *X, w *probe.Watch) {
	x.eachResource(w, func(u *url.URL) string {
		if strings.TrimSuffix(u.Path, "/") != pathMCP {
			return "resource is " + u.String() + ", without the path of the endpoint"
		}
		return ""
	})
}

// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func hasNoSlash(x *X, w *probe.Watch) {
	x.eachResource(w, func(u *url.URL) string {
		if strings.HasSuffix(u.Path, "/") {
			return "resource is " + u.String() + ", with a slash at its end"
		}
		return ""
	})
}
