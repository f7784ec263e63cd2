package httpserve

import (
	"net/http"
	"slices"
	"strings"
)

// What a page of another origin may send and read, beyond what any page may.
const (
	corsMethods = "GET, POST, DELETE"
	corsExposed = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, DPoP-Nonce, Retry-After"
	corsMaxAge  = "7200" // seconds
	corsParam   = "mcp-param-"
)

var corsHeaders = []string{
	"Accept", "Authorization", "Content-Type", "DPoP", "Last-Event-ID",
	"Mcp-Method", "Mcp-Name", FieldVersion, "Mcp-Session-Id",
}

// lists reports whether an origin, in lower case, is among those that were allowed.
func (g *Guard) lists(origin string) bool {
	return slices.Contains(g.origins, "*") || slices.Contains(g.origins, origin)
}

// CORS lets pages of the allowed origins read the response to a request. If the request
// is the question of a browser whether such a page may send one, CORS answers it, and
// reports true. The server's own pages need none of that.
func (g *Guard) CORS(w http.ResponseWriter, r *http.Request) (done bool) {
	if len(g.origins) == 0 {
		return false
	}
	h := w.Header()
	if !slices.Contains(h["Vary"], "Origin") {
		h.Add("Vary", "Origin")
	}
	origins := r.Header["Origin"]
	if len(origins) != 1 || !g.lists(strings.ToLower(origins[0])) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origins[0])
	h.Set("Access-Control-Expose-Headers", corsExposed)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", strings.Join(append(params(r), corsHeaders...), ", "))
	h.Set("Access-Control-Max-Age", corsMaxAge)
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

// params returns the headers that mirror parameters of tools, of those that a page wants
// to send.
func params(r *http.Request) []string {
	var names []string
	for name := range strings.SplitSeq(strings.ToLower(strings.Join(r.Header["Access-Control-Request-Headers"], ",")), ",") {
		if name = strings.TrimSpace(name); strings.HasPrefix(name, corsParam) {
			names = append(names, name)
		}
	}
	return names
}
