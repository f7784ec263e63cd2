package authprobe

import (
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// The metadata of the endpoint.
var resourceProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "resource/found",
			Rows:    []string{"26.basic.authorization.discovery-005", "2511.basic.authorization-014", "2511.basic.authorization-009"},
			Does:    "Fetches the metadata that resource_metadata names, or that at the well-known places of the endpoint.",
			Accepts: "A document, at the place that the challenge names if it names one.",
			Mend:    "Serve the document at /.well-known/oauth-protected-resource followed by the path of the endpoint, and name it in WWW-Authenticate.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: findsResource,
	},
	{
		Info: probe.Info{
			ID:      "resource/document",
			Rows:    []string{"26.basic.authorization.index-008", "26.basic.authorization.discovery-001", "2511.basic.authorization-009"},
			Does:    "Reads the protected resource metadata by RFC 9728.",
			Accepts: "application/json; resource is the endpoint, or what it stands below; other members have their types; bearer_methods_supported has header if it is there.",
			Mend:    "Give resource the URL that clients use for the endpoint.",
			After:   []string{"resource/found"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsResource}, Run: readsResource,
	},
	{
		Info: probe.Info{
			ID:      "resource/authorization-servers",
			Rows:    []string{"26.basic.authorization.discovery-002", "2511.basic.authorization-013"},
			Does:    "Reads authorization_servers of the metadata.",
			Accepts: "An array of at least one URL.",
			Mend:    "Name the issuer of the tokens in authorization_servers.",
			After:   []string{"resource/found"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsResource}, Run: namesServers,
	},
	{
		Info: probe.Info{
			ID:      "resource/trailing-slash",
			Rows:    []string{"26.basic.authorization.index-037", "2511.basic.authorization-054"},
			Does:    "Looks at the end of resource in the metadata.",
			Accepts: "No slash, unless the URL of the endpoint has it too.",
			Mend:    "Leave the slash at the end of resource out.",
			After:   []string{"resource/document"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsResource}, Run: leavesSlash,
	},
}

// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements.
func findsResource(x *X) probe.Finding {
	for _, d := range x.Documents {
		if d.Status == 0 {
			return silent(d.Exchange)
		}
		if d.Named && !d.is() {
			return probe.Fail(Of(x.First, d.Exchange), "resource_metadata names %s, where there is no document (status %d)", d.URL, d.Status)
		}
	}
	if x.Resource == nil {
		var asked []*peer.Exchange
		for _, d := range x.Documents {
			asked = append(asked, d.Exchange)
		}
		return probe.Fail(Of(append([]*peer.Exchange{x.First}, asked...)...), "the challenge names no metadata, and there is none at the well-known places")
	}
	return probe.Pass(Of(x.Resource.Exchange)...)
}

// readsResource reads the document by RFC 9728, sections 2 and 3.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-location.
func readsResource(x *X) probe.Finding {
	d := x.Resource
	if kind := peer.MediaType(d.ResponseHeader); kind != "application/json" {
		return fault(d.Exchange, "the metadata has the content type %q instead of application/json", kind)
	}
	resource := text(d.Value, "resource")
	if why := x.unlike(resource); why != "" {
		return wrong(d, "/resource", "resource is %q, %s", resource, why)
	}
	if methods, ok := d.Value["bearer_methods_supported"]; ok {
		if _, list := methods.([]any); !list || !holds(texts(d.Value, "bearer_methods_supported"), "header") {
			return wrong(d, "/bearer_methods_supported", "bearer_methods_supported lacks header, which is how clients of MCP send tokens")
		}
	}
	for _, name := range []string{"scopes_supported", "resource_signing_alg_values_supported"} {
		if v, ok := d.Value[name]; ok && !isTexts(v) {
			return wrong(d, "/"+name, "%s is no array of strings", name)
		}
	}
	return probe.Pass(Of(d.Exchange)...)
}

// unlike says why a resource is not the endpoint or what it stands below.
func (x *X) unlike(resource string) string {
	u, err := url.Parse(resource)
	switch {
	case resource == "":
		return "and the member is required"
	case err != nil || u.Host == "":
		return "which is no URL"
	case strings.Contains(resource, "#"):
		return "which has a fragment"
	case !strings.EqualFold(u.Scheme, x.endpoint.Scheme) || !strings.EqualFold(u.Host, x.endpoint.Host):
		return "which is not where the endpoint is: clients refuse the document"
	}
	below, path := strings.TrimSuffix(u.EscapedPath(), "/")+"/", strings.TrimSuffix(x.endpoint.EscapedPath(), "/")+"/"
	if !strings.HasPrefix(path, below) {
		return "and the endpoint is " + x.endpoint.String() + ": clients refuse the document"
	}
	return ""
}

// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-location.
func namesServers(x *X) probe.Finding {
	v, ok := x.Resource.Value["authorization_servers"]
	servers := texts(x.Resource.Value, "authorization_servers")
	switch {
	case !ok:
		return wrong(x.Resource, "", "authorization_servers is missing")
	case !isTexts(v) || len(servers) == 0:
		return wrong(x.Resource, "/authorization_servers", "authorization_servers names no authorization server")
	}
	for _, s := range servers {
		if u, err := url.Parse(s); err != nil || u.Host == "" {
			return wrong(x.Resource, "/authorization_servers", "the authorization server %q is no URL", s)
		}
	}
	return probe.Pass(Of(x.Resource.Exchange)...)
}

// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func leavesSlash(x *X) probe.Finding {
	resource := text(x.Resource.Value, "resource")
	if strings.HasSuffix(resource, "/") && !strings.HasSuffix(x.endpoint.String(), "/") {
		return wrong(x.Resource, "/resource", "resource is %q, with a slash at its end that the endpoint does not have", resource)
	}
	return probe.Pass(Of(x.Resource.Exchange)...)
}

// wrong says that a member of a document breaks the rule.
func wrong(d *Document, pointer, format string, args ...any) probe.Finding {
	return probe.Fail([]probe.Blame{{Exchange: d.Exchange, Pointer: pointer}}, format, args...)
}

func isTexts(v any) bool {
	list, ok := v.([]any)
	for _, item := range list {
		if _, is := item.(string); !is {
			return false
		}
	}
	return ok
}

func holds(list []string, want string) bool {
	return slices.Contains(list, want)
}
