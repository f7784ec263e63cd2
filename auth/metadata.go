package auth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/dpop"
	"github.com/parley-mcp/parley/internal/wellknown"
	"github.com/parley-mcp/parley/internal/wire"
)

// metadata is the document of RFC 9728, section 2.
type metadata struct {
	Resource        string   `json:"resource"`
	Servers         []string `json:"authorization_servers"`
	Scopes          []string `json:"scopes_supported,omitempty"`
	Methods         []string `json:"bearer_methods_supported"`
	Name            string   `json:"resource_name,omitempty"`
	Documentation   string   `json:"resource_documentation,omitempty"`
	Policy          string   `json:"resource_policy_uri,omitempty"`
	Terms           string   `json:"resource_tos_uri,omitempty"`
	ProofAlgorithms []string `json:"dpop_signing_alg_values_supported,omitempty"`
	BoundTokensOnly bool     `json:"dpop_bound_access_tokens_required,omitempty"`
}

func newMetadata(o *Options) ([]byte, error) {
	m := &metadata{
		Resource: o.Resource, Servers: o.AuthorizationServers, Scopes: o.ScopesSupported, Methods: []string{"header"},
		Name: o.Name, Documentation: o.Documentation, Policy: o.Policy, Terms: o.Terms,
		BoundTokensOnly: o.DPoP == DPoPRequired,
	}
	if m.Scopes == nil {
		m.Scopes = o.Scopes
	}
	if o.DPoP != DPoPOff {
		m.ProofAlgorithms = dpop.Algorithms()
	}
	return wire.Marshal(m)
}

// metadataPath returns the path of the metadata of a resource. The slash of a
// bare origin does not count as a path.
func metadataPath(resource *url.URL) string {
	if resource.Path == "/" {
		return wellknown.Resource
	}
	return wellknown.Resource + resource.EscapedPath()
}

func metadataURL(resource *url.URL) string {
	return resource.Scheme + "://" + resource.Host + metadataPath(resource)
}

// MetadataURL returns the URL of the resource's metadata, which challenges
// name.
func (g *Guard) MetadataURL() string { return g.metadataURL }

// Metadata returns a handler that serves the metadata of the resource, which is
// public. Web pages of any origin may read it.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-location.
func (g *Guard) Metadata() http.Handler {
	return document(func(http.ResponseWriter, *http.Request) []byte { return g.metadata })
}

// document serves a public JSON document. get returns it, or has answered itself
// and returns nil.
func document(get func(http.ResponseWriter, *http.Request) []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			if doc := get(w, r); doc != nil {
				h.Set("Content-Type", "application/json")
				h.Set("Cache-Control", "public, max-age=3600")
				_, _ = w.Write(doc) // if the client is gone, nothing is lost
			}
		case http.MethodOptions:
			h.Set("Access-Control-Allow-Methods", "GET, HEAD")
			h.Set("Access-Control-Allow-Headers", "*") // clients send MCP-Protocol-Version here, too
			h.Set("Access-Control-Max-Age", "3600")
			w.WriteHeader(http.StatusNoContent)
		default:
			h.Set("Allow", "GET, HEAD, OPTIONS")
			http.Error(w, "the metadata can only be read", http.StatusMethodNotAllowed)
		}
	})
}

// Mount registers the metadata where clients look for it: at its well-known
// URI, and at the well-known URI of the whole origin; and for clients of 2025-03-26,
// IssuerMetadata at that of the origin's authorization server. The latter two are
// left out where the mux has a handler already, such as another Guard's. It panics
// when the resource's own well-known URI is taken. The mux must serve the origin's
// root: under a prefix, no client would look for the metadata. For another router, mount
// on an http.ServeMux of its own, and have the router send it everything below /.well-known/.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements.
func (g *Guard) Mount(mux *http.ServeMux) {
	own := metadataPath(g.resource)
	mux.Handle(pattern(own), g.Metadata())
	mountFree(mux, wellknown.Resource, g.Metadata())
	mountFree(mux, wellknown.OAuth, g.IssuerMetadata())
}

// mountFree registers a handler unless the mux has one for exactly this path.
func mountFree(mux *http.ServeMux, path string, h http.Handler) {
	if _, taken := mux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}}); !strings.HasSuffix(taken, path) {
		mux.Handle(path, h)
	}
}

// pattern returns the pattern that matches exactly this path.
func pattern(path string) string {
	if strings.HasSuffix(path, "/") {
		return path + "{$}"
	}
	return path
}
